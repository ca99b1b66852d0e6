"""How this room reads a float, and how it rounds.

The float 0.1 is not one tenth: in binary it is a little more, so that ten of them exceed 1.0 and a
budget of 1.0 would refuse the tenth. Whoever writes 0.1 means one tenth. So a float in a guarantee
**names the decimal number that it prints as**, the shortest one that reads back as the same float,
and all sums are taken exactly over those decimals. A result is rounded once, to the safe side.

Two facts make this sound (equations 13 and 14 of ``docs/proofs/gaussian-composition.md``). Distinct
floats name distinct decimals in the same order, so comparing floats compares what they name. And
the decimal of the next float up is above the binary value of this one, so a number that was
computed in binary is claimed safely by `math.nextafter`.
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["decimal", "float_at_least", "float_at_most", "root_at_least", "root_at_most"]


def decimal(number: float) -> Fraction:
    """Return the decimal that a float names.

    Examples
    --------
    >>> decimal(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def float_at_least(value: Fraction) -> float:
    """Return the least float that names ``value`` or more.

    Examples
    --------
    >>> float_at_least(Fraction(3, 10)), float_at_least(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    number = float(value)
    while decimal(number) < value:
        number = math.nextafter(number, math.inf)
    return number


def float_at_most(value: Fraction) -> float:
    """Return the greatest float that names ``value`` or less.

    Examples
    --------
    >>> float_at_most(Fraction(3, 10)), float_at_most(Fraction(2, 3))
    (0.3, 0.6666666666666666)
    """
    number = float(value)
    while decimal(number) > value:
        number = math.nextafter(number, -math.inf)
    return number


def root_at_least(square: Fraction) -> float:
    """Return the least float that names the square root of ``square`` or more.

    Examples
    --------
    >>> root_at_least(Fraction(25, 100)), root_at_least(Fraction(2)) ** 2 > 2
    (0.5, True)
    """
    number = root_at_most(square)
    return number if decimal(number) ** 2 == square else math.nextafter(number, math.inf)


def root_at_most(square: Fraction) -> float:
    """Return the greatest float that names the square root of ``square`` or less.

    Examples
    --------
    >>> root_at_most(Fraction(9, 100))
    0.3
    """
    number = _near_root(square)
    while decimal(number) ** 2 > square:
        number = math.nextafter(number, 0.0)
    while decimal(math.nextafter(number, math.inf)) ** 2 <= square:
        number = math.nextafter(number, math.inf)
    return number


def _near_root(square: Fraction) -> float:
    # The square of a small float underflows, its integer square root does not.
    digits = 1 << 2200
    return float(Fraction(math.isqrt(int(square * digits)), 1 << 1100))
