"""Classes without an order: a tree of two-way tables within each class of the target (Chow-Liu)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, uniforms
from supm.synthesis.distributions import CellReports, count_together
from supm.synthesis.em import beyond_noise

Table = NDArray[np.float64]

_LEAST: Final = 1e-12


@dataclass(frozen=True, eq=False)
class TreeBranch:
    """One column of a tree: its shares, given the class of the target and the column above it."""

    column: int
    parent: int | None
    shares: Table


@dataclass(frozen=True, eq=False)
class ClassTree:
    """All branches, parents before their children."""

    branches: tuple[TreeBranch, ...]

    def draw(self, classes: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Draw one record for each given class of the target."""
        drawn = np.zeros((len(self.branches), classes.size), dtype=np.int64)
        for each in self.branches:
            above = 0 if each.parent is None else drawn[each.parent]
            rows = classes * each.shares.shape[1] + above
            drawn[each.column] = draw_rows(each.shares, rows, source)
        return drawn

    def to_form(self) -> list[dict[str, Any]]:
        """Return the tree as plain values for JSON."""
        return [
            {"column": each.column, "parent": each.parent, "shares": each.shares.tolist()}
            for each in self.branches
        ]


def draw_rows(shares: Table, rows: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Draw one class from each of the chosen rows of a table whose rows sum to one."""
    size = shares.shape[-1]
    reached = np.cumsum(shares.reshape(-1, size), axis=1)
    reached /= reached[:, -1:]
    # Row by row on one line, so that a single search serves all of them.
    line = (reached + np.arange(len(reached))[:, np.newaxis]).ravel()
    found = np.searchsorted(line, rows + uniforms(rows.size, source), side="right") - rows * size
    return np.asarray(np.clip(found, 0, size - 1), dtype=np.int64)


def learn_tree(
    columns: Sequence[CellReports], root: CellReports, given: Sequence[Table]
) -> ClassTree:
    """Learn the tree that keeps most of the dependence within the classes of the target."""
    pairs = {
        (i, j): _pair(columns[i], columns[j], root, given[i], given[j])
        for i, j in combinations(range(len(columns)), 2)
    }
    order = _span(len(columns), {places: gain for places, (_, gain) in pairs.items()})
    tables = {places: table for places, (table, _) in pairs.items()}
    return ClassTree(tuple(_branch(child, parent, tables, given) for child, parent in order))


def mutual_information(table: Table) -> float:
    """Return the mutual information of the last two axes, given the first, in nats.

    Examples
    --------
    >>> float(np.exp(mutual_information(np.eye(2)[np.newaxis] / 2)).round(6))
    2.0
    """
    each = table.sum(axis=(1, 2), keepdims=True)
    apart = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    apart = apart / np.maximum(each, _LEAST)
    some = table > _LEAST
    return float(np.sum(table[some] * np.log(table[some] / np.maximum(apart[some], _LEAST))))


def _pair(
    first: CellReports, second: CellReports, root: CellReports, one: Table, other: Table
) -> tuple[Table, float]:
    """Return the shares of class and both values, and how much they say beyond the noise.

    Independence is that within the classes of the target.
    """
    apart = one[:, :, np.newaxis] * other[:, np.newaxis, :] + _LEAST
    apart /= np.maximum(one.sum(axis=1), _LEAST)[:, np.newaxis, np.newaxis]
    apart /= apart.sum()
    counts = count_together((root, first, second))
    if not counts.any():
        return apart, 0.0
    channels = [root.channel, first.channel, second.channel]
    learned = beyond_noise(counts, channels, apart)
    gain = mutual_information(learned.found) - mutual_information(learned.noise)
    return learned.table, gain


def _span(count: int, gains: dict[tuple[int, int], float]) -> list[tuple[int, int | None]]:
    """Return (child, parent) of a forest of the largest gains, parents first (Prim)."""
    order: list[tuple[int, int | None]] = []
    left = set(range(count))
    while left:
        reached = [child for child, _ in order]
        best = max(
            ((_gain(gains, i, j), -j, i) for i in reached for j in left), default=(0.0, 0, 0)
        )
        if best[0] > 0:
            child, parent = -best[1], best[2]
            order.append((child, parent))
        else:
            child = min(left)
            order.append((child, None))
        left.discard(child)
    return order


def _gain(gains: dict[tuple[int, int], float], i: int, j: int) -> float:
    return gains[min(i, j), max(i, j)]


def _branch(
    child: int, parent: int | None, pairs: dict[tuple[int, int], Table], given: Sequence[Table]
) -> TreeBranch:
    if parent is None:
        table = given[child][:, np.newaxis, :]
    elif parent < child:
        table = pairs[parent, child]
    else:
        table = pairs[child, parent].transpose(0, 2, 1)
    floor = table + _LEAST * given[child][:, np.newaxis, :] + _LEAST**2
    return TreeBranch(child, parent, floor / floor.sum(axis=2, keepdims=True))
