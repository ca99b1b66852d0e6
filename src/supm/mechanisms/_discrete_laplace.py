"""Exact samples from the discrete Laplace distribution, with whole numbers only.

The sampler is Algorithm 2 of Canonne, Kamath and Steinke (2020) on whole arrays: a coin of
probability exp(-a/b) is made from coins of probability a / (b k), k = 1, 2, …, and those from
uniform whole numbers. No float is involved, so no rounding can change a probability
(docs/proofs/discrete-laplace.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Integers
from supm.mechanisms._coins import decayed

__all__ = ["FARTHEST", "DiscreteLaplace"]

FARTHEST: Final = 1 << 14
"""Noise of more than so many scales is cut there; it has probability below e^-16383."""

_NUMERATOR = Integers("numerator of scale", 1, 1 << 48)
_DENOMINATOR = Integers("denominator of scale", 1, 1 << 62)
# A little above 1 / (1 - 1/e): one batch of candidates is nearly always enough.
_CANDIDATES: Final = 1.62
_SPARE: Final = 64


@dataclass(frozen=True)
class DiscreteLaplace:
    """Whole numbers k with probability proportional to exp(-abs(k) / scale).

    Parameters
    ----------
    scale : Fraction
        Positive, in lowest terms with a numerator of at most 2^48.

    Examples
    --------
    >>> noise = DiscreteLaplace(Fraction(1, 2))
    >>> noise.probability(np.array([-1, 0, 1])).round(4)
    array([0.1031, 0.7616, 0.1031])
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Fraction):
            raise ParameterError("scale", "a Fraction", self.scale)
        _NUMERATOR.check(self.scale.numerator)
        _DENOMINATOR.check(self.scale.denominator)

    @property
    def variance(self) -> float:
        """Variance of one draw."""
        return float(2 * np.exp(-self._rate) / np.expm1(-self._rate) ** 2)

    def probability(self, noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of each number."""
        return np.asarray(np.tanh(self._rate / 2) * np.exp(-self._rate * np.abs(noise)))

    def cumulative(self, noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of each number or a lower one."""
        tail = self._tail(np.where(noise < 0, -noise, noise + 1))
        return np.where(noise < 0, tail, 1 - tail)

    def survival(self, noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of each number or a higher one."""
        return self.cumulative(-noise)

    def draw(self, count: int, source: RandomSource) -> NDArray[np.int64]:
        """Draw ``count`` independent numbers."""
        return _first(count, lambda size: self._signed(size, source))

    @property
    def _rate(self) -> float:
        return float(1 / self.scale)

    def _tail(self, beyond: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of a number at least so far above zero."""
        return np.asarray(np.exp(-self._rate * beyond) / (1 + np.exp(-self._rate)))

    def _signed(self, size: int, source: RandomSource) -> NDArray[np.int64]:
        """Give each magnitude a sign; a negative zero is dropped, or zero would count twice."""
        noise = self._magnitudes(size, source)
        negative = source.words(size) >= np.uint64(1 << 63)
        keep = ~(negative & (noise == 0))
        np.negative(noise, out=noise, where=negative)
        return noise if keep.all() else noise[keep]

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
    heads = np.empty(0, dtype=np.bool_)
    tails = np.empty(0, dtype=np.int64)
    while len(tails) < count:
        size = round((count - len(tails)) * _CANDIDATES) + _SPARE
        ones = np.ones(size, dtype=np.uint64)
        heads = np.concatenate((heads, decayed(ones, 1, source)))
        tails = np.flatnonzero(~heads)
    return np.diff(tails[:count], prepend=-1) - 1
