"""A number reported from a window around it, or from elsewhere: piecewise and square wave.

Both draw a position from [-r, 1 + r], where the value lies at x in [0, 1]: uniform within r of x,
except with a small probability, when it is uniform outside. They differ in the width of the window
and in the unit of the report: the square wave reports the position, the piecewise mechanism
stretches it so that its mean is the value.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Reals
from supm.mechanisms import Piecewise, PublicGrid
from supm.mechanisms.randomizers.square_wave import half_width
from supm.synthesis._number_law import NumberLaw, check_edges

__all__ = ["PiecewiseLaw", "SquareWaveLaw", "WindowLaw"]

_MOST_STEPS: Final = 1 << 20
_WIDTH = Reals("width", 1e-12, 1.0)
_OUTSIDE = Reals("outside", 1e-300, 1.0)
_SLACK: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class WindowLaw(NumberLaw):
    """Base of the two: a window of likely reports that moves with the value.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    width : float
        Width of the window as a share of the span.
    outside : float
        Probability of a report outside of the window.
    """

    parameters: ClassVar[tuple[str, ...]] = ("width", "outside")
    _most: ClassVar[float] = 50.0
    low: float
    high: float
    width: float
    outside: float

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "width", _WIDTH.check(self.width))
        object.__setattr__(self, "outside", _OUTSIDE.check(self.outside))
        if not self.slope > 0:
            hint = "At a fair share a report says nothing."
            raise ParameterError("outside", "below 1 / (1 + width)", self.outside, hint)

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float) -> Self:
        """Make the law of the mechanism's own window at an epsilon.

        Parameters
        ----------
        low, high : float
            Public bounds of the value.
        epsilon : float
            From 1e-6 to 50, or to 31 for the square wave: beyond, windows are too narrow.

        Returns
        -------
        WindowLaw
        """
        epsilon = Reals("epsilon", EPSILON.low, cls._most, EPSILON.hint).check(epsilon)
        width = cls._width(epsilon)
        # The next float above keeps the epsilon that follows from it at or below the wanted one.
        outside = 1 / (1 + width * math.exp(epsilon))
        law = cls(low=low, high=high, width=width, outside=outside)
        while law.epsilon > epsilon:
            outside = math.nextafter(outside, 1.0)
            law = cls(low=low, high=high, width=width, outside=outside)
        return law

    @staticmethod
    @abstractmethod
    def _width(epsilon: float) -> float:
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
        """Return one number per report whose mean is the clipped true value.

        Parameters
        ----------
        reports : array-like of float
            What was stored.

        Returns
        -------
        ndarray of float
        """
        stretched = 0.5 + (self._positions(reports) - 0.5) / self.slope
        return self.low + self.span * stretched

    def supported(self, reports: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say of each number whether its position lies in [-r, 1 + r].

        Parameters
        ----------
        reports : ndarray of float
            What was stored.

        Returns
        -------
        ndarray of bool
        """
        offset = np.abs(self._positions(reports) - 0.5)
        return np.asarray(offset <= 0.5 + self.width / 2 + _SLACK)

    def likelihood(self, reports: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
        """Return the density of each report given a value that is uniform in each bin.

        Parameters
        ----------
        reports : array-like of float, shape (m,)
            What was stored.
        edges : array-like of float, shape (b + 1,)
            Increasing borders of the bins, within [low, high].

        Returns
        -------
        ndarray of float, shape (m, b)
        """
        borders = (check_edges(self, edges) - self.low) / self.span
        told = self._positions(reports)[:, np.newaxis]
        reached = np.clip(borders, told - self.width / 2, told + self.width / 2)
        shares = np.diff(reached, axis=1) / np.diff(borders)
        return (self.outside + self._rise * shares) * self._unit

    def transition(self, edges: ArrayLike, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a report falls into a cell, given a bin of values.

        Parameters
        ----------
        edges : array-like of float, shape (b + 1,)
            Increasing borders of the bins, within [low, high].
        cells : array-like of float, shape (c + 1,)
            Increasing borders of the cells; the first and last may be infinite.

        Returns
        -------
        ndarray of float, shape (b, c)
        """
        borders = (check_edges(self, edges) - self.low) / self.span
        reach = self.width / 2
        limits = np.clip(self._positions(cells), -reach, 1 + reach)
        bends = self._bend(limits - borders[:, np.newaxis])
        across = np.diff(bends[:-1] - bends[1:], axis=1) / np.diff(borders)[:, np.newaxis]
        return np.asarray(self.outside * np.diff(limits) + self._rise * np.maximum(across, 0.0))

    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return cells of half a bin's width over all possible reports.

        Parameters
        ----------
        edges : array-like of float
            Borders of the bins.

        Returns
        -------
        ndarray of float
        """
        borders = check_edges(self, edges)
        count = math.ceil(2 * (borders.size - 1) * (1 + self.width))
        places = np.linspace(-self.width / 2, 1 + self.width / 2, count + 1)
        told = self._reports(places)
        return np.concatenate(([-np.inf], told[1:-1], [np.inf]))

    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values and noise them exactly, on a public grid of at most 2^20 steps.

        Parameters
        ----------
        values : array-like of float
            One for each owner.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        ndarray of float

        Raises
        ------
        ParameterError
            If the window is narrower than a step: above an epsilon of about 16.6 for the square
            wave, and of 27.7 for the piecewise mechanism.
        """
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
        return 1 / self.span

    def _positions(self, reports: ArrayLike) -> NDArray[np.float64]:
        return 0.5 + (np.asarray(reports, dtype=np.float64) - self._middle) * self._unit

    def _reports(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._middle + (positions - 0.5) / self._unit


@dataclass(frozen=True, kw_only=True)
class PiecewiseLaw(WindowLaw):
    """The piecewise mechanism, whose reports are unbiased.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    width : float
        Width of the window as a share of the span, before positions are stretched.
    outside : float
        Probability of a report outside of the window.

    Notes
    -----
    `for_epsilon` is Algorithm 2 of N. Wang et al. (ICDE 2019): a report in [-C, C] for values in
    [-1, 1], moved to the unit of the column.

    Examples
    --------
    >>> age = PiecewiseLaw.for_epsilon(low=-1, high=1, epsilon=2 * math.log(2))
    >>> round(age.width, 3), round(float(age.report_cells([-1, 1])[2]), 3)
    (0.5, 1.0)
    >>> round(age.noise_variance(0.0, 0.0), 6)
    1.666667
    """

    mechanism: ClassVar[str] = "piecewise"

    @staticmethod
    def _width(epsilon: float) -> float:
        return math.exp(-epsilon / 2)

    @property
    def _unit(self) -> float:
        return self.slope / self.span


@dataclass(frozen=True, kw_only=True)
class SquareWaveLaw(WindowLaw):
    """The square-wave mechanism, whose reports are positions.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    width : float
        Width of the window as a share of the span.
    outside : float
        Probability of a report outside of the window.

    Notes
    -----
    `for_epsilon` is the mechanism of Z. Li et al. (SIGMOD 2020): a report in [-b, 1 + b] for values
    in [0, 1], moved to the unit of the column.

    Examples
    --------
    >>> age = SquareWaveLaw.for_epsilon(low=0, high=1, epsilon=1.0)
    >>> round(age.width / 2, 6), round(age.epsilon, 9)
    (0.256083, 1.0)
    """

    mechanism: ClassVar[str] = "square_wave"
    _most: ClassVar[float] = 31.0

    @staticmethod
    def _width(epsilon: float) -> float:
        return 2 * half_width(epsilon)
