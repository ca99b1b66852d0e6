"""Subset selection: report a set of symbols that holds the own one more often than not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, keep_checked
from supm.mechanisms.randomizers.frequency import SupportRandomizer
from supm.mechanisms.randomizers.randomizer import ENTRIES, OUTCOMES, Reports, check_told
from supm.mechanisms.thresholds import TwoLevel, TwoLevelReport, exponential, words_inside

_SIZE = Integers("size", 2, 1 << 20, "For a larger alphabet use LocalHashing.")


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(TwoLevelReport, SupportRandomizer):
    """Report a random set of ``width`` symbols, which holds the own one with a raised probability.

    Seeing the set changes the odds between any two symbols by a factor of at most e^epsilon. The
    set is reported in increasing order, so that its order says nothing. A set of one symbol is
    randomized response.

    Parameters
    ----------
    size : int
        Number of symbols, 2 to 2^20.
    width : int
        Number of symbols in a report, 1 to size - 1.
    hold_words : int
        How many of the 2^64 words put the own symbol into the set; more than its fair share.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = hold (size - width) / ((1 - hold) width), where hold
    = hold_words / 2^64 (docs/proofs/subset-selection.md, Theorem 1).

    **Utility.** Unbiased. With the width nearest size / (e^epsilon + 1) no randomizer has a smaller
    worst-case squared error in the limit of many owners (Ye and Barg).

    **Cost.** ``width`` draws per report of width log2(size) bits; a table of the alphabet is held
    only for sets so wide that it is faster than comparing their members.

    References
    ----------
    M. Ye, A. Barg, Optimal schemes for discrete distribution estimation under locally differential
    privacy, IEEE Trans. Inf. Theory 64 (2018). S. Wang et al., Mutual information optimally local
    private discrete distribution estimation, 2016.

    Examples
    --------
    >>> import math
    >>> pairs = SubsetSelection.for_epsilon(size=6, epsilon=math.log(2))
    >>> pairs.width, float(pairs.hit)
    (2, 0.5)
    """

    size: int
    width: int
    hold_words: int

    def __post_init__(self) -> None:
        keep_checked(self, _SIZE)
        keep_checked(self, Integers("width", 1, self.size - 1))
        others = self.size - self.width
        keep_checked(self, words_inside("hold_words", inside=self.width, outside=others))

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Self:
        """Make the randomizer whose width has the least variance for a share of 1 / size."""
        size, epsilon = _SIZE.check(size), EPSILON.check(epsilon)
        near = int(size / (exponential(epsilon) + 1))
        widths = [width for width in (near, near + 1) if 1 <= width < size]
        candidates = [cls.with_width(size=size, width=width, epsilon=epsilon) for width in widths]
        return min(candidates, key=lambda choice: choice.variance(1 / size))

    @classmethod
    def with_width(cls, *, size: int, width: int, epsilon: float) -> Self:
        """Make the randomizer of a given width that is as truthful as epsilon allows."""
        size = _SIZE.check(size)
        width = Integers("width", 1, size - 1).check(width)
        cells = TwoLevel.for_epsilon(inside=width, outside=size - width, epsilon=epsilon)
        return cls(size=size, width=width, hold_words=cells.threshold)

    @property
    def miss(self) -> Fraction:
        """Probability that the set holds a given other symbol."""
        return (self.width - self.hit) / (self.size - 1)

    @property
    def report_bits(self) -> int:
        """Enough bits to number each symbol of the set."""
        return self.width * (self.size - 1).bit_length()

    @property
    def outcomes(self) -> int:
        """As many as sets of that width."""
        return math.comb(self.size, self.width)

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return each set's number in colexicographic order."""
        OUTCOMES.check(self.outcomes)
        ranks = np.zeros(len(reports), dtype=np.int64)
        for place, symbols in enumerate(self._sets(reports).astype(np.int64).T):
            # In increasing order, the symbol at a place leaves as many below it and above it.
            possible = range(place, place + self.size - self.width + 1)
            sets_below = np.array([math.comb(symbol, place + 1) for symbol in possible])
            ranks += sets_below[symbols - place]
        return ranks

    def exact_channel(self) -> list[list[Fraction]]:
        """Give sets that hold the symbol one probability, and sets that do not another."""
        ENTRIES.check(self.size * self.outcomes)
        symbols, width = self.size - 1, self.width
        held, free = math.comb(symbols, width - 1), math.comb(symbols, width)
        sets = sorted(combinations(range(self.size), width), key=lambda chosen: chosen[::-1])
        with_own, without = self.hit / held, (1 - self.hit) / free
        return [[with_own if own in told else without for told in sets] for own in range(self.size)]

    @property
    def _cells(self) -> TwoLevel:
        return TwoLevel(
            inside=self.width, outside=self.size - self.width, threshold=self.hold_words
        )

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.uint32]:
        """Randomise one chunk of checked symbols."""
        chosen = self._choose_others(symbols, source)
        holders = np.flatnonzero(source.words(len(symbols)) < np.uint64(self.hold_words))
        # To drop a uniformly chosen member leaves a uniform set of one symbol less.
        dropped = source.below(self.width, len(symbols)).astype(np.int64)
        chosen[dropped[holders], holders] = symbols[holders]
        return np.sort(chosen.T.astype(np.uint32), axis=1)

    def _choose_others(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Return one set of other symbols per column: Floyd's algorithm on all columns at once."""
        owners = np.arange(len(symbols))
        table = np.zeros((len(symbols), self.size if self._wide else 0), dtype=np.bool_)
        chosen = np.empty((self.width, len(symbols)), dtype=np.int64)
        for step in range(self.width):
            last = self.size - 1 - self.width + step
            pick = source.below(last + 1, len(symbols)).astype(np.int64)
            taken = table[owners, pick] if self._wide else (chosen[:step] == pick).any(axis=0)
            pick[taken] = last
            if self._wide:
                table[owners, pick] = True
            chosen[step] = pick
        # So far the other symbols were numbered without the own one.
        chosen += chosen >= symbols
        return chosen

    def supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count, for each symbol, the reports that support it."""
        return np.bincount(self._sets(reports).ravel(), minlength=self.size)

    def _sets(self, reports: Reports) -> NDArray[np.integer]:
        told = check_told(reports, width=self.width, below=self.size)
        # NumPy is slow on many short rows: compare neighbours in one long one, and skip the seams.
        flat = told.ravel()
        rises = flat[1:] > flat[:-1]
        rises[self.width - 1 :: self.width] = True
        if not rises.all():
            raise ParameterError("reports", "sets in increasing order", "a set that is not")
        return told

    @property
    def _wide(self) -> bool:
        """Whether to look up members in a table of the alphabet is faster than to compare them."""
        return self.width**2 > 16 * self.size

    @property
    def _chunk(self) -> int:
        return max(1, (1 << 20) // self.size if self._wide else (1 << 17) // self.width)
