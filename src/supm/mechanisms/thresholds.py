"""Exact arithmetic between an epsilon and thresholds over 64-bit words.

A sampler compares uniform 64-bit words with whole-number thresholds, so each of its probabilities
is a fraction with a known denominator. The functions here turn an epsilon into such a threshold,
rounded toward privacy, and turn a ratio of such fractions back into the epsilon that is really
kept, rounded up (docs/proofs/two-level.md).
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, Overflow
from fractions import Fraction
from typing import Final

WORDS: Final = 1 << 64
"""How many 64-bit words there are: the denominator of every threshold."""

# Decimals are used through this context only and leave here as fractions: the operators of Decimal
# obey a context that the caller may have changed, and with it the rounding would leave our hands.
_PRECISE: Final = Context(
    prec=60,
    rounding=ROUND_HALF_EVEN,
    Emin=-999_999,
    Emax=999_999,
    traps=[InvalidOperation, Overflow],
)
_BELOW: Final = 1 - Fraction(1, 10**50)
_SLACK: Final = Fraction(1, 10**56)


def exponential(epsilon: float | Fraction) -> Fraction:
    """Return e to the epsilon from below, one part in 10^50 short, also where a float overflows.

    Examples
    --------
    >>> round(float(exponential(1.0)), 12)
    2.718281828459
    """
    if isinstance(epsilon, Fraction):
        power = _PRECISE.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    else:
        power = least_reading(epsilon)
    return Fraction(_PRECISE.exp(power)) * _BELOW


def exact_share(epsilon: float, parts: int) -> Fraction:
    """Return an equal part of what an epsilon surely allows; all parts together do not exceed it.

    Examples
    --------
    >>> exact_share(2.2, 3)
    Fraction(11, 15)
    """
    return Fraction(least_reading(epsilon)) / parts


def epsilon_of(ratio: Fraction) -> float:
    """Return the smallest float that is surely not below the logarithm of a ratio.

    A guarantee is stated as a float; rounding up keeps the statement true. The slack covers the
    rounding of the decimals.

    Examples
    --------
    >>> epsilon_of(Fraction(3))
    1.0986122886681098
    >>> epsilon_of(Fraction(1))
    0.0
    """
    if ratio == 1:
        return 0.0
    quotient = _PRECISE.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    logarithm = Fraction(_PRECISE.ln(quotient))
    upper = logarithm + _SLACK * (1 + abs(logarithm))
    return stated(upper)


def stated(epsilon: Fraction) -> float:
    """Return the smallest float that does not read as less than an exact epsilon.

    Examples
    --------
    >>> stated(Fraction(1, 10))
    0.1
    """
    number = float(epsilon)
    while Fraction(least_reading(number)) < epsilon:
        number = math.nextafter(number, math.inf)
    return number


def least_reading(number: float) -> Decimal:
    """Return the smaller of what a float is and what it prints as: budgets read the latter.

    Examples
    --------
    >>> least_reading(0.1)
    Decimal('0.1')
    """
    exact = float(number)
    binary = Decimal.from_float(exact)  # noqa: FURB164  Decimal(…) obeys the caller's traps
    return min(binary, Decimal(repr(exact)))


def threshold_for(epsilon: float | Fraction, *, inside: int, outside: int) -> int:
    """Return how many words fall inside so that an inside cell is e^epsilon times as likely.

    The threshold is rounded down, so the realised ratio never exceeds e^epsilon; at least one word
    is left outside, so every cell can occur.

    Examples
    --------
    >>> threshold_for(math.log(3), inside=1, outside=1) / WORDS
    0.75
    """
    odds = exponential(epsilon) * inside
    return min(int(WORDS * odds / (odds + outside)), WORDS - 1)
