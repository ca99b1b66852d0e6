"""Exact arithmetic between an epsilon and thresholds over 64-bit words.

A sampler compares uniform 64-bit words with whole-number thresholds, so each of its probabilities
is a fraction with a known denominator. The functions here turn an epsilon into such a threshold,
rounded toward privacy, and turn a ratio of such fractions back into the epsilon that is really
kept, rounded up.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

__all__ = ["WORDS", "epsilon_of", "exponential", "threshold_for"]

WORDS: Final = 1 << 64
"""How many 64-bit words there are: the denominator of every threshold."""

_PRECISE: Final = Context(prec=60)


def exponential(epsilon: float) -> Decimal:
    """Return e to the epsilon with 60 digits, also where a float would overflow.

    Examples
    --------
    >>> round(float(exponential(1.0)), 12)
    2.718281828459
    """
    return _PRECISE.exp(Decimal(epsilon))


def epsilon_of(ratio: Fraction) -> float:
    """Return the smallest float that is not below the logarithm of a ratio of probabilities.

    A guarantee is stated as a float; rounding up keeps the statement true.

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
    exact = _PRECISE.ln(quotient)
    nearest = float(exact)
    return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)


def threshold_for(epsilon: float, *, inside: int, outside: int) -> int:
    """Return how many words fall inside so that an inside cell is e^epsilon times as likely.

    The threshold is rounded down, so the realised ratio never exceeds e^epsilon; at least one word
    is left outside, so every cell can occur.

    Examples
    --------
    >>> threshold_for(math.log(3), inside=1, outside=1) / WORDS
    0.75
    """
    odds = exponential(epsilon)
    share = _PRECISE.divide(odds * inside, _PRECISE.add(odds * inside, Decimal(outside)))
    return min(int(_PRECISE.multiply(share, Decimal(WORDS))), WORDS - 1)
