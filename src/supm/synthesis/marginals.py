"""The distribution of one column: bins of numbers, or classes in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from supm._random import RandomSource
from supm.mechanisms.noise.continuous import uniforms
from supm.synthesis.latent import hermite_coefficients

__all__ = ["BinnedMarginal", "Marginal", "OrderedMarginal"]

# Within a bin the quantile function is a line; so many steps stand for it in Hermite series.
_STEPS: Final = 8


class Marginal(ABC):
    """A distribution that maps uniform numbers to values, with its Hermite series.

    Moments and coefficients are in units of the public range: 0 is its low end, 1 its high end.
    """

    shares: NDArray[np.float64]

    @abstractmethod
    def values(self, levels: NDArray[np.float64]) -> NDArray[Any]:
        """Return the value below which each share of the distribution lies."""

    def draw(self, levels: NDArray[np.float64], source: RandomSource) -> NDArray[Any]:
        """Return the value at each level, up to what the distribution does not tell."""
        del source
        return self.values(levels)

    @property
    @abstractmethod
    def mean(self) -> float:
        """Mean in units of the public range."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance in units of the public range."""

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """Hermite coefficients of the quantile function of a standard normal number."""
        heights, levels = self._jumps()
        return hermite_coefficients(heights, ndtri(np.clip(levels, 0.0, 1.0)))

    @abstractmethod
    def _jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return heights and levels of a step function that stands for the quantiles."""


@dataclass(frozen=True, eq=False)
class BinnedMarginal(Marginal):
    """Shares of equal bins between two bounds; values are uniform within a bin.

    Examples
    --------
    >>> halves = BinnedMarginal(0.0, 4.0, np.array([0.5, 0.0, 0.0, 0.5]))
    >>> halves.values(np.array([0.0, 0.25, 0.75, 1.0]))
    array([0. , 0.5, 3.5, 4. ])
    >>> halves.mean
    0.5
    """

    low: float
    high: float
    shares: NDArray[np.float64]
    tied: bool = False

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value below which each share of the distribution lies."""
        reached, places = self._knots
        return self.low + (self.high - self.low) * np.interp(levels, reached, places)

    def draw(self, levels: NDArray[np.float64], source: RandomSource) -> NDArray[np.float64]:
        """Return a value in the bin at each level, anywhere in it unless the place is tied.

        A drawn place says nothing about other columns. Where a bin holds a spike, a place that goes
        with the level looks like knowledge, and a tree would split there.
        """
        if self.tied:
            return self.values(levels)
        reached = np.cumsum(self.shares)
        bins = np.searchsorted(reached[:-1] / reached[-1], levels, side="right")
        places = (bins + uniforms(levels.size, source)) / self.shares.size
        return np.asarray(self.low + (self.high - self.low) * places)

    @property
    def mean(self) -> float:
        """Mean in units of the public range."""
        return float(self.shares @ self._centres)

    @property
    def variance(self) -> float:
        """Variance in units of the public range."""
        between = self.shares @ np.square(self._centres - self.mean)
        return float(between + 1 / (12 * self.shares.size**2))

    @property
    def _centres(self) -> NDArray[np.float64]:
        return (np.arange(self.shares.size) + 0.5) / self.shares.size

    @cached_property
    def _knots(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return cumulated shares and places, with both ends of each bin that has mass."""
        count = self.shares.size
        after = np.cumsum(self.shares)
        after /= after[-1]
        full = np.flatnonzero(np.diff(after, prepend=0.0) > 0)
        before = np.concatenate(([0.0], after))[full]
        reached = np.column_stack((before, after[full])).ravel()
        places = np.column_stack((full, full + 1)).ravel() / count
        return reached, places

    def _jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = self.shares.size
        inner = (np.arange(_STEPS) + 0.5) / _STEPS
        before = np.concatenate(([0.0], np.cumsum(self.shares)[:-1]))
        levels = before[:, np.newaxis] + self.shares[:, np.newaxis] * inner
        return np.full(count * _STEPS, 1 / (count * _STEPS)), levels.ravel()


@dataclass(frozen=True, eq=False)
class OrderedMarginal(Marginal):
    """Shares of classes that have an order; a value is a place in their list.

    Examples
    --------
    >>> stages = OrderedMarginal(np.array([0.5, 0.25, 0.25]))
    >>> stages.values(np.array([0.1, 0.6, 0.9]))
    array([0, 1, 2])
    >>> stages.mean
    0.375
    """

    shares: NDArray[np.float64]

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class at each level: the marginal's own quantile, never a rounded number."""
        reached = np.cumsum(self.shares)[:-1]
        return np.searchsorted(reached, levels, side="right")

    @property
    def mean(self) -> float:
        """Mean in units of the public range."""
        return float(self.shares @ self._scores)

    @property
    def variance(self) -> float:
        """Variance in units of the public range."""
        return float(self.shares @ np.square(self._scores - self.mean))

    @property
    def _scores(self) -> NDArray[np.float64]:
        return np.arange(self.shares.size) / (self.shares.size - 1)

    def _jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = self.shares.size - 1
        return np.full(count, 1 / count), np.cumsum(self.shares)[:-1]
