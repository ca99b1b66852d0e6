"""Which attributes an owner tells: drawn, listed, and averaged over without listing the draws."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, check_source
from supm._validation import Integers
from supm.mechanisms import Reports
from supm.owner.interviews import Interview

CHANNEL_ENTRIES: Final = Integers(
    "entries of the channel", 1, 1 << 22, "Look at a study of fewer attributes and classes."
)
_ROWS: Final = 1 << 15


class DrawnInterview(Interview):
    """An interview whose owners draw which attributes they tell; or they tell all of them.

    An answer has the places of what was drawn, unless all are told, then a symbol for each, then
    the target's.
    """

    @property
    @abstractmethod
    def told(self) -> int:
        """How many attributes an answer tells."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """How many symbols there are for each attribute that may be drawn."""

    @property
    @abstractmethod
    def label_sizes(self) -> tuple[int, ...]:
        """How many symbols there are for the target, if it is told."""

    @property
    def outcomes(self) -> int:
        """Over all draws of attributes, the product of what each can tell."""
        return sum(math.prod(self.sizes_of(drawn)) for drawn in self.draws())

    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether places increase and each symbol is in its alphabet."""
        places, told = self._split(symbols)
        known = np.all(symbols >= 0, axis=1) & np.all(places < len(self.sizes), axis=1)
        known &= np.all(np.diff(places, axis=1) > 0, axis=1)
        limits = self.sizes_at(np.clip(places, 0, len(self.sizes) - 1))
        return np.asarray(known & np.all(told < limits, axis=1))

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return numbers of the answers: first by the attributes drawn, then by what they tell."""
        places, told = self._split(reports.symbols)
        numbers = np.zeros(len(reports), dtype=np.int64)
        first = 0
        for drawn in self.draws():
            sizes, rows = self.sizes_of(drawn), np.flatnonzero((places == drawn).all(axis=1))
            numbers[rows] = first + np.ravel_multi_index(tuple(told[rows].T), sizes)
            first += math.prod(sizes)
        return numbers

    def draws(self) -> list[tuple[int, ...]]:
        """Return all that may be drawn."""
        CHANNEL_ENTRIES.check(math.comb(len(self.sizes), self.told))
        return list(combinations(range(len(self.sizes)), self.told))

    def sizes_of(self, drawn: tuple[int, ...]) -> tuple[int, ...]:
        """Return how many symbols there are for each part of an answer, without the places."""
        return (*(self.sizes[place] for place in drawn), *self.label_sizes)

    def sizes_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same for rows of places."""
        label = np.tile(np.array(self.label_sizes, dtype=np.int64), (len(places), 1))
        return np.hstack((np.array(self.sizes, dtype=np.int64)[places], label))

    def _split(self, symbols: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the places of what is told, and the symbols."""
        places, told = np.hsplit(symbols, [-(self.told + len(self.label_sizes))])
        if not places.shape[1]:
            places = np.broadcast_to(np.arange(self.told), (len(symbols), self.told))
        return places, told


def mean_over_draws(
    sizes: Sequence[int], told: Sequence[int], sampled: int, figure: Callable[[int], float]
) -> float:
    """Return the mean of a figure of the product of the drawn sizes.

    Examples
    --------
    >>> mean_over_draws([2, 2, 4], [], 1, float)
    2.6666666666666665
    >>> mean_over_draws([2, 2, 4], [4], 2, float)
    8.0
    """
    left = Counter(sizes)
    left.subtract(told)
    products = _products(left, sampled - len(told))
    known = math.prod(told)
    draws = sum(products.values())
    return sum(ways * figure(known * each) for each, ways in products.items()) / draws


def reachable_products(sizes: Sequence[int], sampled: int) -> list[int]:
    """Return the different products of so many of the sizes, in increasing order.

    Examples
    --------
    >>> reachable_products([2, 2, 4], 2)
    [4, 8]
    """
    return sorted(_products(Counter(sizes), sampled))


def _products(left: Counter[int], drawn: int) -> dict[int, int]:
    """Return the products of so many sizes, with the number of ways to draw each."""
    # Attributes of the same size are drawn together: there are few different sizes.
    ways: dict[tuple[int, int], int] = {(0, 1): 1}
    for size, count in left.items():
        grown: Counter[tuple[int, int]] = Counter()
        for (held, product), number in ways.items():
            for more in range(min(count, drawn - held) + 1):
                grown[held + more, product * size**more] += number * math.comb(count, more)
        ways = dict(grown)
    return {product: number for (held, product), number in ways.items() if held == drawn}


def gap_of(epsilon: float, cells: float) -> float:
    """Return how often one report over so many cells is the truth.

    Examples
    --------
    >>> round(gap_of(2.0, 8), 3)
    0.444
    """
    grown = math.expm1(min(epsilon, 500.0))
    return grown / (grown + cells)


def in_runs(
    inputs: NDArray[Any],
    width: int,
    source: RandomSource,
    tell: Callable[[NDArray[Any], RandomSource], NDArray[np.int64]],
) -> Reports:
    """Randomise rows, so many at a time that memory does not grow with people."""
    check_source(source)
    told = np.empty((len(inputs), width), dtype=np.int64)
    for start in range(0, len(inputs), _ROWS):
        rows = slice(start, start + _ROWS)
        told[rows] = tell(inputs[rows], source)
    return Reports(symbols=told, simulation=source.simulation)


def draw_places(count: int, drawn: int, rows: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw for each owner which of so many attributes are told, in increasing order."""
    if drawn == count:
        return np.tile(np.arange(count, dtype=np.int64), (rows, 1))
    if drawn == 1:
        return source.below(count, rows).astype(np.int64)[:, np.newaxis]
    keys = source.words(rows * count).reshape(rows, count)
    return np.sort(np.argsort(keys, axis=1)[:, :drawn], axis=1)
