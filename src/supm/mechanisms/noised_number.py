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
from supm._validation import Reals, keep_checked
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
