"""Exact coins of probability e^-x, on whole arrays and with whole numbers only.

A coin of probability e^-x, x at most 1, is made from coins of probability x / k, k = 1, 2, …: the
first tails comes at an odd k with the wanted probability (Lemma 1 of
docs/proofs/discrete-laplace.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource

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
