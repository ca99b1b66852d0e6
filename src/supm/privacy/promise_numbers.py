"""The numbers of a promise: what they may be, when some imply others, and how they are said.

Every promise but none at all has the same numbers: a neighbouring relation, a factor part (epsilon,
delta) and a Gaussian part mu, of which at most one part is not zero. The order is defined on them,
so that two spellings of one promise (epsilon 1, and epsilon 1 with delta 0) are treated alike. A
budget is what a person wrote, as a decimal, and sums of decimals are exact.
"""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import Reals


class Neighbours(enum.Enum):
    """The pairs of inputs that a promise is about.

    Attributes
    ----------
    REPLACE_ONE
        Two tables of the same size that differ in one record. The size is public.
    ADD_REMOVE
        Two tables of which one has one record more.
    ANY_RECORDS
        Any two records that one owner could hold. This is the relation of local privacy.

    Examples
    --------
    >>> Neighbours.named("replace-one")
    Neighbours.REPLACE_ONE
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"
    ANY_RECORDS = "any-records"

    @property
    def clause(self) -> str:
        """The difference between neighbours, as the first half of a sentence."""
        return _CLAUSES[self]

    def __repr__(self) -> str:
        return f"Neighbours.{self.name}"

    @classmethod
    def check(cls, value: object) -> Neighbours:
        """Return the value if it is a relation, or raise ParameterError."""
        if isinstance(value, cls):
            return value
        choices = ", ".join(map(repr, cls))
        raise ParameterError("neighbours", f"one of {choices}", value)

    @classmethod
    def named(cls, name: object) -> Neighbours:
        """Return the relation of that name, or raise ParameterError."""
        for one in cls:
            if one.value == name:
                return one
        choices = ", ".join(one.value for one in cls)
        raise ParameterError("neighbours", f"one of {choices}", name)


_CLAUSES: Final = {
    Neighbours.REPLACE_ONE: "If one record of the table were any other",
    Neighbours.ADD_REMOVE: "If one record were added to the table or left out of it",
    Neighbours.ANY_RECORDS: "If the owner held any other record",
}


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
    return 0.0 - float_at_least(-value)  # never minus zero


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
    # The square of a small float underflows, its integer square root does not.
    number = float(Fraction(math.isqrt(int(square * (1 << 2200))), 1 << 1100))
    while decimal(number) ** 2 > square:
        number = math.nextafter(number, 0.0)
    while decimal(math.nextafter(number, math.inf)) ** 2 <= square:
        number = math.nextafter(number, math.inf)
    return number


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
        raise ParameterError("delta", "a number in [0, 1)", value, _NOTHING) from None


def positive_delta(value: object) -> float:
    """Return an admissible delta above zero."""
    delta = delta_number(value)
    if delta > 0.0:
        return delta
    hint = "Gaussian noise keeps no epsilon with certainty."
    raise ParameterError("delta", "a number in (0, 1)", value, hint)


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


# The exact privacy curve of Gaussian noise. Whatever is returned errs to the safe side by a slack
# far above the rounding errors. The two inverse functions keep twice that slack, so that their
# results pass `delta_above` with room to spare.
# Where exp(-tu - u^2/2) has fallen to e^-44 of its start, the rest is far below rounding.
_TAIL: Final = 44.0
# Measured against 350 digits, the logarithm of delta is off by less than a tenth of this slack;
# tests/privacy/test_gaussian_curve.py holds it below a quarter.
_ABSOLUTE_SLACK: Final = 2e-13
_RELATIVE_SLACK: Final = 4e-15
# Beyond this, t is taken as this: delta falls with t, so that is safe, and no square overflows.
_LARGEST_T: Final = 1e150


def delta_above(epsilon: float, mu: float) -> float:
    """Return a delta that is not below the true one and exceeds it by one part in 10^11 at most.

    Examples
    --------
    >>> round(delta_above(1.0, 1.0), 6)
    0.126937
    """
    if mu == 0.0:
        return 0.0
    return min(1.0, math.nextafter(math.exp(_log_delta_above(epsilon, mu)), 1.0))


def epsilon_above(delta: float, mu: float) -> float:
    """Return the least epsilon whose delta is at most the given one, rounded up.

    Examples
    --------
    >>> round(epsilon_above(1e-6, 1.0), 6)
    4.886554
    """
    if mu == 0.0:
        return 0.0
    most = _log(delta)
    enough = mu * (0.5 * mu + math.sqrt(-2.0 * most)) * (1.0 + 1e-9)
    return _bisect(lambda epsilon: _log_delta_above(epsilon, mu, slacks=2) <= most, enough, 0.0)


def mu_below(epsilon: float, delta: float) -> float:
    """Return the largest mu whose delta at epsilon is at most the given one, rounded down.

    Examples
    --------
    >>> round(1 / mu_below(1.0, 1e-4), 2)
    3.19
    """
    most = _log(delta)

    def allowed(mu: float) -> bool:
        return mu == 0.0 or _log_delta_above(epsilon, mu, slacks=2) <= most

    too_much = 1.0
    while too_much < MU.high and allowed(too_much):
        too_much = min(2.0 * too_much, MU.high)
    return _bisect(allowed, 0.0, too_much)


def _bisect(holds: Callable[[float], bool], good: float, bad: float) -> float:
    """Return a number for which it holds, as near as floats allow to one for which it does not."""
    if holds(bad):
        return bad
    middle = 0.5 * (good + bad)
    while middle not in {good, bad}:
        good, bad = (middle, bad) if holds(middle) else (good, middle)
        middle = 0.5 * (good + bad)
    return good


def _log(delta: float) -> float:
    # Of the decimal that delta names: among the smallest floats the two differ by a percent.
    named = decimal(delta)
    return math.log(named.numerator) - math.log(named.denominator)


def _log_delta_above(epsilon: float, mu: float, slacks: int = 1) -> float:
    value = _log_delta(epsilon, mu)
    return value + slacks * (_ABSOLUTE_SLACK + _RELATIVE_SLACK * abs(value))


def _log_delta(epsilon: float, mu: float) -> float:
    r"""Return the logarithm of the least delta: delta itself reaches 1e-300.

    With :math:`t = \varepsilon/\mu - \mu/2`, delta is (equations 4 to 6 of
    ``docs/proofs/gaussian-composition.md``)

    .. math::

        \delta(\varepsilon; \mu) = \Phi(-t) - e^{\varepsilon} \Phi(-t - \mu)
            = \varphi(t) \, [R(t) - R(t + \mu)]
            = \varphi(t) \int_0^\infty e^{-tu - u^2/2} (1 - e^{-\mu u}) \, du,

    where R is Mills' ratio. The first form overflows for a large epsilon and cancels for a small
    mu; the second does not overflow, and the third has nothing to cancel.
    """
    from scipy.special import ndtr  # noqa: PLC0415  SciPy is for those who have delta

    # Exact: epsilon / mu and mu / 2 may agree in all but their last digits.
    t = float(min(decimal(epsilon) / decimal(mu) - decimal(mu) / 2, decimal(_LARGEST_T)))
    log_density = -0.5 * t * t - 0.5 * math.log(2.0 * math.pi)
    if mu < 1.0:
        return log_density + math.log(mu) + _log_integral(t, mu)
    if t >= 0.0:
        return log_density + math.log(_mills(t) - _mills(t + mu))
    return math.log(ndtr(-t) - math.exp(log_density) * _mills(t + mu))


def _mills(t: float) -> float:
    from scipy.special import erfcx  # noqa: PLC0415  the same

    return math.sqrt(0.5 * math.pi) * float(erfcx(t / math.sqrt(2.0)))


def _log_integral(t: float, mu: float) -> float:
    """Return the logarithm of the integral in the third form, divided by mu."""
    from scipy.special import exprel  # noqa: PLC0415  the same

    reach = 2.0 * _TAIL / (t + math.sqrt(t * t + 2.0 * _TAIL))
    nodes, weights = _quadrature()
    u = reach * nodes
    heights = np.exp(-u * (t + 0.5 * u)) * exprel(-mu * u) * nodes
    return 2.0 * math.log(reach) + math.log(float(heights @ weights))


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes and weights of Gauss and Legendre between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return 0.5 * nodes + 0.5, 0.5 * weights
