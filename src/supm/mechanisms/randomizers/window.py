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
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, Reals, keep_checked
from supm.mechanisms.noised_number import NoisedNumber
from supm.mechanisms.randomizers.numeric import (
    STEPS,
    FiniteGridRandomizer,
    NumericRandomizer,
    PublicGrid,
)
from supm.mechanisms.thresholds import WORDS, TwoLevel

_LARGEST = 1 << 22
_WHOLE = Fraction(1)
_MOST_STEPS: Final = 1 << 20
_WIDTH = Reals("width", 1e-12, 1.0)
_OUTSIDE = Reals("outside", 1e-300, 1.0)
_SLACK: Final = 1e-6


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


@dataclass(frozen=True, kw_only=True)
class ContinuousWindow(NoisedNumber):
    """A window of likely reports that moves with the value, on the real line.

    A position is drawn from [-r, 1 + r], where the value lies at x in [0, 1]: uniform within r of
    x, except with a small probability, when it is uniform outside.
    """

    # That of a uniform number, the noise of reports that have bounds.
    least_variation = math.sqrt(0.8)
    parameters: ClassVar[tuple[str, ...]] = ("width", "outside")
    most: ClassVar[float] = 50.0
    stretched: ClassVar[bool] = False
    """Whether reports are positions that were stretched until their mean is the value."""
    width: float
    outside: float

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_checked(self, _WIDTH, _OUTSIDE)
        if not self.slope > 0:
            hint = "At a fair share a report says nothing."
            raise ParameterError("outside", "below 1 / (1 + width)", self.outside, hint)

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float) -> Self:
        """Describe the mechanism's own window at an epsilon of at most ``most``.

        Beyond it, windows are too narrow for floats.
        """
        epsilon = Reals("epsilon", EPSILON.low, cls.most, EPSILON.hint).check(epsilon)
        width = cls.window_at(epsilon)
        # The next float above keeps the epsilon that follows from it at or below the wanted one.
        outside = 1 / (1 + width * math.exp(epsilon))
        return cls._keeping(epsilon, 1.0, low=low, high=high, width=width, outside=outside)

    @staticmethod
    @abstractmethod
    def window_at(epsilon: float) -> float:
        """Return the width of the window that the mechanism takes at an epsilon."""

    @property
    def epsilon(self) -> float:
        """Logarithm of the ratio of the two densities."""
        return math.log1p(-self.outside) - math.log(self.width * self.outside)

    @property
    def slope(self) -> float:
        """By how much the mean position moves when the value moves by one."""
        return 1 - self.outside * (1 + self.width)

    @property
    def noise_terms(self) -> tuple[float, float]:
        """What is left of the variance at the middle, and how it grows with the square."""
        total, slope = 1 + self.width, self.slope
        spread = self.outside * total**3 + slope * self.width**2
        return self.span**2 * spread / (12 * slope**2), self.outside * total / slope

    def unbiased(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return one number per report whose mean is the clipped true value."""
        stretched = 0.5 + (self._positions(reports) - 0.5) / self.slope
        return self.low + self.span * stretched

    def supported(self, reports: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say of each number whether its position lies in [-r, 1 + r]."""
        offset = np.abs(self._positions(reports) - 0.5)
        return np.asarray(offset <= 0.5 + self.width / 2 + _SLACK)

    def most_variation(self, noise: float) -> float:
        """Return that of noise that is rare and as large as reports can be apart."""
        reports = self.report_cells(self.edges(1))
        return math.sqrt(noise) * float(np.ptp(self.unbiased(reports[np.isfinite(reports)])))

    def likelihood(self, reports: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
        """Return the density of each report given a value that is uniform in each bin."""
        borders = (self._borders(edges) - self.low) / self.span
        told = self._positions(reports)[:, np.newaxis]
        reached = np.clip(borders, told - self.width / 2, told + self.width / 2)
        shares = np.diff(reached, axis=1) / np.diff(borders)
        return (self.outside + self._rise * shares) * self._unit

    def transition(self, edges: ArrayLike, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a report falls into a cell, given a bin of values."""
        borders = (self._borders(edges) - self.low) / self.span
        reach = self.width / 2
        limits = np.clip(self._positions(cells), -reach, 1 + reach)
        bends = self._bend(limits - borders[:, np.newaxis])
        across = np.diff(bends[:-1] - bends[1:], axis=1) / np.diff(borders)[:, np.newaxis]
        return np.asarray(self.outside * np.diff(limits) + self._rise * np.maximum(across, 0.0))

    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return cells of half a bin's width over all possible reports."""
        borders = self._borders(edges)
        count = math.ceil(2 * (borders.size - 1) * (1 + self.width))
        places = np.linspace(-self.width / 2, 1 + self.width / 2, count + 1)
        told = self._reports(places)
        return np.concatenate(([-np.inf], told[1:-1], [np.inf]))

    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values and noise them exactly, on a public grid of at most 2^20 steps."""
        from supm.mechanisms.randomizers.piecewise import Piecewise  # noqa: PLC0415  it is built on this

        steps, cells = self._grid()
        grid = PublicGrid(low=self.low, high=self.high, steps=steps)
        maker = Piecewise.with_window(grid, cells, self.epsilon)
        told = maker.outcome(maker.randomize(self._clipped(values), source))
        return self._reports((told + (1 - cells) / 2) / steps)

    def _grid(self) -> tuple[int, int]:
        """Return how many steps the grid has, and how many of them the window."""
        cells = math.floor(self.width * _MOST_STEPS)
        if not cells:
            wanted = f"so small that the window, {self.width:.2g} of the range, has 2^-20 of it"
            hint = "Reports of such a law are read, but not drawn; use laplace instead."
            raise ParameterError("epsilon", wanted, self.epsilon, hint)
        # Steps fit the window, not the other way round: a narrow one would be rounded too far.
        return round(cells / self.width), cells

    @property
    def _rise(self) -> float:
        """Return by how much the density of a position is higher within the window."""
        return self.slope / self.width

    def _bend(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is, integrated twice, one inside the window and zero outside."""
        reach = self.width / 2
        within = np.clip(distance + reach, 0.0, self.width)
        return np.asarray(within**2 / 2 + self.width * np.maximum(distance - reach, 0.0))

    @property
    def _unit(self) -> float:
        """Return by how much positions move when reports move by one."""
        return (self.slope if self.stretched else 1.0) / self.span

    def _positions(self, reports: ArrayLike) -> NDArray[np.float64]:
        return 0.5 + (np.asarray(reports, dtype=np.float64) - self.middle) * self._unit

    def _reports(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.middle + (positions - 0.5) / self._unit
