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
from supm.publication.signing import (
    Checkpoint,
    SignedCheckpoint,
    SigningKey,
    VerifierKey,
    check_log_name,
)

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
        check_log_name(name)


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


ROOT = hashlib.sha256(b"root").digest()
SIGNER = SigningKey("log.example/releases", SECRET)
SIGNED = Checkpoint(name="log.example/releases", size=17, root=ROOT).signed(SIGNER)


def test_the_text_is_a_signed_note_made_by_hand_from_its_definition() -> None:
    secret = Ed25519PrivateKey.from_private_bytes(SECRET)
    public = secret.public_key().public_bytes_raw()
    name = "log.example/releases"
    body = f"{name}\n17\n{base64.b64encode(ROOT).decode()}\n"
    key_hash = hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    signature = base64.b64encode(key_hash + secret.sign(body.encode())).decode()
    assert SIGNED.text == f"{body}\n— {name} {signature}\n"


@given(size=st.integers(0, (1 << 62) - 1), root=st.binary(min_size=32, max_size=32))
def test_a_checkpoint_is_read_as_it_was_written(size: int, root: bytes) -> None:
    signed = Checkpoint(name="log.example/releases", size=size, root=root).signed(SIGNER)
    found = SignedCheckpoint.parse(signed.text)
    assert found == signed
    found.check(SIGNER.verifier)


def refused(text: str) -> bool:
    try:
        SignedCheckpoint.parse(text).check(SIGNER.verifier)
    except PublicationError:
        return True
    return False


def test_the_text_itself_is_not_refused() -> None:
    assert not refused(SIGNED.text)


@given(place=st.integers(0, len(SIGNED.text) - 1), new=st.characters())
def test_any_changed_character_of_a_checkpoint_is_refused(place: int, new: str) -> None:
    changed = SIGNED.text[:place] + new + SIGNED.text[place + 1 :]
    assert refused(changed) == (changed != SIGNED.text)


@given(place=st.integers(0, len(SIGNED.text) - 1), bit=st.integers(0, 7))
def test_any_changed_bit_is_refused(place: int, bit: int) -> None:
    held = bytearray(SIGNED.text.encode())
    held[place] ^= 1 << bit
    assert refused(held.decode(errors="replace"))


@given(place=st.integers(0, len(SIGNED.text)), new=st.text(min_size=1, max_size=3))
def test_anything_inserted_is_refused(place: int, new: str) -> None:
    assert refused(SIGNED.text[:place] + new + SIGNED.text[place:])


@given(low=st.integers(0, len(SIGNED.text) - 1), count=st.integers(1, 20))
def test_anything_cut_out_is_refused(low: int, count: int) -> None:
    assert refused(SIGNED.text[:low] + SIGNED.text[low + count :])


LINES = SIGNED.text.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n" * 5,
        SIGNED.body,
        SIGNED.text.replace("\n", "\r\n"),
        SIGNED.text.replace("\n17\n", "\n017\n"),
        SIGNED.text.replace("\n17\n", "\n+17\n"),
        SIGNED.text.replace("\n17\n", "\n 17\n"),
        SIGNED.text.replace("\n17\n", "\n1_7\n"),
        SIGNED.text.replace("\n17\n", "\n-17\n"),
        SIGNED.text.replace("\n17\n", "\n1७\n"),
        SIGNED.text.replace("\n17\n", f"\n{1 << 62}\n"),
        SIGNED.text.replace("\n17\n", f"\n{'9' * 5000}\n"),
        SIGNED.text + LINES[4] + "\n",
        SIGNED.text + "\n",
        SIGNED.text * 100,
        SIGNED.text.replace("—", "-"),
        None,
        7,
        SIGNED.text.encode(),
    ],
)
def test_another_way_of_writing_is_refused(text: object) -> None:
    with pytest.raises(PublicationError, match="no signed checkpoint"):
        SignedCheckpoint.parse(text)


def test_spare_bits_of_base64_carry_nothing() -> None:
    """The last character of a root in base64 has two bits that mean nothing; they must be zero."""
    root = LINES[2]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    sibling = alphabet[alphabet.index(root[-2]) ^ 1]
    assert base64.b64decode(root[:-2] + sibling + "=") == ROOT
    with pytest.raises(PublicationError, match="no signed checkpoint"):
        SignedCheckpoint.parse(SIGNED.text.replace(root, root[:-2] + sibling + "="))


def test_a_key_signs_for_its_own_log_only() -> None:
    other = SigningKey("other.example", SECRET)
    with pytest.raises(PublicationError, match=r"the key is of the log other\.example"):
        SIGNED.signed(other)
    with pytest.raises(PublicationError, match=r"not of other\.example"):
        SIGNED.check(other.verifier)


def test_another_key_of_the_log_did_not_sign_it() -> None:
    other = SigningKey("log.example/releases", bytes(32)).verifier
    with pytest.raises(PublicationError, match=f"not by {other.hash.hex()}"):
        SIGNED.check(other)


def test_a_signature_of_another_text_is_told() -> None:
    text = SIGNED.text.replace("\n17\n", "\n18\n")
    with pytest.raises(PublicationError, match="was altered"):
        SignedCheckpoint.parse(text).check(SIGNER.verifier)
