"""The numbers that a promise may hold."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Final

from supm._errors import ParameterError
from supm._validation import Reals
from supm.privacy.decimals import float_at_least

__all__ = ["DELTA", "EPSILON", "MU", "delta_number", "number", "positive_delta"]

_NOTHING: Final = "Where nothing is promised, say so with NoGuarantee(reason)."
EPSILON: Final = Reals("epsilon", 0.0, 1e12, _NOTHING)
DELTA: Final = Reals("delta", 0.0, math.nextafter(1.0, 0.0), _NOTHING)
MU: Final = Reals("mu", 0.0, 1e6, _NOTHING)


def number(declared: Reals, value: object) -> float:
    """Return an admissible number as a float that does not name less.

    Examples
    --------
    >>> number(EPSILON, Fraction(1, 3))
    0.33333333333333337
    """
    checked = declared.check(value)
    if isinstance(value, numbers.Rational):
        return declared.check(float_at_least(Fraction(value)))
    # Minus zero is the same promise as zero and must print alike.
    return checked + 0.0


def delta_number(value: object) -> float:
    """Return an admissible delta as a float that does not name less."""
    try:
        return number(DELTA, value)
    except ParameterError:
        # The shared sentence closes its interval, which would read "in [0, 1], got 1".
        error = ParameterError("delta", "a number in [0, 1)", value, _NOTHING)
    raise error


def positive_delta(value: object) -> float:
    """Return an admissible delta above zero."""
    delta = delta_number(value)
    if delta > 0.0:
        return delta
    hint = "Gaussian noise keeps no epsilon with certainty."
    error = ParameterError("delta", "a number in (0, 1)", value, hint)
    raise error
