"""Keys between two parties, the masks made of them, and shares of a secret, of which any t open it.

A party makes one key pair for envelopes and one for the masks of each round, so that opening a key
of one round says nothing about any other. Whatever is derived from an agreed secret is bound to the
study, the round, the two public keys and the purpose.

Each pair of parties shares a mask, added by the one and taken away by the other, which vanishes in
the sum. All arithmetic is modulo 2^64, in which a masked number is uniform whatever it hides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from supm._errors import FederationError, ParameterError
from supm._json import canonical
from supm._random import RandomSource
from supm._validation import Integers

KEY_BYTES: Final = 32
"""How long a secret, a public key and a derived key are."""

SETUP: Final = -1
"""The round of what is agreed before the first."""

_NONCE_BYTES: Final = 12
_ANY_SECRET: Final = bytes(range(KEY_BYTES))
_ZEROS: Final = bytes(1 << 19)


@dataclass(frozen=True, kw_only=True)
class Binding:
    """What a derived key is for; with another binding it is another key.

    Parameters
    ----------
    study : str
        The hash of the study.
    round : int
        The round, or `SETUP`.
    purpose : str
        "mask", "self", "envelope", "confirm", ….
    view : str, default ""
        The hash of what the party was shown before; two parties who were shown different things
        derive different keys.
    """

    study: str
    round: int
    purpose: str
    view: str = ""

    def info(self, first: bytes = b"", second: bytes = b"") -> bytes:
        """Return the text that goes into the derivation, with the public keys in order."""
        keys = sorted((first.hex(), second.hex()))
        form = [self.study, self.round, self.purpose, self.view, *keys]
        return b"supm secure sum 1 " + canonical(form).encode()


def new_secret(source: RandomSource, count: int) -> list[bytes]:
    """Draw secrets of 32 bytes."""
    drawn = source.words(4 * count).astype("<u8").tobytes()
    return [drawn[start : start + KEY_BYTES] for start in range(0, len(drawn), KEY_BYTES)]


def public_of(secret: bytes) -> bytes:
    """Return the public key of a secret."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def check_public(public: bytes) -> None:
    """Raise FederationError where 32 bytes are a key on which anybody could agree with anybody."""
    _exchange(_ANY_SECRET, public)


def agree(secret: bytes, public: bytes, binding: Binding) -> bytes:
    """Return the key that the holders of two secrets both derive, and nobody else."""
    return _derive(_exchange(secret, public), binding.info(public_of(secret), public))


def commit(secret: bytes, binding: Binding) -> bytes:
    """Return what fixes a secret without telling it."""
    return _derive(secret, binding.info())


def stream(key: bytes, length: int) -> NDArray[np.uint64]:
    """Return the first words of the AES-256-CTR keystream of a key that has no other use."""
    encrypt = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    # update_into wants room for one more block than it writes.
    out = np.empty(length + 2, dtype="<u8")
    room, done, total = out.data.cast("B"), 0, 8 * length
    while done < total:
        piece = min(len(_ZEROS), total - done)
        done += encrypt.update_into(memoryview(_ZEROS)[:piece], room[done:])
    return out[:length].astype(np.uint64, copy=False)


def seal_envelope(key: bytes, content: bytes, source: RandomSource) -> bytes:
    """Close an envelope (AES-256-GCM)."""
    nonce = source.words(2).astype("<u8").tobytes()[:_NONCE_BYTES]
    return nonce + AESGCM(key).encrypt(nonce, content, None)


def open_envelope(key: bytes, envelope: bytes) -> bytes:
    """Open an envelope, or raise FederationError where it was made with another key or changed."""
    nonce, sealed = envelope[:_NONCE_BYTES], envelope[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, sealed, None)
    except (InvalidTag, ValueError):
        raise FederationError(
            "an envelope was closed with another key, or changed on its way."
        ) from None


def _exchange(secret: bytes, public: bytes) -> bytes:
    try:
        other = X25519PublicKey.from_public_bytes(public)
        return X25519PrivateKey.from_private_bytes(secret).exchange(other)
    except ValueError:
        raise FederationError("a public key is one of the few that hide nothing.") from None


def _derive(secret: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)


