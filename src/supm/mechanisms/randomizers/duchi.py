"""Duchi's mechanism: round the value to one of its bounds, then randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from supm._errors import ParameterError
from supm._validation import Integers, check_kind
from supm.mechanisms.randomizers.numeric import PublicGrid
from supm.mechanisms.randomizers.window import SlidingWindow, UnbiasedWindow
from supm.mechanisms.thresholds import WORDS

KEEP_WORDS = Integers("keep_words", WORDS // 2 + 1, WORDS - 1)


@dataclass(frozen=True, kw_only=True)
class Duchi(UnbiasedWindow):
    """Report one bit: which bound the value was rounded to, kept or flipped.

    Seeing a report changes the odds between any two values by a factor of at most e^epsilon.

    Parameters
    ----------
    grid : PublicGrid
        Public bounds of a value, one step apart.
    keep_words : int
        How many of the 2^64 words tell the truth; more than half of them.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = keep_words / (2^64 - keep_words): Theorem 1 of
    docs/proofs/duchi.md. Words limit it to about 44.4, however large the one that was asked for.

    **Utility.** Unbiased; on [-1, 1] a report has variance B^2 - x^2 with B = (e^epsilon + 1) /
    (e^epsilon - 1). Below epsilon = 0.61 its worst case is the best of the randomizers here; above,
    it is a poor choice, since it never falls below 1 - x^2.

    **Cost.** Two 64-bit words and O(1) time per report of one bit.

    References
    ----------
    J. C. Duchi, M. I. Jordan, M. J. Wainwright, Minimax optimal procedures for locally private
    estimation, JASA 113 (2018). The printed form is Algorithm 1 of N. Wang et al., ICDE 2019.

    Examples
    --------
    >>> import math
    >>> bit = Duchi.for_epsilon(low=-1, high=1, epsilon=math.log(3))
    >>> bit.channel()
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> round(bit.variance(1.0), 9), round(bit.variance(0.0), 9)
    (3.0, 4.0)
    """

    grid: PublicGrid
    keep_words: int

    def __post_init__(self) -> None:
        check_kind("grid", self.grid, PublicGrid)
        if self.steps != 1:
            raise ParameterError("steps", "1: Duchi reports one of the two bounds", self.steps)
        KEEP_WORDS.check(self.keep_words)

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float) -> Self:
        """Make the randomizer that keeps the truth as often as epsilon allows."""
        grid = PublicGrid(low=low, high=high, steps=1)
        window = SlidingWindow.for_epsilon(steps=1, width=1, epsilon=epsilon)
        return cls(grid=grid, keep_words=window.threshold)

    @property
    def _window(self) -> SlidingWindow:
        """A grid of one step and a window of one cell: binary randomized response."""
        return SlidingWindow(steps=1, width=1, threshold=self.keep_words)
