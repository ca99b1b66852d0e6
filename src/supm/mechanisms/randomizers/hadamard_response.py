"""Hadamard response: a column of a Hadamard matrix whose sign in the own row is likely +1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm._validation import keep_checked
from supm.mechanisms.randomizers.frequency import SIZE, SupportRandomizer
from supm.mechanisms.randomizers.randomizer import ENTRIES, Reports
from supm.mechanisms.thresholds import TwoLevel, TwoLevelReport, words_inside


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(TwoLevelReport, SupportRandomizer):
    """Report a column in which the own row of a Hadamard matrix is +1 with probability ``agree``.

    Seeing a report changes the odds between any two symbols by a factor of at most e^epsilon.
    Symbol v owns row v + 1: row 0 is all +1 and would say nothing.

    Parameters
    ----------
    size : int
        Number of symbols, 2 to 2^40.
    agree_words : int
        How many of the 2^64 words give a column of sign +1; more than half.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = agree / (1 - agree)
    (docs/proofs/hadamard-response.md, Theorem 1).

    **Utility.** Unbiased; the variance of a rare share is ((e^epsilon + 1) / (e^epsilon - 1))^2 / n
    for any alphabet. Close to the best for epsilon below 1, worse above.

    **Cost.** Two words and O(1) time per report of log2(size) + 1 bits; counting takes one fast
    transform.

    References
    ----------
    J. Acharya, Z. Sun, H. Zhang, Hadamard response, AISTATS 2019, section 5 (high privacy).

    Examples
    --------
    >>> import math
    >>> signs = HadamardResponse.for_epsilon(size=3, epsilon=math.log(3))
    >>> signs.channel()
    array([[0.375, 0.125, 0.375, 0.125],
           [0.375, 0.375, 0.125, 0.125],
           [0.375, 0.125, 0.125, 0.375]])
    """

    size: int
    agree_words: int

    def __post_init__(self) -> None:
        keep_checked(self, SIZE, words_inside("agree_words", inside=1, outside=1))

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Self:
        """Make the randomizer whose sign is true as often as epsilon allows."""
        sign = TwoLevel.for_epsilon(inside=1, outside=1, epsilon=epsilon)
        return cls(size=SIZE.check(size), agree_words=sign.threshold)

    @property
    def miss(self) -> Fraction:
        """One half: two rows agree in half of the columns."""
        return Fraction(1, 2)

    @property
    def outcomes(self) -> int:
        """The columns: the smallest power of two above the number of symbols."""
        return 1 << self.size.bit_length()

    def exact_channel(self) -> list[list[Fraction]]:
        """Share each sign's probability among its half of the columns."""
        ENTRIES.check(self.size * self.outcomes)
        agree, differ = self.hit * 2 / self.outcomes, (1 - self.hit) * 2 / self.outcomes
        return [
            [differ if (row & column).bit_count() % 2 else agree for column in range(self.outcomes)]
            for row in range(1, self.size + 1)
        ]

    @property
    def _cells(self) -> TwoLevel:
        return TwoLevel(inside=1, outside=1, threshold=self.agree_words)

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Randomise one chunk of checked symbols."""
        differ = self._cells.draw(len(symbols), source).view(np.int64)
        column = source.below(self.outcomes, len(symbols)).view(np.int64)
        row = symbols + 1
        wrong = (np.bitwise_count(column & row) & 1) != differ
        # Flipping one bit of the row's own bits flips the sign and maps one half onto the other.
        column ^= np.where(wrong, row & -row, 0)
        return column

    def supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count, for each symbol, the reports that support it."""
        counts = np.bincount(self.outcome(reports), minlength=self.outcomes)
        differences = _walsh_hadamard(counts.astype(np.int64))
        return (len(reports) + differences[1 : self.size + 1]) // 2


def _walsh_hadamard(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each row of the matrix, the counts of +1 columns less those of -1 columns."""
    half = 1
    while half < len(counts):
        pairs = counts.reshape(-1, 2, half)
        counts = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).ravel()
        half *= 2
    return counts
