"""The smallest prime that is not below a number: the modulus of the public hash functions."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

__all__ = ["prime_from"]

# These bases decide primality for every number below 3.3e24 (Sorenson and Webster, 2015).
_WITNESSES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


@lru_cache(maxsize=256)
def prime_from(number: int) -> int:
    """Return the smallest prime that is at least ``number``.

    Examples
    --------
    >>> prime_from(5), prime_from(6), prime_from(2**40)
    (5, 7, 1099511627791)
    """
    while not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    for witness in _WITNESSES:
        if number % witness == 0:
            return number == witness
    return number > 1 and not any(_is_composite_by(witness, number) for witness in _WITNESSES)


def _is_composite_by(witness: int, number: int) -> bool:
    """Run one round of the Miller-Rabin test on an odd number."""
    twos = (number - 1 & 1 - number).bit_length() - 1
    power = pow(witness, number - 1 >> twos, number)
    if power in (1, number - 1):
        return False
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return False
    return True
