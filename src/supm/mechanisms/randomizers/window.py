"""A window of likely cells that slides with the input: piecewise, square wave and Duchi.

Input i of 0 … steps makes the cells i … i + width - 1 likely and the ``steps`` other cells
unlikely. There are steps + width cells, so each window fits. The mean of the reported cell is
affine in i, which gives an exact unbiased reading; see docs/proofs/piecewise.md.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers
from supm.mechanisms.randomizers.numeric import STEPS, FiniteGridRandomizer, NumericRandomizer
from supm.mechanisms.thresholds import WORDS, TwoLevel

_LARGEST = 1 << 22
_WHOLE = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class SlidingWindow:
    """The two-level distribution over cells whose likely part starts at the input.

    Examples
    --------
    >>> window = SlidingWindow.for_epsilon(steps=2, width=1, epsilon=np.log(2))
    >>> window.channel()
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """

    steps: int
    width: int
    threshold: int

    def __post_init__(self) -> None:
        Integers("window", 1, STEPS.check(self.steps)).check(self.width)
        TwoLevel(inside=self.width, outside=self.steps, threshold=self.threshold)

    @classmethod
    def for_epsilon(cls, *, steps: int, width: int, epsilon: float) -> Self:
        """Make the window that is as likely as epsilon allows."""
        cells = TwoLevel.for_epsilon(inside=width, outside=steps, epsilon=epsilon)
        return cls(steps=steps, width=width, threshold=cells.threshold)

    @property
    def levels(self) -> TwoLevel:
        """The two levels of probability."""
        return TwoLevel(inside=self.width, outside=self.steps, threshold=self.threshold)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.steps + self.width

    @property
    def slope(self) -> Fraction:
        """By how many cells the mean report moves when the input moves by one."""
        inside = Fraction(self.threshold, WORDS)
        return inside - self.width * self.levels.outside_probability

    def draw(self, inputs: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Draw one cell per input: count from the input on, around the end."""
        if not inputs.size:
            return inputs
        told = self.levels.draw(len(inputs), source)
        told += inputs.view(np.uint64)
        # Below the number of cells the difference wraps to a huge number.
        np.minimum(told, told - np.uint64(self.cells), out=told)
        return told.view(np.int64)

    def positions(self, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the unbiased reading of each cell, on the scale of the inputs."""
        offset = symbols.astype(np.float64) - (self.cells - 1) / 2
        return self.steps / 2 + offset / float(self.slope)

    def spread(self, position: float) -> float:
        """Return the exact variance of that reading, for a position rounded at random."""
        slope, outside = self.slope, self.levels.outside_probability
        everywhere = outside * self.cells * (self.cells**2 - 1)
        within = slope * (self.width**2 - 1)
        fraction = position - np.floor(position)
        offset = position - self.steps / 2
        # The form without a difference of large numbers: equation 7 of the proof.
        return float(
            float((everywhere + within) / (12 * slope**2))
            + offset**2 * float((1 - slope) / slope)
            + fraction * (1 - fraction) / float(slope)
        )

    def exact_channel(self, share: Fraction = _WHOLE) -> list[list[Fraction]]:
        """Return one row per input, for a mechanism that uses this window in a share of cases."""
        inside = share * self.levels.inside_probability
        outside = share * self.levels.outside_probability
        return [
            [outside] * held + [inside] * self.width + [outside] * (self.steps - held)
            for held in range(self.steps + 1)
        ]

    def channel(self) -> NDArray[np.float64]:
        """Return the same as floats."""
        rows = self.steps + 1
        if rows * self.cells > _LARGEST:
            raise ParameterError("channel", "of at most 2^22 entries", f"{rows} x {self.cells}")
        ahead = np.arange(self.cells) - np.arange(rows)[:, np.newaxis]
        inside, outside = self.levels.inside_probability, self.levels.outside_probability
        return np.where((ahead >= 0) & (ahead < self.width), float(inside), float(outside))


class WindowShapes:
    """What the variance is made of, for all widths of a window at once and with ideal thresholds.

    It serves to choose a width; what is promised and stated comes from `SlidingWindow`.
    """

    def __init__(self, *, steps: int, epsilon: float) -> None:
        decay = math.exp(-EPSILON.check(epsilon))
        widths = np.arange(1, steps + 1, dtype=np.float64)
        cells, total = steps + widths, widths + steps * decay
        everywhere = decay / total * cells * (cells**2 - 1)
        self.steps = steps
        self.slope = -math.expm1(-epsilon) * widths / total
        self.lost = decay * cells / total  # 1 - slope, where a difference would lose all digits
        self.fixed = (everywhere + self.slope * (widths**2 - 1)) / (12 * self.slope**2)


class WindowRandomizer(FiniteGridRandomizer):
    """Base of the randomizers that report a cell near the owner's grid point."""

    @property
    @abstractmethod
    def _window(self) -> SlidingWindow:
        """The window that slides over the grid."""

    @property
    def epsilon(self) -> float:
        """Logarithm of the ratio of an inside to an outside cell, rounded up."""
        return self._window.levels.epsilon

    @property
    def outcomes(self) -> int:
        """As many as cells: the steps of the grid and the width of the window."""
        return self._window.cells

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the probabilities of the cells for each grid point."""
        return self._window.exact_channel()

    def channel(self) -> NDArray[np.float64]:
        """Return the exact channel as floats."""
        return self._window.channel()

    def draw(self, indices: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Randomise one chunk of grid points."""
        return self._window.draw(indices, source)


class UnbiasedWindow(WindowRandomizer, NumericRandomizer):
    """Base of those whose every report can be read as an unbiased value."""

    def positions(self, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, in steps above low, the unbiased reading of each report."""
        return self._window.positions(symbols)

    def spread(self, position: float) -> float:
        """Return, in squared steps, the variance of that reading."""
        return self._window.spread(position)
