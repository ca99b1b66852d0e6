"""Discrete Laplace noise for counts and vectors of whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, check_source
from supm._validation import EPSILON, Integers
from supm.mechanisms._discrete_laplace import DiscreteLaplace
from supm.mechanisms._words import least_reading, stated

__all__ = ["DiscreteLaplaceNoise"]

_SENSITIVITY = Integers("sensitivity", 1, 1 << 40)
_COUNT = Integers("count", 0, 1 << 40)
_FINEST: Final = 1 << 47


@dataclass(frozen=True)
class DiscreteLaplaceNoise:
    """Whole numbers n with probability proportional to exp(-abs(n) / scale).

    Noise for counts that are to have a pure epsilon, drawn with whole numbers only.

    Parameters
    ----------
    scale : Fraction
        Positive, in units of the statistic.

    Notes
    -----
    **Guarantee.** epsilon = sensitivity / scale, pure, on whole numbers of that L1 sensitivity:
    Theorem 1 of docs/proofs/discrete-laplace.md gives the law, and its ratio between two statistics
    is at most exp(their distance / scale). Noise is cut at 2^14 scales, which happens with
    probability below e^-16383.

    **Utility.** Mean 0, variance 2 q / (1 - q)^2 with q = exp(-1 / scale).

    **Cost.** About ten 64-bit words and O(1) time per number.

    References
    ----------
    C. Canonne, G. Kamath, T. Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020.

    Examples
    --------
    >>> counts = DiscreteLaplaceNoise.for_epsilon(sensitivity=2, epsilon=0.5)
    >>> counts.scale, counts.epsilon(2)
    (Fraction(4, 1), 0.5)
    """

    scale: Fraction

    def __post_init__(self) -> None:
        DiscreteLaplace(self.scale)

    @classmethod
    def for_epsilon(cls, *, sensitivity: int, epsilon: float) -> Self:
        """Make the least noise that keeps epsilon on an L1 sensitivity; its scale is rounded up."""
        budget = Fraction(least_reading(EPSILON.check(epsilon)))
        exact = _SENSITIVITY.check(sensitivity) / budget
        parts = max(1, int(_FINEST / exact))
        return cls(scale=Fraction(math.ceil(exact * parts), parts))

    def epsilon(self, sensitivity: int) -> float:
        """Return the pure epsilon on an L1 sensitivity, rounded up."""
        return stated(_SENSITIVITY.check(sensitivity) / self.scale)

    @property
    def variance(self) -> float:
        """Variance of one draw."""
        return DiscreteLaplace(self.scale).variance

    def probability(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number."""
        return DiscreteLaplace(self.scale).probability(np.asarray(noise, dtype=np.int64))

    def cumulative(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number or a lower one."""
        return DiscreteLaplace(self.scale).cumulative(np.asarray(noise, dtype=np.int64))

    def draw(self, count: int, source: RandomSource) -> NDArray[np.int64]:
        """Draw independent numbers."""
        return DiscreteLaplace(self.scale).draw(_COUNT.check(count), check_source(source))
