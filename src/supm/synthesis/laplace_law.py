"""A number that was noised by the Laplace mechanism, as in paper 004."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource
from supm._validation import EPSILON, Reals
from supm.mechanisms import Laplace
from supm.mechanisms.thresholds import stated
from supm.synthesis._additive_law import AdditiveLaw
from supm.synthesis._number_law import HIGH, LOW, check_edges

__all__ = ["LaplaceLaw"]

_STEPS: Final = 1 << 20
_SCALE = Reals("scale", 1e-104, 1e108)
_SERIES: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class LaplaceLaw(AdditiveLaw):
    """The clipped value plus Laplace noise of a scale.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    scale : float
        Scale of the noise, in the unit of the value.

    Notes
    -----
    epsilon = (high - low) / scale. A report beyond the bounds says the same whatever it is, since
    the tails of the law fall at one rate: one cell on either side loses nothing.

    Examples
    --------
    >>> age = LaplaceLaw.for_epsilon(low=0, high=100, epsilon=2.0)
    >>> age.scale, age.epsilon
    (50.0, 2.0)
    >>> age.transition(age.edges(2), [-np.inf, 0, 50, 100, np.inf]).round(4)
    array([[0.3161, 0.3679, 0.1998, 0.1163],
           [0.1163, 0.1998, 0.3679, 0.3161]])
    """

    mechanism: ClassVar[str] = "laplace"
    parameters: ClassVar[tuple[str, ...]] = ("scale",)
    low: float
    high: float
    scale: float

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "scale", _SCALE.check(self.scale))
        EPSILON.check(self.epsilon)

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float) -> Self:
        """Make the law of the least scale that keeps epsilon.

        Parameters
        ----------
        low, high : float
            Public bounds of the value.
        epsilon : float
            From 1e-6 to 1e4.

        Returns
        -------
        LaplaceLaw
        """
        # The bounds are checked before anything is computed from them.
        span = HIGH.check(high) - LOW.check(low)
        bounds = cls(low=low, high=high, scale=max(abs(span), 1e-100))
        scale = bounds.span / EPSILON.check(epsilon)
        law = cls(low=low, high=high, scale=scale)
        while law.epsilon > epsilon:
            scale = math.nextafter(scale, math.inf)
            law = cls(low=low, high=high, scale=scale)
        return law

    @property
    def epsilon(self) -> float:
        """Span divided by the scale, rounded up."""
        return stated(Fraction(self.span) / Fraction(self.scale))

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
        borders = check_edges(self, edges)
        above = (np.asarray(reports, dtype=np.float64)[:, np.newaxis] - borders) / self.scale
        from_left, from_right = above[:, :-1], above[:, 1:]
        widths = np.diff(borders)
        # One of three cases holds: the report lies left of the bin, right of it, or inside.
        distance = np.maximum(np.maximum(-from_left, from_right), 0.0)
        outside = np.exp(-distance) * -np.expm1(-widths / self.scale)
        inside = -np.expm1(-np.maximum(from_left, 0)) - np.expm1(np.minimum(from_right, 0))
        beyond = (from_left <= 0) | (from_right >= 0)
        return np.asarray(np.where(beyond, outside, inside) / (2 * widths))

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
        borders = check_edges(self, edges) / self.scale
        limits = np.asarray(cells, dtype=np.float64) / self.scale
        starts, ends = borders[:-1, np.newaxis], borders[1:, np.newaxis]
        first, last = limits[:-1], limits[1:]
        widths = ends - starts
        distance = np.maximum(np.maximum(first - ends, starts - last), 0.0)
        apart = np.exp(-distance) * np.expm1(-widths) * np.expm1(first - last) / 2
        beside = (first >= ends) | (last <= starts)
        mixed = np.where(beside, apart, self._overlapping(starts, ends, first, last))
        return np.asarray(mixed / widths)

    def _overlapping(
        self,
        starts: NDArray[np.float64],
        ends: NDArray[np.float64],
        first: NDArray[np.float64],
        last: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the integral of the density over bin and cell, in units of the scale."""
        # Noise beyond 700 scales has probability zero in floats.
        lower = np.maximum(first, starts - 700.0)
        upper = np.minimum(last, ends + 700.0)
        outer = _bend(upper - starts) + _bend(lower - ends)
        return np.asarray((outer - _bend(lower - starts) - _bend(upper - ends)) / 2)

    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return cells over the bins, and one for all that lies beyond on either side.

        Parameters
        ----------
        edges : array-like of float
            Borders of the bins.

        Returns
        -------
        ndarray of float
        """
        core = self._core(check_edges(self, edges), self.scale)
        return np.concatenate(([-np.inf], core, [np.inf]))

    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values and noise them exactly, on a public grid of 2^20 steps.

        Parameters
        ----------
        values : array-like of float
            One for each owner.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        ndarray of float
        """
        maker = Laplace.for_epsilon(
            low=self.low, high=self.high, epsilon=self.epsilon, steps=_STEPS
        )
        return maker.decode(maker.randomize(self._clipped(values), source))

    @property
    def noise_terms(self) -> tuple[float, float]:
        """Twice the squared scale, whatever the value."""
        return 2 * self.scale**2, 0.0


def _bend(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x - 1 + e^-x of x = abs(distance): twice integrated, it is the Laplace density."""
    size = np.abs(distance)
    small = np.minimum(size, _SERIES)
    series = small**2 * (
        1 / 2 - small * (1 / 6 - small * (1 / 24 - small * (1 / 120 - small / 720)))
    )
    series += small**7 * (-1 / 5040 + small / 40320)
    return np.where(size < _SERIES, series, np.expm1(-size) + size)
