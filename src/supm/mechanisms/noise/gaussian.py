"""The Gaussian mechanism on floats, for papers that use it and for simulations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from supm._random import RandomSource, check_source, normals
from supm._validation import EPSILON, Reals, keep_checked
from supm.mechanisms.noised_number import AdditiveNumber
from supm.mechanisms.thresholds import least_reading, stated
from supm.privacy import ApproximateDP, GaussianDP, Neighbours

_SIGMA = Reals("sigma", 1e-12, 1e15)
_SENSITIVITY = Reals("sensitivity", 1e-12, 1e12)
_DELTA = Reals("delta", 1e-300, 0.5)
_LINE_SIGMA = Reals("sigma", 1e-104, 1e108)
_LINE_DELTA = Reals("delta", 1e-300, 0.5, "Gaussian noise keeps no promise without a delta.")
_FAR: Final = 40.0
_TAIL: Final = 5.0
# So many cells on either side are finer than a tenth of sigma, however much noise there is.
_TAIL_CELLS: Final = 2000
# Bins that are narrower, in sigmas, are points: differences of areas would lose all digits.
_POINT: Final = 1e-5


@dataclass(frozen=True)
class GaussianNoise:
    """Independent normal numbers of standard deviation sigma, as floats.

    Noise on floats is not exactly private: which floats can come out, and how often, depends on the
    low-order bits of the statistic (Mironov 2012). The promise is that of the normal law on the
    real line. Strict sums use `DiscreteGaussian` on whole numbers instead.

    Parameters
    ----------
    sigma : float
        Standard deviation, 1e-12 to 1e15.

    Notes
    -----
    **Guarantee.** mu-GDP with mu = sensitivity / sigma on the real line: equation 4 of
    docs/proofs/gaussian-composition.md. No smaller mu holds if the sensitivity is attained.

    **Utility.** Mean 0, variance sigma^2.

    **Cost.** One 64-bit word and one inverse of the normal distribution function per number. No
    number is farther out than 8.3 sigma.

    References
    ----------
    B. Balle, Y.-X. Wang, Improving the Gaussian mechanism for differential privacy, ICML 2018.
    I. Mironov, On significance of the least significant bits for differential privacy, CCS 2012.

    Examples
    --------
    >>> noise = GaussianNoise.for_budget(sensitivity=1.0, epsilon=1.0, delta=1e-4)
    >>> round(noise.sigma, 3)
    3.186
    >>> promised = noise.guarantee(1.0, Neighbours.REPLACE_ONE)
    >>> promised.delta_at(1.0) <= 1e-4
    True
    """

    sigma: float

    def __post_init__(self) -> None:
        keep_checked(self, _SIGMA)

    @classmethod
    def for_budget(cls, *, sensitivity: float, epsilon: float, delta: float) -> Self:
        """Make the least noise that keeps (epsilon, delta), by the exact curve."""
        mu = GaussianDP.for_approximate(
            epsilon=EPSILON.check(epsilon),
            delta=_DELTA.check(delta),
            neighbours=Neighbours.REPLACE_ONE,
        ).mu
        needed = Fraction(_SENSITIVITY.check(sensitivity)) / Fraction(least_reading(mu))
        return cls(sigma=math.nextafter(stated(needed), math.inf))

    def guarantee(self, sensitivity: float, neighbours: Neighbours) -> GaussianDP:
        """Return the promise on a statistic of an L2 sensitivity; mu is rounded up."""
        mu = stated(Fraction(_SENSITIVITY.check(sensitivity)) / Fraction(self.sigma))
        return GaussianDP(mu=mu, neighbours=neighbours)

    def draw(self, count: int, source: RandomSource) -> NDArray[np.float64]:
        """Draw independent numbers."""
        return self.sigma * normals(count, source)


@dataclass(frozen=True, kw_only=True)
class ContinuousGaussian(AdditiveNumber):
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
    **Guarantee.** mu-GDP with mu = (high - low) / sigma, stated as the least epsilon at this delta
    by the exact curve (docs/proofs/gaussian-composition.md). Noise on floats is not exactly
    private: see `GaussianNoise`.

    **Utility.** Unbiased, with variance sigma^2.

    **Cost.** A likelihood takes two normal distribution functions for each report and bin.

    References
    ----------
    B. Balle, Y.-X. Wang, Improving the Gaussian mechanism for differential privacy, ICML 2018.

    Examples
    --------
    >>> age = ContinuousGaussian.for_epsilon(low=0, high=100, epsilon=2.0, delta=1e-6)
    >>> age.epsilon <= 2.0, round(age.sigma, 1)
    (True, 223.0)
    """

    name: ClassVar[str] = "gaussian"
    parameters: ClassVar[tuple[str, ...]] = ("sigma", "delta")
    sigma: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_checked(self, _LINE_SIGMA, _LINE_DELTA)

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float, delta: float) -> Self:
        """Describe the least noise that keeps (epsilon, delta)."""
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
        """Return the density of each report given a value that is uniform in each bin."""
        borders = self._borders(edges)
        above = (np.asarray(reports, dtype=np.float64)[:, np.newaxis] - borders) / self.sigma
        from_left, from_right = above[:, :-1], above[:, 1:]
        # In the upper tail the two areas are both near one; mirrored, they are both near zero.
        upper = from_right > 0
        more = ndtr(np.where(upper, -from_right, from_left))
        less = ndtr(np.where(upper, -from_left, from_right))
        return np.asarray((more - less) / np.diff(borders))

    def transition(self, edges: ArrayLike, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a report falls into a cell, given a bin of values."""
        borders = self._borders(edges) / self.sigma
        reach = (borders[0] - _FAR, borders[-1] + _FAR)
        limits = np.clip(np.asarray(cells, dtype=np.float64) / self.sigma, *reach)
        if borders[-1] - borders[0] < _POINT:
            middles = (borders[:-1] + borders[1:]) / 2
            return np.asarray(np.diff(ndtr(limits - middles[:, np.newaxis]), axis=1))
        bends = _normal_bend(limits - borders[:, np.newaxis])
        across = np.diff(bends[:-1] - bends[1:], axis=1)
        return np.asarray(np.maximum(across, 0.0) / np.diff(borders)[:, np.newaxis])

    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return cells over the bins and five sigma to either side, and one each for the rest."""
        borders = self._borders(edges)
        core = self._core(borders, self.sigma)
        count = min(math.ceil(_TAIL * self.sigma / (core[1] - core[0])), _TAIL_CELLS)
        tail = _TAIL * self.sigma * (np.arange(1, count + 1) / count)
        outer = (borders[0] - tail[::-1], core, borders[-1] + tail)
        return np.concatenate(([-np.inf], *outer, [np.inf]))

    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values and add normal noise, as floats."""
        clipped = self._clipped(values)
        noise = GaussianNoise(sigma=1.0).draw(clipped.size, check_source(source))
        return np.asarray(clipped + self.sigma * noise)

    @property
    def noise_terms(self) -> tuple[float, float]:
        """The squared sigma, whatever the value."""
        return self.sigma**2, 0.0


def classical_sigma(*, sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the papers' width: sqrt(2 ln(1.25 / delta)) sensitivity / epsilon.

    Its proof holds for epsilon below 1 only, and it is wider than `GaussianNoise.for_budget` needs
    there. It is kept to repeat published figures.

    Parameters
    ----------
    sensitivity : float
        L2 sensitivity of the statistic.
    epsilon : float
        From 1e-6 to 1e4.
    delta : float
        Above 0, at most one half.

    Returns
    -------
    float
        Sigma, as a float computes it.

    Examples
    --------
    >>> round(classical_sigma(sensitivity=1.0, epsilon=0.05, delta=1e-4), 1)
    86.9
    """
    root = math.sqrt(2 * math.log(1.25 / _DELTA.check(delta)))
    return root * _SENSITIVITY.check(sensitivity) / EPSILON.check(epsilon)


def _normal_bend(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is, integrated twice, the normal density: symmetric, and small where it can."""
    density = np.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(distance * (ndtr(distance) - 0.5) + density)