def hash_text(text: str) -> str:
    """Return the hash of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


PRIME: Final = (1 << 257) - 93
"""A prime above every secret of 32 bytes; 257 random bits are below it but for 93 cases."""

SHARE_BYTES: Final = 33
_SECRET_BYTES: Final = 32
_THRESHOLD: Final = Integers("threshold", 1, 1000)


def split_secret(
    secret: bytes, holders: Sequence[int], threshold: int, source: RandomSource
) -> dict[int, bytes]:
    """Cut a secret into shares, one for each holder."""
    _check_holders(holders, threshold)
    if len(secret) != _SECRET_BYTES:
        raise ParameterError("secret", "32 bytes long", len(secret))
    polynomial = [int.from_bytes(secret, "little"), *_below_prime(threshold - 1, source)]
    return {n: _at(polynomial, n + 1).to_bytes(SHARE_BYTES, "little") for n in holders}


def open_secret(shares: Mapping[int, bytes], threshold: int) -> bytes:
    """Put shares together.

    All of them are used: where there are more than the threshold, those beyond it must lie on the
    polynomial of the others.
    """
    if len(shares) < threshold:
        raise FederationError(f"a secret needs {threshold} shares to be opened, got {len(shares)}.")
    points = {n + 1: _number(share) for n, share in shares.items()}
    first = dict(list(points.items())[:threshold])
    # All but those of the interpolation itself are checked against it.
    agreed = all(_interpolated(first, x) == y for x, y in points.items() if x not in first)
    opened = _interpolated(first, 0)
    if not agreed or opened >> (8 * _SECRET_BYTES):
        raise FederationError("the shares are not of one secret; somebody sent another one.")
    return opened.to_bytes(_SECRET_BYTES, "little")


def _check_holders(holders: Sequence[int], threshold: int) -> None:
    if len(set(holders)) < len(holders) or any(n < 0 for n in holders):
        raise ParameterError("holders", "different numbers from 0", holders)
    if _THRESHOLD.check(threshold) > len(holders):
        raise ParameterError("threshold", f"at most the {len(holders)} holders", threshold)


def _below_prime(count: int, source: RandomSource) -> list[int]:
    """Draw numbers that are exactly uniform below the prime."""
    drawn: list[int] = []
    while len(drawn) < count:
        words = source.words(5).astype("<u8").tobytes()
        number = int.from_bytes(words, "little") >> 63  # 320 - 63 = 257 bits
        drawn += [number] if number < PRIME else []
    return drawn


def _at(polynomial: list[int], x: int) -> int:
    value = 0
    for coefficient in reversed(polynomial):
        value = (value * x + coefficient) % PRIME
    return value


def _number(share: bytes) -> int:
    number = int.from_bytes(share, "little")
    if len(share) != SHARE_BYTES or number >= PRIME:
        raise FederationError("a share is no number below the prime; somebody sent something else.")
    return number


def _interpolated(points: Mapping[int, int], x: int) -> int:
    """Return the value at x of the one polynomial through the points (Lagrange)."""
    weights = _weights(tuple(points), x)
    return (
        sum(value * weight for value, weight in zip(points.values(), weights, strict=True)) % PRIME
    )


@lru_cache(maxsize=64)
def _weights(points: tuple[int, ...], x: int) -> tuple[int, ...]:
    # The same parties open one secret after another, so these are worth keeping; they are public.
    weights = []
    for own in points:
        above, below = 1, 1
        for other in points:
            if other != own:
                above = above * (x - other) % PRIME
                below = below * (own - other) % PRIME
        weights.append(above * pow(below, -1, PRIME) % PRIME)
    return tuple(weights)


def pair_masks(number: int, keys: Mapping[int, bytes], length: int) -> NDArray[np.uint64]:
    """Return the sum of the masks that a party shares with others."""
    if number in keys:
        raise ParameterError("keys", "those agreed with others", number)
    total = np.zeros(length, dtype=np.uint64)
    for other, key in keys.items():
        change = np.add if other > number else np.subtract
        change(total, stream(key, length), out=total)
    return total


def mask_vector(
    vector: NDArray[np.int64], number: int, own: bytes, keys: Mapping[int, bytes]
) -> NDArray[np.uint64]:
    """Hide a vector under the party's own mask and those that it shares with others."""
    masked = pair_masks(number, keys, vector.size)
    np.add(masked, stream(own, vector.size), out=masked)
    return np.add(masked, as_unsigned(vector), out=masked)


def unmask_total(
    total: NDArray[np.uint64], own: list[bytes], left: Mapping[int, Mapping[int, bytes]]
) -> NDArray[np.int64]:
    """Take away what masks are left in a sum of masked vectors."""
    opened = total.copy()
    for key in own:
        np.subtract(opened, stream(key, total.size), out=opened)
    for lost, keys in left.items():
        # What the lost one would have added is the negative of what the others left behind.
        np.add(opened, pair_masks(lost, keys, total.size), out=opened)
    return as_signed(opened)


def as_unsigned(vector: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return whole numbers modulo 2^64."""
    return np.ascontiguousarray(vector).view(np.uint64)


def as_signed(total: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return numbers modulo 2^64 as those between -2^63 and 2^63 - 1."""
    return np.ascontiguousarray(total).view(np.int64)


def mask_binding(study: str, number: int, view: str) -> Binding:
    """Return what binds the mask of a pair: whoever was asked something else has another mask."""
    return Binding(study=study, round=number, purpose="mask", view=view)


def own_mask_key(seed: bytes, study: str, number: int) -> bytes:
    """Return the key of a party's own mask."""
    return commit(seed, Binding(study=study, round=number, purpose="self"))


def seed_commitment(seed: bytes, study: str, number: int) -> bytes:
    """Return what fixes a seed before it is opened."""
    return commit(seed, Binding(study=study, round=number, purpose="commitment"))
