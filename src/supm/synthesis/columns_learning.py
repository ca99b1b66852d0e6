"""The distribution of every column by itself, within each class of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.archive import Archive
from supm.synthesis.columns import Column
from supm.synthesis.distributions import CellReports, Marginal, count_together
from supm.synthesis.em import ALONE, beyond_noise, reconstruct_table
from supm.synthesis.moments import ColumnRoles
from supm.synthesis.noise_aware_columns import pulled_mean, read_functions

Table = NDArray[np.float64]

_LEAST: Final = 1e-12
# By so many units of log-likelihood a start with spikes must do better than an even one.
_HANDICAP: Final = 2.0
# Between these slopes lies every mean that a hundred bins can have, but for the very ends.
_STEEPEST: Final = 1e3
_HALVINGS: Final = 50
# Fewer reports do not show how noisy their mean is.
_REPORTS: Final = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Margins:
    """Shares of the classes of the target, and of each column within them."""

    root: CellReports
    prior: Table
    scaled: list[Table]
    nominal: list[Table]
    cells: list[CellReports]
    ordered: dict[int, CellReports]


def learn_margins(
    archive: Archive, layout: ColumnRoles, *, bins: int, smooth: bool = False
) -> Margins:
    """Reconstruct the distribution of each column within each class of the target."""
    root = _root(archive, layout)
    prior = _alone(root)

    def within(column: Column) -> tuple[CellReports, Table]:
        told = column.cell_reports(archive.reports[column.name], bins)
        number = column.kind == "number"
        table = _within(told, root, prior, number=number, smooth=smooth and number)
        if number and column.name == archive.schema.target:
            # A target that is a number has no classes: its table has one row.
            table = _with_known_mean(table[0], column, archive.reports[column.name])[np.newaxis]
        return told, table

    scaled = [within(column) for column in layout.scaled]
    nominal = [within(column) for column in layout.nominal]
    return Margins(
        root=root,
        prior=prior,
        scaled=[table for _, table in scaled],
        nominal=[table for _, table in nominal],
        cells=[told for told, _ in nominal],
        ordered={
            place: told
            for place, (told, _) in enumerate(scaled)
            if layout.scaled[place].kind == "ordered"
        },
    )


def marginal_of(column: Column, shares: Table) -> Marginal:
    """Return the distribution of a scaled column from its shares, which need not sum to one."""
    total = float(shares.sum())
    even = shares / total if total > 0 else np.full(shares.size, 1 / shares.size)
    return column.marginal(even)


def _root(archive: Archive, layout: ColumnRoles) -> CellReports:
    if layout.root is None:
        return CellReports(np.zeros(archive.rows, dtype=np.int64), np.ones((1, 1)))
    return layout.root.cell_reports(archive.reports[layout.root.name], 0)


def _alone(told: CellReports, *, spiked: bool = False, smooth: bool = False) -> Table:
    """Return the likeliest of the tables that the climbs from all starts end at."""
    counts = told.counts()
    if not counts.any():
        return np.full(len(told.channel), 1 / len(told.channel))
    found = [
        reconstruct_table(counts, [told.channel], start=start, stop=ALONE, smooth=smooth)
        for start in _starts(len(told.channel), spiked=spiked)
    ]
    seen = counts > 0
    heights = [float(counts[seen] @ np.log((each @ told.channel)[seen])) for each in found]
    heights[0] += _HANDICAP
    return found[int(np.argmax(heights))]


def _starts(bins: int, *, spiked: bool) -> list[Table]:
    """Return an even start, and those with half of the mass at one end or at both."""
    even = np.full(bins, 1 / bins)
    if not spiked:
        return [even]
    # An early stop smears a spike, from whatever start has none: many values are at a bound.
    low, high = np.eye(bins)[[0, -1]]
    return [even, *((even + spike) / 2 for spike in (low, high, (low + high) / 2))]


def _within(
    told: CellReports, root: CellReports, prior: Table, *, number: bool, smooth: bool
) -> Table:
    """Return shares of class and value together; where the reports say little, independent ones."""
    apart = np.outer(prior, _alone(told, spiked=number, smooth=smooth)) + _LEAST
    apart /= apart.sum()
    if prior.size == 1:
        return apart
    counts = count_together((root, told))
    if not counts.any():
        return apart
    channels = [root.channel, told.channel]
    return beyond_noise(counts, channels, apart, smooth=smooth).table


def _with_known_mean(shares: Table, column: Column, reports: NDArray[np.float64]) -> Table:
    """Return the shares with the mean that models of noised records fall back to.

    A mean is known better than shares, and what a tree on synthetic rows answers is a mean.
    """
    channel = column.channel()
    cells = channel.cells(reports)
    if (cells >= 0).sum() < _REPORTS:
        return shares
    return _tilted(shares, pulled_mean(read_functions(channel, cells, limit=1), cells)[0])


def _tilted(shares: Table, mean: float) -> Table:
    """Return the shares nearest to these (in relative entropy) that have a mean."""
    places = (np.arange(shares.size) + 0.5) / shares.size
    logs = np.log(shares)

    def tilted(slope: float) -> Table:
        raised = logs + slope * places
        grown = np.exp(raised - raised.max())
        return np.asarray(grown / grown.sum())

    low, high = -_STEEPEST, _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tilted(middle) @ places < mean else (low, middle)
    return tilted(low)
