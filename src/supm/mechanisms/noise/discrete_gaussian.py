"""The discrete Gaussian and its exact coins: whole arrays, with whole numbers only.

A coin of probability e^-x, x at most 1, is made from coins of probability x / k, k = 1, 2, …: the
first tails comes at an odd k with the wanted probability (Lemma 1 of
docs/proofs/discrete-laplace.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, check_source
from supm._validation import Integers, keep_checked

_Positions: TypeAlias = NDArray[np.int64]
# Given k and the positions of the coins that are still in play: which of these fall heads.
_Round: TypeAlias = Callable[[int, _Positions], _Positions]


def decayed(parts: NDArray[np.uint64], whole: int, source: RandomSource) -> NDArray[np.bool_]:
    """Flip one coin of probability exp(-part / whole) for each part, none above the whole.

    Examples
    --------
    >>> from supm._random import simulation
    >>> decayed(np.zeros(3, dtype=np.uint64), 7, simulation(1)).tolist()
    [True, True, True]
    """

    def heads(k: int, coins: _Positions) -> _Positions:
        return coins[source.below(whole * k, coins.size) < parts[coins]]

    return _alternate(parts.size, heads)


def squared(parts: NDArray[np.uint64], whole: int, source: RandomSource) -> NDArray[np.bool_]:
    """Flip one coin of probability exp(-(part / whole)^2 / 2) for each part, none above the whole.

    Examples
    --------
    >>> from supm._random import simulation
    >>> squared(np.zeros(3, dtype=np.uint64), 7, simulation(1)).tolist()
    [True, True, True]
    """

    def heads(k: int, coins: _Positions) -> _Positions:
        # Both coins must fall heads: one of probability x / (2 k), one of probability x.
        kept = coins[source.below(2 * whole * k, coins.size) < parts[coins]]
        return kept[source.below(whole, kept.size) < parts[kept]]

    return _alternate(parts.size, heads)


def halves(count: int, source: RandomSource) -> NDArray[np.bool_]:
    """Flip so many coins of probability exp(-1/2).

    Examples
    --------
    >>> from supm._random import simulation
    >>> halves(2, simulation(1)).shape
    (2,)
    """

    def heads(k: int, coins: _Positions) -> _Positions:
        return coins[np.flatnonzero(source.below(2 * k, coins.size) == 0)]

    return _alternate(count, heads)


def _alternate(count: int, heads: _Round) -> NDArray[np.bool_]:
    """Play rounds until every coin has fallen tails once; an odd round of tails makes a head."""
    result = np.ones(count, dtype=np.bool_)
    coins = np.arange(count)
    k = 0
    while coins.size:
        k += 1
        coins = heads(k, coins)
        result[coins] = k % 2 == 0
    return result


LARGEST_SIGMA: Final = 1 << 45
"""The widest noise: its products with a few thousand still fit 63 bits."""

_SIGMA = Integers("sigma", 1, LARGEST_SIGMA)
_COUNT = Integers("count", 0, 1 << 40)
# A candidate is accepted with probability 0.493; a little more than the inverse.
_CANDIDATES: Final = 2.05
# A coin of probability e^(-1/2) falls tails with probability 0.393; a little more than the inverse.
_COINS: Final = 2.57
_SPARE: Final = 64
# So many draws at a time: their arrays stay small.
_BLOCK: Final = 1 << 18
# From here on the distribution function follows from that of the normal law to all digits.
_WIDE: Final = 1 << 10
# Beyond so many sigmas a probability is below 10^-340, which no float can hold.
_REACH: Final = 40


@dataclass(frozen=True)
class DiscreteGaussian:
    """Whole numbers n with probability proportional to exp(-n^2 / (2 sigma^2)).

    Noise for statistics that are whole numbers. It is drawn with whole numbers only, so neither the
    low-order bits of the noise nor those of the statistic can leak.

    Parameters
    ----------
    sigma : int
        Width, 1 to 2^45, in units of the statistic.

    Notes
    -----
    **Guarantee.** On a statistic of L2 sensitivity S it is mu-GDP with
    mu = (1 + 10^-9) S / sqrt(sigma^2 - 16), from sigma = 6 on: Theorem 3 of
    docs/proofs/discrete-gaussian.md, which is also about the sum of the noise of several holders.
    `summed_mu` computes it.

    **Utility.** Mean 0 and a variance of at most sigma^2, less by no more than one part in 10^6.

    **Cost.** About seventeen 64-bit words and O(1) time per draw.

    References
    ----------
    C. F. F. Karney, Sampling exactly from the normal distribution, ACM TOMS 42 (2016), Algorithm D.
    C. Canonne, G. Kamath, T. Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020.

    Examples
    --------
    >>> from supm._random import simulation
    >>> noise = DiscreteGaussian(2)
    >>> noise.probability([-2, 0, 2]).round(4).tolist()
    [0.121, 0.1995, 0.121]
    >>> noise.draw(1000, simulation(1)).shape
    (1000,)
    """

    sigma: int

    def __post_init__(self) -> None:
        keep_checked(self, _SIGMA)

    @property
    def variance(self) -> float:
        """Variance of one draw, to all digits of a float."""
        ripple = self._ripple
        return self.sigma**2 * (1 - 4 * math.pi**2 * self.sigma**2 * ripple / (1 + ripple))

    def probability(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number."""
        steps = np.asarray(noise, dtype=np.int64) / self.sigma
        whole = self.sigma * math.sqrt(2 * math.pi) * (1 + self._ripple)
        return np.asarray(np.exp(-0.5 * steps**2) / whole)

    def cumulative(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number or a lower one."""
        numbers = np.asarray(noise, dtype=np.int64)
        return self._wide(numbers) if self.sigma >= _WIDE else self._summed(numbers)

    def survival(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each number or a higher one."""
        return self.cumulative(-np.asarray(noise, dtype=np.int64))

    def draw(self, count: int, source: RandomSource) -> NDArray[np.int64]:
        """Draw independent numbers."""
        check_source(source)
        drawn = np.empty(_COUNT.check(count), dtype=np.int64)
        done = 0
        while done < drawn.size:
            room = drawn[done : done + _BLOCK]
            accepted = self._accepted(round(_CANDIDATES * room.size) + _SPARE, source)[: room.size]
            room[: accepted.size] = accepted
            done += accepted.size
        return drawn

    def _accepted(self, candidates: int, source: RandomSource) -> NDArray[np.int64]:
        """Return those of so many independent candidates that are accepted, in their order."""
        wholes = _wholes(candidates, source)
        rests = source.below(self.sigma, wholes.size)
        kept = squared(rests, self.sigma, source)
        wholes, rests = wholes[kept], rests[kept]
        kept = _all_heads(wholes, lambda coins: decayed(rests[coins], self.sigma, source))
        sizes = wholes[kept] * self.sigma
        sizes += rests[kept].view(np.int64)
        return signed(sizes, source)

    @property
    def _ripple(self) -> float:
        """How much the sum of exp(-n^2 / (2 sigma^2)) is above sigma sqrt(2 pi), as a share."""
        return 2 * math.exp(-2 * math.pi**2 * self.sigma**2)

    def _summed(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Add up probabilities, smallest first."""
        reach = _REACH * self.sigma
        below = np.cumsum(self.probability(np.arange(-reach, 1)))
        place = np.clip(np.where(numbers < 0, numbers, -1 - numbers), -reach - 1, -1)
        tail = np.concatenate(([0.0], below))[place + reach + 1]
        return np.asarray(np.where(numbers < 0, tail, 1 - tail))

    def _wide(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Use the formula of Euler and Maclaurin for the middles of steps."""
        from scipy.special import ndtr  # noqa: PLC0415  to draw needs no SciPy

        t = (numbers + 0.5) / self.sigma
        density = np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)
        first = t / (24 * self.sigma**2)
        third = 7 * (t**3 - 3 * t) / (5760 * self.sigma**4)
        return np.asarray(np.clip(ndtr(t) + density * (first - third), 0.0, 1.0))


def _wholes(candidates: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw numbers k >= 0; those that are kept have probability proportional to exp(-k^2 / 2).

    k comes with probability proportional to exp(-k / 2) and is kept if k (k - 1) coins of
    probability exp(-1/2) all fall heads.
    """
    wholes = runs(candidates, _COINS, lambda size: halves(size, source))
    flips = wholes * (wholes - 1)
    return wholes[_all_heads(flips, lambda coins: halves(coins.size, source))]


def runs(count: int, coins: float, flip: Callable[[int], NDArray[np.bool_]]) -> NDArray[np.int64]:
    """Draw how often a coin falls heads before it falls tails, given how many coins a run takes.

    The number of runs is fixed beforehand. To take all runs that end within a fixed number of coins
    would favour short ones.
    """
    heads = np.empty(0, dtype=np.bool_)
    tails = np.empty(0, dtype=np.int64)
    while tails.size < count:
        size = round(coins * (count - tails.size)) + _SPARE
        heads = np.concatenate((heads, flip(size)))
        tails = np.flatnonzero(~heads)
    return np.diff(tails[:count], prepend=-1) - 1


def _all_heads(
    flips: NDArray[np.int64], flip: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Tell for each position whether so many coins all fall heads; ``flip`` flips one for each."""
    kept = np.ones(flips.size, dtype=np.bool_)
    coins = np.flatnonzero(flips)
    done = 0
    while coins.size:
        done += 1
        heads = flip(coins)
        kept[coins[~heads]] = False
        coins = coins[heads]
        coins = coins[flips[coins] > done]
    return kept


def signed(sizes: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Give each size a sign; a negative zero is dropped, or zero would count twice."""
    negative = source.words(sizes.size) >= np.uint64(1 << 63)
    kept = ~(negative & (sizes == 0))
    np.negative(sizes, out=sizes, where=negative)
    return sizes if kept.all() else np.asarray(sizes[kept])
