"""A number that was noised on the real line: what its reports say about the value.

Archives hold such reports: noise off our public grids, with parameters that somebody stated. A
value is known up to a bin of a public partition, and is uniform within it. Everything that an
estimate needs follows from two antiderivatives of the density of a report: the first one gives the
likelihood of a report given a bin, the second one the probability of a cell of reports given a bin.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource
from supm._validation import EPSILON, Reals, keep_checked
from supm.mechanisms.randomizers.numeric import PublicGrid
from supm.mechanisms.randomizers.randomizer import as_array
from supm.privacy import KeepsEpsilon

_HINT: Final = "A bound is public: it was fixed before the records were noised."
LOW = Reals("low", -1e100, 1e100, _HINT)
HIGH = Reals("high", -1e100, 1e100, _HINT)
_NARROWEST: Final = 1e-100
# Of a narrower range, relative to its bounds, floats cannot tell the borders of bins apart.
_FINEST: Final = 1e-10
_NARROW_HINT: Final = "Take low off both bounds and off all values before they are noised."
_MARGIN: Final = 1e-9
# Within a tenth of the noise's own scale, reports say the same about the value.
_PER_SCALE: Final = 10
# Standard deviations beyond which no noise is ever drawn: of Laplace's, one in 10^18 is.
_REACH: Final = 30.0
_WIDTH = Reals("width", 1e-12, 1.0)
_OUTSIDE = Reals("outside", 1e-300, 1.0)
_SLACK: Final = 1e-6
_MOST_STEPS: Final = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class BinnedReports:
    """Reports counted in public cells, and what each bin of values makes of the cells.

    Parameters
    ----------
    counts : ndarray of int, shape (cells,)
        How many reports fell into each cell.
    channel : ndarray of float, shape (bins, cells)
        Probability of each cell for a value that is uniform in a bin; rows sum to one.
    """

    counts: NDArray[np.int64]
    channel: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NoisedNumber(KeepsEpsilon):
    """How a number between public bounds was noised. Frozen; epsilon follows from the parameters.

    Values beyond the bounds were clipped before the noise was added; reports were not clipped after
    it.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    least_variation: ClassVar[float]
    """The least standard deviation of squared noise, in units of its mean."""
    low: float
    high: float

    def __post_init__(self) -> None:
        keep_checked(self, LOW, HIGH)
        if not self.span >= _NARROWEST:
            raise ParameterError("high", f"above low = {self.low:g}", self.high, _HINT)
        least = _FINEST * max(abs(self.low), abs(self.high))
        if self.span < least:
            wanted = f"above low = {self.low:.17g} by at least {least:.3g}"
            raise ParameterError("high", wanted, self.high, _NARROW_HINT)

    @property
    @abstractmethod
    def noise_terms(self) -> tuple[float, float]:
        """Two numbers A, B: a value x gets noise of variance A + B (x - middle)^2."""

    @abstractmethod
    def likelihood(self, reports: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
        """Return the density of each report given a value that is uniform in each bin."""

    @abstractmethod
    def transition(self, edges: ArrayLike, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a report falls into a cell, given a bin of values."""

    @abstractmethod
    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return borders of cells of reports that lose next to nothing about these bins.

        They depend on the mechanism and the bins only, never on the reports.
        """

    @abstractmethod
    def unbiased(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return one number per report whose mean is the clipped true value."""

    @abstractmethod
    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values to the bounds and noise them, as an owner's device would have done."""

    @abstractmethod
    def supported(self, reports: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say of each number whether this mechanism can have reported it."""

    @abstractmethod
    def most_variation(self, noise: float) -> float:
        """Return the most that the standard deviation of squared noise of a variance can be."""

    @property
    def span(self) -> float:
        """Distance from low to high."""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """Half-way between the bounds."""
        return self.low + self.span / 2

    def noise_variance(self, mean: float, variance: float) -> float:
        """Return the mean squared noise of `unbiased` over truths of a mean and a variance.

        It is exact, since the variance of the noise is at most quadratic in the true value.
        """
        fixed, growing = self.noise_terms
        return fixed + growing * (variance + (mean - self.middle) ** 2)

    def true_variance(self, mean: float, variance: float) -> float:
        """Return the variance of the truth, from mean and variance of `unbiased`.

        It lies between 0 and the most that the bounds allow.
        """
        fixed, growing = self.noise_terms
        left = (variance - fixed - growing * (mean - self.middle) ** 2) / (1 + growing)
        return float(np.clip(left, 0.0, self.span**2 / 4))

    def edges(self, bins: int) -> NDArray[np.float64]:
        """Return the borders of equal bins from low to high."""
        places = self.low + self.span * (np.arange(bins + 1) / bins)
        places[-1] = self.high
        return places

    def bin_reports(self, reports: ArrayLike, edges: ArrayLike) -> BinnedReports:
        """Count reports in public cells, so that later steps do not depend on their number."""
        cells = self.report_cells(edges)
        places = np.searchsorted(cells[1:-1], np.asarray(reports, dtype=np.float64), side="right")
        counts = np.bincount(places, minlength=len(cells) - 1)
        return BinnedReports(counts=counts, channel=self.transition(edges, cells))

    def to_form(self) -> dict[str, Any]:
        """Return the description as plain values for JSON."""
        named = {each: getattr(self, each) for each in ("low", "high", *self.parameters)}
        return {"mechanism": self.name, **named}

    @classmethod
    def _keeping(cls, epsilon: float, toward: float, **parameters: float) -> Self:
        """Move the last parameter, float by float, until epsilon is kept."""
        last = list(parameters)[-1]
        made = cls(**parameters)
        while made.epsilon > epsilon:
            parameters[last] = math.nextafter(parameters[last], toward)
            made = cls(**parameters)
        return made

    def _clipped(self, values: ArrayLike) -> NDArray[np.float64]:
        held, numbers = as_array(values), None
        # An error of the conversion may show what it could not convert: it is dropped.
        with suppress(TypeError, ValueError, OverflowError):
            numbers = None if held is None else held.astype(np.float64)
        if numbers is None or numbers.ndim != 1 or np.isnan(numbers).any():
            raise RecordError("values must be a flat array of numbers, none of them missing.")
        return np.clip(numbers, self.low, self.high)

    def _borders(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return the borders of bins, or raise where they do not increase or leave the bounds."""
        borders = np.asarray(edges, dtype=np.float64)
        rising = borders.ndim == 1 and borders.size > 1 and bool((np.diff(borders) > 0).all())
        slack = _MARGIN * self.span
        if not (rising and self.low - slack <= borders[0] and borders[-1] <= self.high + slack):
            wanted = f"increasing numbers in [{self.low:g}, {self.high:g}]"
            raise ParameterError("edges", wanted, f"an array of shape {borders.shape}")
        return borders


class AdditiveNumber(NoisedNumber):
    """Base of the mechanisms whose noise does not depend on the value."""

    # That of normal noise; of noises without bounds the squares of Laplace's vary most.
    least_variation = math.sqrt(2.0)

    def most_variation(self, noise: float) -> float:
        """Return that of Laplace noise."""
        return math.sqrt(5.0) * noise

    def unbiased(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return the reports themselves: the noise has mean zero."""
        return np.asarray(reports, dtype=np.float64)

    def supported(self, reports: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say of each number whether it is at most 30 standard deviations beyond the bounds."""
        reach = _REACH * math.sqrt(self.noise_terms[0])
        return np.asarray((reports >= self.low - reach) & (reports <= self.high + reach))

    def _core(self, borders: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
        """Return cells over the bins: half a bin wide, or a tenth of the scale if that is more."""
        width = max((borders[-1] - borders[0]) / (2 * (borders.size - 1)), scale / _PER_SCALE)
        count = max(1, math.ceil((borders[-1] - borders[0]) / width))
        return np.linspace(borders[0], borders[-1], count + 1)


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
