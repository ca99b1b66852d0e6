"""Exact privacy curves of noise, computed in another way than the mechanisms compute theirs.

Epsilons of Gaussian noise are stated at delta = 10^-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supm.mechanisms import DiscreteGaussian, DiscreteLaplaceNoise
from supm.privacy import GaussianDP, Neighbours

DELTA: Final = 1e-6


def claimed(mu: float) -> float:
    """Return the epsilon that the exact curve of a mu gives."""
    return GaussianDP(mu=mu, neighbours=Neighbours.REPLACE_ONE).to_approximate(DELTA).epsilon


def least_epsilon(delta: Callable[..., float], *law: Any) -> float:  # noqa: ANN401  what the curve takes
    """Return the least epsilon whose ``delta(*law, epsilon)`` is at most 10^-6, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if delta(*law, middle) <= DELTA else (middle, high)
    return high


def shifted(noise: DiscreteGaussian, shift: int, epsilon: float) -> float:
    """Return the exact delta of two discrete Gaussians, one moved up by the shift."""
    # The first is more than e^epsilon times as likely below this, and nowhere else.
    limit = Fraction(shift, 2) - Fraction(epsilon) * noise.sigma**2 / shift
    last = math.ceil(limit) - 1
    first, second = noise.cumulative([last, last - shift])
    return float(first - math.exp(epsilon) * second)


def listed(law: NDArray[np.float64], shift: int, epsilon: float) -> float:
    """Return the exact delta of a listed law and the same moved up by the shift."""
    return beyond(np.pad(law, (0, shift)), np.pad(law, (shift, 0)), epsilon)


def beyond(first: NDArray[np.float64], second: NDArray[np.float64], epsilon: float) -> float:
    """Return the exact delta of two laws, each listed cell by cell."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def normal(mu: float, epsilon: float) -> float:
    """Return the delta of two normal laws of width 1, mu apart."""
    high, low = stats.norm.cdf([mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu])
    return float(high - math.exp(epsilon) * low)


def largest_ratio(noise: DiscreteLaplaceNoise, shift: int) -> float:
    """Return the largest logarithm of the ratio between a law and the same moved up."""
    numbers = np.arange(-60, 61)
    ratios = noise.probability(numbers) / noise.probability(numbers - shift)
    return float(np.log(ratios).max())
