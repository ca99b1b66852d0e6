"""The distribution of every column by itself, within each class of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.archive import Archive
from supm.synthesis.archive_schema import ClassColumn, Column, NumberColumn
from supm.synthesis.beyond_noise import beyond_noise
from supm.synthesis.em import ALONE, reconstruct_table
from supm.synthesis.layout import Layout, Told, count_together, told_cells
from supm.synthesis.marginals import BinnedMarginal, Marginal, OrderedMarginal
from supm.synthesis.noise_aware_channels import channel_of
from supm.synthesis.noise_aware_columns import pulled_mean, read_column

__all__ = ["Margins", "learn_margins", "marginal_of"]

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
    """Shares of the classes of the target, and of each column within them.

    Parameters
    ----------
    root : Told
        Reports of the target; one class for all where there is no such target.
    prior : ndarray of float, shape (classes,)
        Shares of the classes of the target, without the bias of the noise.
    scaled : list of ndarray of float, shape (classes, bins)
        Shares of class and bin together, for each scaled column.
    nominal : list of ndarray of float, shape (classes, values)
        The same for each nominal column.
    cells : list of Told
        Reports of the nominal columns.
    ordered : dict of int to Told
        Reports of the ordered classes among the scaled columns, by their place.
    """

    root: Told
    prior: Table
    scaled: list[Table]
    nominal: list[Table]
    cells: list[Told]
    ordered: dict[int, Told]


def learn_margins(archive: Archive, layout: Layout, *, bins: int, smooth: bool = False) -> Margins:
    """Reconstruct the distribution of each column within each class of the target.

    Parameters
    ----------
    archive : Archive
        The noised records.
    layout : Layout
        The roles of their columns.
    bins : int
        How many bins of a number are told apart.
    smooth : bool, default False
        Whether numbers are smoothed (EMS).

    Returns
    -------
    Margins
    """
    root = _root(archive, layout)
    prior = _alone(root)

    def within(column: Column) -> tuple[Told, Table]:
        told = told_cells(column, archive.reports[column.name], bins)
        number = isinstance(column, NumberColumn)
        table = _within(told, root, prior, number=number, smooth=smooth and number)
        if isinstance(column, NumberColumn) and column.name == archive.schema.target:
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
            if isinstance(layout.scaled[place], ClassColumn)
        },
    )


def marginal_of(column: Column, shares: Table) -> Marginal:
    """Return the distribution of a scaled column from its shares, which need not sum to one."""
    total = float(shares.sum())
    even = shares / total if total > 0 else np.full(shares.size, 1 / shares.size)
    if isinstance(column, NumberColumn):
        return BinnedMarginal(column.law.low, column.law.high, even)
    return OrderedMarginal(even)


def _root(archive: Archive, layout: Layout) -> Told:
    if layout.root is None:
        return Told(np.zeros(archive.rows, dtype=np.int64), np.ones((1, 1)))
    return told_cells(layout.root, archive.reports[layout.root.name], 0)


def _alone(told: Told, *, spiked: bool = False, smooth: bool = False) -> Table:
    """Return the likeliest of the tables that the climbs from all starts end at."""
    cells = told.cells[told.cells >= 0]
    if not cells.size:
        return np.full(len(told.channel), 1 / len(told.channel))
    counts = np.bincount(cells, minlength=told.size)
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


def _within(told: Told, root: Told, prior: Table, *, number: bool, smooth: bool) -> Table:
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


def _with_known_mean(shares: Table, column: NumberColumn, reports: NDArray[np.float64]) -> Table:
    """Return the shares with the mean that models of noised records fall back to.

    A mean is known better than shares, and what a tree on synthetic rows answers is a mean.
    """
    channel = channel_of(column)
    cells = channel.cells(reports)
    if (cells >= 0).sum() < _REPORTS:
        return shares
    return _tilted(shares, pulled_mean(read_column(channel, cells, limit=1), cells)[0])


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
