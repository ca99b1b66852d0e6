"""The Gaussian mechanism on floats, for papers that use it and for simulations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm._validation import EPSILON, Reals
from supm.mechanisms.noise.continuous import normals
from supm.mechanisms.thresholds import least_reading, stated
from supm.privacy import GaussianDP, Neighbours

__all__ = ["GaussianNoise", "classical_sigma"]

_SIGMA = Reals("sigma", 1e-12, 1e15)
_SENSITIVITY = Reals("sensitivity", 1e-12, 1e12)
_DELTA = Reals("delta", 1e-300, 0.5)


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
        object.__setattr__(self, "sigma", _SIGMA.check(self.sigma))

    @classmethod
    def for_budget(cls, *, sensitivity: float, epsilon: float, delta: float) -> Self:
        """Make the least noise that keeps (epsilon, delta), by the exact curve.

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
        GaussianNoise
            Sigma is rounded up.
        """
        mu = GaussianDP.for_approximate(
            epsilon=EPSILON.check(epsilon),
            delta=_DELTA.check(delta),
            neighbours=Neighbours.REPLACE_ONE,
        ).mu
        needed = Fraction(_SENSITIVITY.check(sensitivity)) / Fraction(least_reading(mu))
        return cls(sigma=math.nextafter(stated(needed), math.inf))

    def guarantee(self, sensitivity: float, neighbours: Neighbours) -> GaussianDP:
        """Return the promise on a statistic of an L2 sensitivity; mu is rounded up.

        Parameters
        ----------
        sensitivity : float
            L2 sensitivity of the statistic under the relation.
        neighbours : Neighbours
            The relation that the sensitivity is about.

        Returns
        -------
        GaussianDP
            The promise of normal noise on the real line.
        """
        mu = stated(Fraction(_SENSITIVITY.check(sensitivity)) / Fraction(self.sigma))
        return GaussianDP(mu=mu, neighbours=neighbours)

    def draw(self, count: int, source: RandomSource) -> NDArray[np.float64]:
        """Draw independent numbers.

        Parameters
        ----------
        count : int
            How many.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        ndarray of float
            One number for each.
        """
        return self.sigma * normals(count, source)


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
