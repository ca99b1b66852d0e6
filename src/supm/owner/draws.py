"""Which attributes an owner tells: drawn, and averaged over without listing the draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, check_source
from supm._validation import Integers
from supm.mechanisms import Reports

CHANNEL_ENTRIES: Final = Integers(
    "entries of the channel", 1, 1 << 22, "Look at a study of fewer attributes and classes."
)
_ROWS: Final = 1 << 15


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
