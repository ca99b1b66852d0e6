"""Keys: written and read as they are, refused when damaged, and never shown."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from supm import ParameterError, PublicationError
from supm.publication.keys import SigningKey, VerifierKey, check_name

SECRET = bytes(range(32))
KEY = SigningKey("log.example", SECRET)
names = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="+"),
    min_size=1,
    max_size=200,
)


@given(name=names, secret=st.binary(min_size=32, max_size=32))
def test_a_public_key_is_read_as_it_was_written(name: str, secret: bytes) -> None:
    key = SigningKey(name, secret).verifier
    assert VerifierKey.parse(f" {key}\n") == key
    assert VerifierKey.parse(str(key)).public == key.public


def test_the_line_is_the_one_that_signed_notes_define() -> None:
    """Written by hand from its definition: name, first four bytes of a hash, type and key."""
    public = Ed25519PrivateKey.from_private_bytes(SECRET).public_key().public_bytes_raw()
    told = hashlib.sha256(b"log.example\n\x01" + public).digest()[:4]
    line = f"log.example+{told.hex()}+{base64.b64encode(b'%c' % 1 + public).decode()}"
    assert str(KEY.verifier) == line
    assert KEY.verifier.hash == told
    assert KEY.verifier.identity == hashlib.sha256(line.encode()).digest()


def test_the_published_example_of_a_verifier_key_is_read() -> None:
    """The example key of Go's package for signed notes."""
    line = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    assert str(VerifierKey.parse(line)) == line


@pytest.mark.parametrize(
    "name",
    ["", "a b", "a+b", "a\nb", "a\tb", "\x7f", "é", "x" * 201, "\ud800", None, 7, b"log", ["a"]],
)
def test_a_strange_name_is_refused(name: object) -> None:
    with pytest.raises(ParameterError, match="name must be a plain name"):
        check_name(name)


@pytest.mark.parametrize("public", [bytes(31), bytes(33), "0" * 32, None])
def test_a_public_key_has_32_bytes(public: object) -> None:
    with pytest.raises(ParameterError, match="public must be"):
        VerifierKey("log.example", public)  # type: ignore[arg-type]  # what a caller may do


LINE = str(KEY.verifier)
NAME, HASH, BODY = LINE.split("+", 2)
OTHER_TYPE = base64.b64encode(b"\x02" + KEY.verifier.public).decode()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "log.example",
        f"{NAME}+{HASH}",
        f"{NAME}+{HASH}+",
        f"{NAME}+{HASH}+{OTHER_TYPE}",
        f"{NAME}+{HASH}+{BODY[:-4]}",
        f"{NAME}+{HASH}+{BODY}AAAA",
        f"{NAME}+{HASH}+{BODY}=",
        f"{NAME}+{HASH.upper()}+{BODY}",
        f"{NAME}+{HASH[:4]} {HASH[4:]}+{BODY}",
        f"{NAME}+{HASH}00+{BODY}",
        f"{NAME}+00000000+{BODY}",
        f"other.example+{HASH}+{BODY}",
        f"a b+{HASH}+{BODY}",
        f"+{HASH}+{BODY}",
        f"{NAME}+{HASH}+{BODY}\n{LINE}",
        f"{NAME}+{HASH}+\ud800",
        None,
        7,
        [LINE],
    ],
)
def test_another_text_is_no_public_key(line: object) -> None:
    with pytest.raises(PublicationError, match="public key"):
        VerifierKey.parse(line)


@given(place=st.integers(0, len(LINE) - 1), new=st.characters())
def test_any_changed_character_is_refused(place: int, new: str) -> None:
    changed = LINE[:place] + new + LINE[place + 1 :]
    if changed.strip() != LINE:
        with pytest.raises(PublicationError):
            VerifierKey.parse(changed)


def test_a_signature_is_of_one_content_and_one_key() -> None:
    signature = KEY.sign(b"content")
    assert KEY.verifier.accepts(signature, b"content")
    assert not KEY.verifier.accepts(signature, b"Content")
    assert not KEY.verifier.accepts(signature[:-1], b"content")
    assert not KEY.verifier.accepts(b"", b"content")
    assert not SigningKey("log.example", bytes(32)).verifier.accepts(signature, b"content")


def test_a_new_key_is_for_its_owner_alone_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    made = SigningKey.made("log.example", path)
    assert path.stat().st_mode & 0o777 == 0o600
    held = path.read_bytes()
    assert SigningKey.read(path).verifier == made.verifier
    with pytest.raises(PublicationError, match="never overwritten"):
        SigningKey.made("log.example", path)
    assert path.read_bytes() == held


def test_keys_are_drawn_anew(tmp_path: Path) -> None:
    made = {SigningKey.made("log.example", tmp_path / name).verifier for name in "abc"}
    assert len(made) == 3


def test_a_bad_name_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        SigningKey.made("a b", tmp_path / "log.key")
    assert not (tmp_path / "log.key").exists()


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    SigningKey.made("log.example", path)
    for mode in (0o640, 0o604, 0o660):
        path.chmod(mode)
        with pytest.raises(PublicationError, match="chmod 600"):
            SigningKey.read(path)


def write(path: Path, text: str) -> Path:
    path.touch(0o600)
    path.write_text(text, errors="surrogatepass")
    return path


@pytest.mark.parametrize("text", ["", "\n", LINE, "PRIVATE+KEY+", "PRIVATE+KEY+a+b+c", "\x00"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PublicationError, match="signing key"):
        SigningKey.read(write(tmp_path / "log.key", text))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.key", "")
    path.write_bytes(os.urandom(100))
    with pytest.raises(PublicationError, match="no signing key"):
        SigningKey.read(path)


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    key = SigningKey.made("log.example", path)
    held = path.read_text().strip()
    secret = held.split("+", 4)[4]
    assert secret not in repr(key) + str(key) + str(vars(key))
    other_type = base64.b64encode(b"\x02" + base64.b64decode(secret)[1:]).decode()
    damaged = (held[:-1], held + "A", held.replace("log.ex", "gol.ex"))
    for text in (*damaged, held.replace(secret, other_type)):
        with pytest.raises(PublicationError) as error:
            SigningKey.read(write(path, text))
        assert secret[4:-4] not in f"{error.value!r}{error.value.__cause__}"
