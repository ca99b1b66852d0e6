"""Tables of true values from counts of noisy reports, and a tree of them.

The noise of each column is independent of that of the others, so a table of reports follows from
the table of true values by one channel along each axis, and EM finds the latter. It does not depend
on the number of records: they were counted before.

How far EM moves from independence by noise alone depends on the channels, on the number of reports
and on where it ends. All of that is seen by taking the same steps with counts as independent
columns would make them.

Classes without an order get a tree of two-way tables within each class of the target (Chow-Liu).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, normals, simulation, uniforms
from supm.messages.codec import Message

Table = NDArray[np.float64]
_LEAST: Final = 1e-12


@dataclass(frozen=True, eq=False)
class CellReports:
    """The cell of each record, -1 where nothing was asked, and the channel from bins or classes."""

    cells: NDArray[np.int64]
    channel: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self.channel.shape[1])

    def counts(self) -> NDArray[np.int64]:
        """Count the reports in each cell."""
        return np.bincount(self.cells[self.cells >= 0], minlength=self.size)


def count_together(columns: Sequence[CellReports]) -> NDArray[np.int64]:
    """Count how often each combination of cells was reported, by records that have all of them."""
    shape = tuple(each.size for each in columns)
    asked = np.logical_and.reduce([each.cells >= 0 for each in columns])
    cells = [each.cells if asked.all() else each.cells[asked] for each in columns]
    places = np.ravel_multi_index(cells, shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)


@dataclass(frozen=True)
class Stop:
    """When a climb ends: going on would fit the noise."""

    gain: float
    steps: int
    relative: bool = False
    least: int = 0

    def reached(self, before: float, after: float, reports: float) -> bool:
        """Say whether the step from one mean log-likelihood to another was the last one."""
        scale = 1 / max(abs(before), 1e-300) if self.relative else reports
        return abs(after - before) * scale < self.gain


STRICT: Final = Stop(gain=0.01, steps=3000)
"""Of all reports together, where the noise is of order one: more reports are fitted closer."""
ALONE: Final = Stop(gain=0.01, steps=3000, least=100)
"""The same for one column, whose climb begins at a uniform distribution."""
PAPER: Final = Stop(gain=1e-6, steps=300, relative=True)
"""What was found best for tables of some hundred records."""


def reconstruct_table(
    counts: ArrayLike,
    channels: Sequence[Table],
    *,
    start: ArrayLike | None = None,
    stop: Stop = STRICT,
    smooth: bool = False,
) -> Table:
    """Find the table of true values that makes the counted reports likely.

    Examples
    --------
    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> reconstruct_table([[300, 100], [100, 300]], [coin, coin]).round(2)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    told = np.asarray(counts, dtype=np.float64)
    rates, seen = _seen(told, channels)
    reports = float(told.sum())
    shape = tuple(len(channel) for channel in channels)
    shares = np.full(shape, 1 / np.prod(shape)) if start is None else np.array(start, dtype=float)
    mixture = _forward(shares, seen)
    likelihood = _log_likelihood(rates, mixture)
    for step in range(1, stop.steps + 1):
        shares *= _backward(_ratio(rates, mixture), seen)
        shares = _blurred(shares) if smooth else shares
        shares /= shares.sum()
        mixture = _forward(shares, seen)
        before, likelihood = likelihood, _log_likelihood(rates, mixture)
        if step >= stop.least and stop.reached(before, likelihood, reports):
            break
    return shares


def _seen(counts: Table, channels: Sequence[Table]) -> tuple[Table, list[Table]]:
    """Return the rates of reports that occur, and the columns of the channels for them."""
    if counts.shape != tuple(channel.shape[1] for channel in channels):
        raise ParameterError("counts", "one for each combination of reports", counts.shape)
    if not counts.sum() > 0:
        raise ParameterError("counts", "not all zero", counts.shape)
    kept = []
    for axis, channel in enumerate(channels):
        others = tuple(each for each in range(counts.ndim) if each != axis)
        used = counts.any(axis=others)
        counts = counts.compress(used, axis=axis)
        kept.append(np.ascontiguousarray(channel[:, used]))
    return counts / counts.sum(), kept


def _forward(shares: Table, channels: Sequence[Table]) -> Table:
    # Each product takes the first axis away and puts the new one last: after all, order is kept.
    for channel in channels:
        shares = np.tensordot(shares, channel, axes=(0, 0))
    return shares


def _backward(ratio: Table, channels: Sequence[Table]) -> Table:
    for channel in channels:
        ratio = np.tensordot(ratio, channel, axes=(0, 1))
    return ratio


def _ratio(rates: Table, mixture: Table) -> Table:
    return np.divide(rates, mixture, out=np.zeros_like(rates), where=rates > 0)


def _log_likelihood(rates: Table, mixture: Table) -> float:
    told = rates > 0
    return float(rates[told] @ np.log(mixture[told]))


def _blurred(shares: Table) -> Table:
    """Average each share with its neighbours; what would leave at an end stays there."""
    padded = np.concatenate((shares[..., :1], shares, shares[..., -1:]), axis=-1)
    blurred: Table = (padded[..., :-2] + 2 * shares + padded[..., 2:]) / 4
    return blurred


@dataclass(frozen=True, eq=False)
class Beyond:
    """A table, and what noise alone would have made of independent columns."""

    table: Table
    found: Table
    noise: Table


def beyond_noise(
    counts: ArrayLike, channels: Sequence[Table], apart: Table, *, smooth: bool = False
) -> Beyond:
    """Reconstruct a table from independence on, and keep what is beyond the noise.

    Examples
    --------
    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> apart = np.full((2, 2), 0.25)
    >>> beyond_noise([[2300, 1700], [1700, 2300]], [coin, coin], apart).table.round(1)
    array([[0.4, 0.1],
           [0.1, 0.4]])
    """
    told = np.asarray(counts, dtype=np.float64)
    found = reconstruct_table(told, channels, start=apart, smooth=smooth)
    alike = _independent_counts(apart, channels, float(told.sum()))
    noise = reconstruct_table(alike, channels, start=apart, smooth=smooth)
    gain = _gain(told, channels, found, apart)
    share = min(1.0, max(0.0, _gain(alike, channels, noise, apart)) / max(gain, _LEAST))
    return Beyond(np.asarray((1 - share) * found + share * apart), found, noise)


def _gain(counts: Table, channels: Sequence[Table], table: Table, apart: Table) -> float:
    """Return by how much a table makes the counts more likely than independence does."""
    seen = counts > 0
    ratio = _forward(table, channels)[seen] / _forward(apart, channels)[seen]
    return float(counts[seen] @ np.log(ratio))


def _independent_counts(apart: Table, channels: Sequence[Table], reports: float) -> Table:
    """Return counts of noisy reports of independent columns, nearly Poisson, always the same."""
    expected = reports * _forward(apart, channels)
    noise = normals(expected.size, simulation(0)).reshape(expected.shape)
    # The square root of a Poisson number has nearly the same spread whatever its mean.
    counts = np.round(np.square(np.maximum(np.sqrt(expected) + noise / 2, 0.0)))
    return np.asarray(counts if counts.any() else expected)


@dataclass(frozen=True, eq=False)
class TreeBranch(Message):
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
            ((gains[min(i, j), max(i, j)], -j, i) for i in reached for j in left),
            default=(0.0, 0, 0),
        )
        if best[0] > 0:
            child, parent = -best[1], best[2]
            order.append((child, parent))
        else:
            child = min(left)
            order.append((child, None))
        left.discard(child)
    return order


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
