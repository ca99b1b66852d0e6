"""Shares of a secret: any t of them open it, and fewer say nothing about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from supm._errors import FederationError, ParameterError
from supm._random import RandomSource
from supm._validation import Integers

__all__ = ["PRIME", "SHARE_BYTES", "open_secret", "split_secret"]

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
        message = f"a secret needs {threshold} shares to be opened, got {len(shares)}."
        raise FederationError(message)
    points = {n + 1: _number(share) for n, share in shares.items()}
    first = dict(list(points.items())[:threshold])
    # All but those of the interpolation itself are checked against it.
    agreed = all(_interpolated(first, x) == y for x, y in points.items() if x not in first)
    opened = _interpolated(first, 0)
    if not agreed or opened >> (8 * _SECRET_BYTES):
        message = "the shares are not of one secret; somebody sent another one."
        raise FederationError(message)
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
        message = "a share is no number below the prime; somebody sent something else."
        raise FederationError(message)
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
