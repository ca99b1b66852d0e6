"""The numbers of a promise: what they may be, when some imply others, and how they are said.

Every promise but none at all has the same numbers: a neighbouring relation, a factor part (epsilon,
delta) and a Gaussian part mu, of which at most one part is not zero. The order is defined on them,
so that two spellings of one promise (epsilon 1, and epsilon 1 with delta 0) are treated alike. A
budget is what a person wrote, as a decimal, and sums of decimals are exact.
"""

from __future__ import annotations

import math
import numbers
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from supm._errors import ParameterError
from supm._validation import Reals
from supm.privacy.neighbours import Neighbours


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


_NOTHING: Final = "Where nothing is promised, say so with NoGuarantee(reason)."
EPSILON: Final = Reals("epsilon", 0.0, 1e12, _NOTHING)
DELTA: Final = Reals("delta", 0.0, math.nextafter(1.0, 0.0), _NOTHING)
MU: Final = Reals("mu", 0.0, 1e6, _NOTHING)
_THREE_DIGITS_UP: Final = Context(prec=3, rounding=ROUND_CEILING)
_SIX_DIGITS_UP: Final = Context(prec=6, rounding=ROUND_CEILING)


class PromiseNumbers(NamedTuple):
    """The numbers of a promise; zero where a part is absent."""

    neighbours: Neighbours
    epsilon: float = 0.0
    delta: float = 0.0
    mu: float = 0.0


def implies(first: PromiseNumbers, second: PromiseNumbers) -> bool:
    """Return whether whoever keeps the first promise keeps the second."""
    seen = _under(first, second.neighbours)
    if seen is None:
        return False
    if second.mu > 0.0:
        return seen.mu <= second.mu and seen.epsilon == 0.0 and seen.delta == 0.0
    if seen.mu > 0.0:
        from supm.privacy._gaussian_curve import delta_above  # noqa: PLC0415  SciPy is for those who have delta

        return delta_above(second.epsilon, seen.mu) <= second.delta
    return seen.epsilon <= second.epsilon and seen.delta <= second.delta


def _under(shape: PromiseNumbers, relation: Neighbours) -> PromiseNumbers | None:
    """Return what a promise says about another relation, or None where no theorem is used."""
    if shape.neighbours is relation:
        return shape
    if relation is not Neighbours.REPLACE_ONE:
        return None
    if shape.neighbours is Neighbours.ANY_RECORDS:
        return shape._replace(neighbours=relation)
    if shape.delta > 0.0 or shape.mu > 0.0:
        return None
    return PromiseNumbers(relation, epsilon=float_at_least(2 * decimal(shape.epsilon)))


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


def factor_sentence(name: str, shape: PromiseNumbers) -> str:
    """Say what a factor part (epsilon, delta) promises."""
    figures, addition = f"epsilon = {_six_digits(shape.epsilon)}", ""
    if shape.delta > 0.0:
        figures, addition = f"{figures}, delta = {shape.delta}", f", plus {shape.delta}"
    return (
        f"{shape.neighbours.clause}, the probability of anything that the output can show would "
        f"change by a factor of at most {greatest_factor(shape.epsilon)}{addition} "
        f"({name}, {figures})."
    )


def gaussian_sentence(shape: PromiseNumbers) -> str:
    """Say what a Gaussian part mu promises."""
    return (
        f"{shape.neighbours.clause}, that would be at least as hard to tell from the output as a "
        f"normal variable of mean 0 from one of mean {shape.mu}, both of variance 1 "
        f"(Gaussian differential privacy, mu = {shape.mu})."
    )


def greatest_factor(epsilon: float) -> str:
    """Return e^epsilon to three digits, rounded up, or as a power where it is large."""
    if epsilon > 10.0:
        return f"e^{_six_digits(epsilon)}"
    if epsilon == 0.0:
        return "1"
    above = math.nextafter(math.exp(epsilon), math.inf)
    exact = Decimal.from_float(above)  # noqa: FURB164  Decimal(…) obeys the caller's traps
    return f"{_THREE_DIGITS_UP.plus(exact):f}"


def _six_digits(epsilon: float) -> float:
    """Return a number of at most six digits that is no less: to say more than is spent is true."""
    return float(_SIX_DIGITS_UP.create_decimal(repr(epsilon)))
