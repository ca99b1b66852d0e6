"""Exact arithmetic between an epsilon and thresholds over 64-bit words.

A sampler compares uniform 64-bit words with whole-number thresholds, so each of its probabilities
is a fraction with a known denominator. The functions here turn an epsilon into such a threshold,
rounded toward privacy, and turn a ratio of such fractions back into the epsilon that is really
kept, rounded up (docs/proofs/two-level.md). `TwoLevel` is the kernel that most randomizers share.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, Overflow
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm._validation import EPSILON, Integers, keep_checked

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


MAX_CELLS = 1 << 40
"""The largest alphabet of a report."""

# A hash may have a few more buckets than the largest alphabet has symbols.
_INSIDE = Integers("inside", 1, 2 * MAX_CELLS)
_OUTSIDE = Integers("outside", 1, 2 * MAX_CELLS)


@dataclass(frozen=True, kw_only=True)
class TwoLevel:
    """A distribution over ``inside + outside`` cells with two levels of probability.

    Randomized response has one likely cell (the truth), the piecewise and square-wave mechanisms
    have a window of them. One 64-bit word decides both whether the report falls inside and in which
    cell.

    Examples
    --------
    >>> cells = TwoLevel.for_epsilon(inside=1, outside=3, epsilon=1.0)
    >>> cells.epsilon <= 1.0
    True
    >>> cells.inside_probability + 3 * cells.outside_probability
    Fraction(1, 1)
    """

    inside: int
    outside: int
    threshold: int

    def __post_init__(self) -> None:
        keep_checked(self, _INSIDE, _OUTSIDE)
        keep_checked(self, words_inside("threshold", inside=self.inside, outside=self.outside))

    @classmethod
    def for_epsilon(cls, *, inside: int, outside: int, epsilon: float) -> Self:
        """Make the ratio of the two levels as near e^epsilon as words allow, never above."""
        inside, outside = _INSIDE.check(inside), _OUTSIDE.check(outside)
        threshold = threshold_for(EPSILON.check(epsilon), inside=inside, outside=outside)
        return cls(inside=inside, outside=outside, threshold=threshold)

    @property
    def inside_probability(self) -> Fraction:
        """Exact probability of one inside cell."""
        return Fraction(self.threshold, WORDS * self.inside)

    @property
    def outside_probability(self) -> Fraction:
        """Exact probability of one outside cell."""
        return Fraction(WORDS - self.threshold, WORDS * self.outside)

    @property
    def epsilon(self) -> float:
        """Logarithm of the ratio of the two levels, rounded up."""
        return epsilon_of(self.inside_probability / self.outside_probability)

    def draw(self, count: int, source: RandomSource) -> NDArray[np.uint64]:
        """Draw cells: 0 … inside - 1 are the likely ones, the outside cells follow."""
        words = source.words(count)
        run_out = (WORDS - self.threshold) // self.outside
        if run_out == 0:
            # Fewer words than outside cells: a word can say "outside" but not which cell.
            cells = self._inside_cells(words)
            cells[words >= np.uint64(self.threshold)] = self.inside + self.outside
        elif self.inside == 1:
            cells = _steps(words, self.threshold - run_out, run_out)
        else:
            cells = _steps(words, self.threshold, run_out)
            cells += np.uint64(self.inside)
            cells = np.where(words < np.uint64(self.threshold), self._inside_cells(words), cells)
        self._redraw(words, cells, source)
        return cells

    def _inside_cells(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return words // np.uint64(self.threshold // self.inside)

    def _redraw(
        self, words: NDArray[np.uint64], cells: NDArray[np.uint64], source: RandomSource
    ) -> None:
        """Draw again where a division left words over: cells of one level are equally likely."""
        if cells.max(initial=0) >= self.inside + self.outside:
            over = np.flatnonzero(cells >= np.uint64(self.inside + self.outside))
            cells[over] = source.below(self.outside, over.size) + np.uint64(self.inside)
        if self.inside > 1:
            low = words < np.uint64(self.threshold)
            over = np.flatnonzero(low & (cells >= np.uint64(self.inside)))
            if over.size:
                cells[over] = source.below(self.inside, over.size)


def words_inside(name: str, *, inside: int, outside: int) -> Integers:
    """Declare how many words may fall inside: more than the fair share, and not all."""
    fair = WORDS * inside // (inside + outside)
    hint = "At a fair share a report says nothing: raise epsilon or use fewer cells."
    return Integers(name, fair + 1, WORDS - 1, hint)


def _steps(words: NDArray[np.uint64], base: int, run: int) -> NDArray[np.uint64]:
    """Return how many whole runs each word lies above the base, 0 for words below it."""
    start = np.uint64(base)
    above = np.maximum(words, start)
    above -= start
    above //= np.uint64(run)
    return above


class TwoLevelReport(ABC):
    """A report that is decided by two levels, where the inside cells support the own symbol."""

    @property
    @abstractmethod
    def _cells(self) -> TwoLevel:
        """The two levels; one of the inside cells says the truth."""

    @property
    def epsilon(self) -> float:
        """Logarithm of the ratio of the two levels, rounded up."""
        return self._cells.epsilon

    @property
    def hit(self) -> Fraction:
        """Probability of the inside cells together: that the report supports the own symbol."""
        return self._cells.inside_probability * self._cells.inside
