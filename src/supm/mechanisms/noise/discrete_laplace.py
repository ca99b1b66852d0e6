"""Discrete Laplace noise for counts and vectors of whole numbers: exact, with whole numbers only.

The sampler is Algorithm 2 of Canonne, Kamath and Steinke (2020) on whole arrays: a coin of
probability exp(-a/b) is made from coins of probability a / (b k), k = 1, 2, …, and those from
uniform whole numbers. No float is involved, so no rounding can change a probability
(docs/proofs/discrete-laplace.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import EPSILON, Integers
from supm.mechanisms.noise.discrete_gaussian import decayed, runs, signed
from supm.mechanisms.thresholds import least_reading, stated

FARTHEST: Final = 1 << 14
"""Noise of more than so many scales is cut there; it has probability below e^-16383."""

_SENSITIVITY = Integers("sensitivity", 1, 1 << 40)
_COUNT = Integers("count", 0, 1 << 40)
_FINEST: Final = 1 << 47
_NUMERATOR = Integers("numerator of scale", 1, 1 << 48)
_DENOMINATOR = Integers("denominator of scale", 1, 1 << 62)
# A little above 1 / (1 - 1/e): one batch of candidates is nearly always enough.
_CANDIDATES: Final = 1.62
_SPARE: Final = 64


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
    >>> counts.probability([-1, 0, 1]).round(4)
    array([0.0968, 0.1244, 0.0968])
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Fraction):
            raise ParameterError("scale", "a Fraction", self.scale)
        _NUMERATOR.check(self.scale.numerator)
        _DENOMINATOR.check(self.scale.denominator)

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
        return float(2 * np.exp(-self._rate) / np.expm1(-self._rate) ** 2)

    def probability(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number."""
        numbers = np.asarray(noise, dtype=np.int64)
        return np.asarray(np.tanh(self._rate / 2) * np.exp(-self._rate * np.abs(numbers)))

    def cumulative(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number or a lower one."""
        numbers = np.asarray(noise, dtype=np.int64)
        tail = self._tail(np.where(numbers < 0, -numbers, numbers + 1))
        return np.where(numbers < 0, tail, 1 - tail)

    def survival(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number or a higher one."""
        return self.cumulative(-np.asarray(noise, dtype=np.int64))

    def draw(self, count: int, source: RandomSource) -> NDArray[np.int64]:
        """Draw independent numbers."""
        check_source(source)
        return _first(
            _COUNT.check(count), lambda size: signed(self._magnitudes(size, source), source)
        )

    @property
    def _rate(self) -> float:
        return float(1 / self.scale)

    def _tail(self, beyond: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of a number at least so far above zero."""
        return np.asarray(np.exp(-self._rate * beyond) / (1 + np.exp(-self._rate)))

    def _magnitudes(self, size: int, source: RandomSource) -> NDArray[np.int64]:
        """Draw numbers k >= 0 with probability proportional to exp(-k / scale)."""
        unit = self.scale.numerator
        rest = _first(size, lambda candidates: _decayed(unit, candidates, source))
        whole = np.minimum(_runs(size, source), FARTHEST)
        whole *= unit
        whole += rest
        whole //= self.scale.denominator
        return whole


def _first(count: int, batch: Callable[[int], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the first ``count`` accepted numbers; ``batch(size)`` gives at most size of them."""
    accepted = batch(count + _SPARE)
    while len(accepted) < count:
        more = batch(count - len(accepted) + _SPARE)
        accepted = np.concatenate((accepted, more))
    return accepted[:count]


def _decayed(unit: int, size: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw numbers u of 0 … unit - 1, each kept with probability exp(-u / unit)."""
    drawn = source.below(unit, round(size * _CANDIDATES))
    return drawn[decayed(drawn, unit, source)].view(np.int64)


def _runs(count: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw how often a coin of probability 1/e falls heads before it falls tails."""
    return runs(count, _CANDIDATES, lambda size: decayed(np.ones(size, dtype=np.uint64), 1, source))
