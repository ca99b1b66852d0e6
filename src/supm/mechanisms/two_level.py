"""The kernel shared by most randomizers: a few likely cells, the others equally unlikely.

Randomized response has one likely cell (the truth), the piecewise and square-wave mechanisms have a
window of them. One 64-bit word decides both whether the report falls inside and in which cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm._validation import EPSILON, Integers
from supm.mechanisms.thresholds import WORDS, epsilon_of, threshold_for

MAX_CELLS = 1 << 40
"""The largest alphabet of a report."""

# A hash may have a few more buckets than the largest alphabet has symbols.
_INSIDE = Integers("inside", 1, 2 * MAX_CELLS)
_OUTSIDE = Integers("outside", 1, 2 * MAX_CELLS)


@dataclass(frozen=True, kw_only=True)
class TwoLevel:
    """A distribution over ``inside + outside`` cells with two levels of probability.

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
        object.__setattr__(self, "inside", _INSIDE.check(self.inside))
        object.__setattr__(self, "outside", _OUTSIDE.check(self.outside))
        words = words_inside("threshold", inside=self.inside, outside=self.outside)
        object.__setattr__(self, "threshold", words.check(self.threshold))

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
