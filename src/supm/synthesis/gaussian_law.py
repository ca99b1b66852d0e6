"""A number that was noised by the Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from supm._random import RandomSource, check_source
from supm._validation import Reals
from supm.mechanisms import GaussianNoise
from supm.mechanisms.thresholds import stated
from supm.privacy import ApproximateDP, GaussianDP, Neighbours
from supm.synthesis._additive_law import AdditiveLaw
from supm.synthesis._number_law import check_edges

__all__ = ["GaussianLaw"]

_SIGMA = Reals("sigma", 1e-104, 1e108)
_DELTA = Reals("delta", 1e-300, 0.5, "Gaussian noise keeps no promise without a delta.")
_FAR: Final = 40.0
_TAIL: Final = 5.0
# So many cells on either side are finer than a tenth of sigma, however much noise there is.
_TAIL_CELLS: Final = 2000
# Bins that are narrower, in sigmas, are points: differences of areas would lose all digits.
_POINT: Final = 1e-5


@dataclass(frozen=True, kw_only=True)
class GaussianLaw(AdditiveLaw):
    """The clipped value plus normal noise.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    sigma : float
        Standard deviation of the noise, in the unit of the value.
    delta : float
        With which the epsilon is stated: normal noise keeps no promise without one.

    Notes
    -----
    mu-GDP with mu = (high - low) / sigma, stated as the least epsilon at this delta by the exact
    curve (docs/proofs/gaussian-composition.md).

    Examples
    --------
    >>> age = GaussianLaw.for_epsilon(low=0, high=100, epsilon=2.0, delta=1e-6)
    >>> age.epsilon <= 2.0, round(age.sigma, 1)
    (True, 223.0)
    """

    mechanism: ClassVar[str] = "gaussian"
    parameters: ClassVar[tuple[str, ...]] = ("sigma", "delta")
    low: float
    high: float
    sigma: float
    delta: float

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "sigma", _SIGMA.check(self.sigma))
        object.__setattr__(self, "delta", _DELTA.check(self.delta))

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float, delta: float) -> Self:
        """Make the law of the least noise that keeps (epsilon, delta).

        Parameters
        ----------
        low, high : float
            Public bounds of the value.
        epsilon, delta : float
            The promise of one report.

        Returns
        -------
        GaussianLaw
        """
        noise = GaussianNoise.for_budget(sensitivity=1.0, epsilon=epsilon, delta=delta)
        bounds = cls(low=low, high=high, sigma=1.0, delta=delta)
        sigma = math.nextafter(noise.sigma * bounds.span, math.inf)
        return cls(low=low, high=high, sigma=sigma, delta=delta)

    @cached_property
    def guarantee(self) -> ApproximateDP:
        """The promise of one report, at the delta of the law."""
        mu = stated(Fraction(self.span) / Fraction(self.sigma))
        return GaussianDP(mu=mu, neighbours=Neighbours.ANY_RECORDS).to_approximate(self.delta)

    @property
    def epsilon(self) -> float:
        """The least epsilon at the law's delta, rounded up."""
        return self.guarantee.epsilon

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
        above = (np.asarray(reports, dtype=np.float64)[:, np.newaxis] - borders) / self.sigma
        from_left, from_right = above[:, :-1], above[:, 1:]
        # In the upper tail the two areas are both near one; mirrored, they are both near zero.
        upper = from_right > 0
        more = ndtr(np.where(upper, -from_right, from_left))
        less = ndtr(np.where(upper, -from_left, from_right))
        return np.asarray((more - less) / np.diff(borders))

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
        borders = check_edges(self, edges) / self.sigma
        reach = (borders[0] - _FAR, borders[-1] + _FAR)
        limits = np.clip(np.asarray(cells, dtype=np.float64) / self.sigma, *reach)
        if borders[-1] - borders[0] < _POINT:
            middles = (borders[:-1] + borders[1:]) / 2
            return np.asarray(np.diff(ndtr(limits - middles[:, np.newaxis]), axis=1))
        bends = _normal_bend(limits - borders[:, np.newaxis])
        across = np.diff(bends[:-1] - bends[1:], axis=1)
        return np.asarray(np.maximum(across, 0.0) / np.diff(borders)[:, np.newaxis])

    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return cells over the bins and five sigma to either side, and one each for the rest.

        Parameters
        ----------
        edges : array-like of float
            Borders of the bins.

        Returns
        -------
        ndarray of float
        """
        borders = check_edges(self, edges)
        core = self._core(borders, self.sigma)
        count = min(math.ceil(_TAIL * self.sigma / (core[1] - core[0])), _TAIL_CELLS)
        tail = _TAIL * self.sigma * (np.arange(1, count + 1) / count)
        outer = (borders[0] - tail[::-1], core, borders[-1] + tail)
        return np.concatenate(([-np.inf], *outer, [np.inf]))

    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values and add normal noise, as floats.

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
        clipped = self._clipped(values)
        noise = GaussianNoise(sigma=1.0).draw(clipped.size, check_source(source))
        return np.asarray(clipped + self.sigma * noise)

    @property
    def noise_terms(self) -> tuple[float, float]:
        """The squared sigma, whatever the value."""
        return self.sigma**2, 0.0


def _normal_bend(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is, integrated twice, the normal density: symmetric, and small where it can."""
    density = np.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(distance * (ndtr(distance) - 0.5) + density)
