"""The hybrid mechanism: piecewise or Duchi's, by a coin that does not see the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm._validation import EPSILON, Integers, check_kind
from supm.mechanisms.randomizers.duchi import KEEP_WORDS, Duchi
from supm.mechanisms.randomizers.numeric import FiniteGridRandomizer, NumericRandomizer, PublicGrid
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.window import SlidingWindow, WindowShapes
from supm.mechanisms.thresholds import WORDS

SWITCH: Final = 0.6093524930273094
"""Up to this epsilon the hybrid is Duchi's mechanism: 2 log(E) where 3 E^3 - E^2 + E = 7."""

_PIECEWISE_WORDS = Integers("piecewise_words", 0, WORDS - 1)
_BITS = 2


@dataclass(frozen=True, kw_only=True)
class Hybrid(FiniteGridRandomizer, NumericRandomizer):
    """Report through `Piecewise` with a fixed probability, else through `Duchi`.

    Seeing a report changes the odds between any two values by a factor of at most e^epsilon.
    Reports 0 and 1 are Duchi's; the cells of the piecewise mechanism follow from 2 on.

    Parameters
    ----------
    grid : PublicGrid
        Public bounds of a value and the steps between them.
    window : int
        Number of likely cells of the piecewise mechanism, 1 to steps.
    threshold : int
        How many of the 2^64 words fall inside the window.
    keep_words : int
        How many of the 2^64 words tell the truth in Duchi's mechanism.
    piecewise_words : int
        How many of the 2^64 words choose the piecewise mechanism; 0 leaves Duchi's alone.

    Notes
    -----
    **Guarantee.** epsilon-LDP with the larger of the epsilons of the mechanisms that can be chosen:
    Theorem 1 of docs/proofs/hybrid.md.

    **Utility.** Unbiased. `for_epsilon` takes the paper's window and the piecewise mechanism with
    probability 1 - e^(-epsilon/2): with many steps the variance is then the same for all values and
    the worst case below that of either mechanism alone. `optimised` takes the window for which that
    variance is least: it falls by more than a quarter at epsilon = 4, by three quarters at 10.

    **Cost.** Three to four 64-bit words and O(1) time per report of log2(steps + window + 2) bits.

    References
    ----------
    N. Wang et al., Collecting and analyzing multidimensional data with local differential privacy,
    ICDE 2019, section III-C.

    Examples
    --------
    >>> sensor = Hybrid.for_epsilon(low=-1, high=1, epsilon=2.0)
    >>> round(sensor.variance(0.0), 2), round(sensor.variance(1.0), 2)
    (1.04, 1.04)
    >>> Hybrid.for_epsilon(low=-1, high=1, epsilon=0.5).outcomes
    2
    """

    grid: PublicGrid
    window: int
    threshold: int
    keep_words: int
    piecewise_words: int

    def __post_init__(self) -> None:
        check_kind("grid", self.grid, PublicGrid)
        KEEP_WORDS.check(self.keep_words)
        _PIECEWISE_WORDS.check(self.piecewise_words)
        _ = self.piecewise

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float, steps: int = 1024) -> Self:
        """Make the randomizer that has the paper's window and mixture and keeps epsilon."""
        piecewise = Piecewise.for_epsilon(low=low, high=high, epsilon=epsilon, steps=steps)
        duchi = Duchi.for_epsilon(low=low, high=high, epsilon=epsilon)
        share = -math.expm1(-EPSILON.check(epsilon) / 2) if epsilon > SWITCH else 0.0
        return cls._mixed(piecewise, duchi, share)

    @classmethod
    def optimised(cls, *, low: float, high: float, epsilon: float, steps: int = 1024) -> Self:
        """Make the randomizer that has the least worst-case variance and keeps epsilon."""
        grid = PublicGrid(low=low, high=high, steps=steps)
        duchi = Duchi.for_epsilon(low=low, high=high, epsilon=epsilon)
        shapes = WindowShapes(steps=grid.steps, epsilon=epsilon)
        # Mixed by a share that is the slope, all points have one variance: equation 3 of the proof.
        alone = grid.steps**2 * duchi.variance(duchi.low + duchi.grid.span / 2) / grid.span**2
        mixed = shapes.slope * shapes.fixed + shapes.lost * alone
        piecewise = Piecewise.with_window(grid, 1 + int(mixed.argmin()), epsilon)
        return cls._mixed(piecewise, duchi, piecewise.slope if mixed.min() < alone else 0.0)

    @classmethod
    def _mixed(cls, piecewise: Piecewise, duchi: Duchi, share: float) -> Self:
        return cls(
            grid=piecewise.grid,
            window=piecewise.window,
            threshold=piecewise.threshold,
            keep_words=duchi.keep_words,
            piecewise_words=min(int(share * WORDS), WORDS - 1),
        )

    @property
    def piecewise(self) -> Piecewise:
        """The mechanism of reports from 2 on."""
        return Piecewise(grid=self.grid, window=self.window, threshold=self.threshold)

    @property
    def duchi(self) -> Duchi:
        """The mechanism of reports 0 and 1."""
        bounds = PublicGrid(low=self.low, high=self.high, steps=1)
        return Duchi(grid=bounds, keep_words=self.keep_words)

    @property
    def epsilon(self) -> float:
        """The larger epsilon of the mechanisms that can be chosen."""
        if self.piecewise_words == 0:
            return self.duchi.epsilon
        return max(self.duchi.epsilon, self.piecewise.epsilon)

    @property
    def outcomes(self) -> int:
        """Duchi's two, and the cells if the piecewise mechanism can be chosen."""
        return _BITS + (self.piecewise.outcomes if self.piecewise_words else 0)

    def exact_channel(self) -> list[list[Fraction]]:
        """Return, for each grid point, Duchi's two probabilities and then those of the cells."""
        share = Fraction(self.piecewise_words, WORDS)
        cells = self._cells.exact_channel(share) if share else [[]] * (self.steps + 1)
        low, high = self._ends.exact_channel(1 - share)
        return [
            _between(low, high, Fraction(held, self.steps)) + row for held, row in enumerate(cells)
        ]

    def channel(self) -> NDArray[np.float64]:
        """Return the exact channel as floats."""
        share = Fraction(self.piecewise_words, WORDS)
        up = np.arange(self.steps + 1)[:, np.newaxis] / self.steps
        low, high = self._ends.channel()
        bits = float(1 - share) * ((1 - up) * low + up * high)
        return np.hstack((bits, float(share) * self._cells.channel())) if share else bits

    def draw(self, indices: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Randomise one chunk of grid points."""
        choice = source.words(len(indices)) < np.uint64(self.piecewise_words)
        told = np.empty_like(indices)
        cells, bits = np.flatnonzero(choice), np.flatnonzero(~choice)
        told[cells] = _BITS + self._cells.draw(indices[cells], source)
        # The second rounding, from the grid to its ends, is exact: steps outcomes, all alike.
        ends = source.below(self.steps, bits.size) < indices[bits].view(np.uint64)
        told[bits] = self._ends.draw(ends.astype(np.int64), source)
        return told

    def positions(self, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, in steps above low, the unbiased reading of each report."""
        return np.where(
            symbols < _BITS,
            self.steps * self._ends.positions(symbols),
            self._cells.positions(symbols - _BITS),
        )

    def spread(self, position: float) -> float:
        """Both mechanisms are unbiased, so the variances mix as the mechanisms do."""
        share = self.piecewise_words / WORDS
        ends = self.steps**2 * self._ends.spread(position / self.steps)
        return share * self._cells.spread(position) + (1 - share) * ends

    @property
    def _cells(self) -> SlidingWindow:
        return SlidingWindow(steps=self.steps, width=self.window, threshold=self.threshold)

    @property
    def _ends(self) -> SlidingWindow:
        return SlidingWindow(steps=1, width=1, threshold=self.keep_words)


def _between(low: list[Fraction], high: list[Fraction], up: Fraction) -> list[Fraction]:
    """Mix the rows of the two bounds as the rounding of a grid point to a bound does."""
    return [(1 - up) * first + up * second for first, second in zip(low, high, strict=True)]
