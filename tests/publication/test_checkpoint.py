"""Checkpoints: signed notes as others define them, with one text each."""

from __future__ import annotations

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from supm import PublicationError
from supm.publication.checkpoint import Checkpoint, SignedCheckpoint
from supm.publication.keys import SigningKey

SECRET = bytes(range(32))
KEY = SigningKey("log.example/releases", SECRET)
ROOT = hashlib.sha256(b"root").digest()
SIGNED = Checkpoint(name="log.example/releases", size=17, root=ROOT).signed(KEY)


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
    signed = Checkpoint(name="log.example/releases", size=size, root=root).signed(KEY)
    found = SignedCheckpoint.parse(signed.text)
    assert found == signed
    found.check(KEY.verifier)


def refused(text: str) -> bool:
    try:
        SignedCheckpoint.parse(text).check(KEY.verifier)
    except PublicationError:
        return True
    return False


def test_the_text_itself_is_not_refused() -> None:
    assert not refused(SIGNED.text)


@given(place=st.integers(0, len(SIGNED.text) - 1), new=st.characters())
def test_any_changed_character_is_refused(place: int, new: str) -> None:
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
        SIGNED.checkpoint.text,
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
        SIGNED.checkpoint.signed(other)
    with pytest.raises(PublicationError, match=r"not of other\.example"):
        SIGNED.check(other.verifier)


def test_another_key_of_the_log_did_not_sign_it() -> None:
    other = SigningKey("log.example/releases", bytes(32)).verifier
    with pytest.raises(PublicationError, match=f"not by {other.hash.hex()}"):
        SIGNED.check(other)


def test_a_signature_of_another_text_is_told() -> None:
    text = SIGNED.text.replace("\n17\n", "\n18\n")
    with pytest.raises(PublicationError, match="was altered"):
        SignedCheckpoint.parse(text).check(KEY.verifier)
