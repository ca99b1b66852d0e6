"""Which role each column has in a synthetic table, and its reports in the form that it needs.

The target, if it is a class, is the root: everything else is learned within its classes. Numbers
and ordered classes are *scaled*: they have a place between 0 and 1 and go into the copula. The
other classes are *nominal*: they go into a tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.archive import Archive
from supm.synthesis.archive_schema import ArchiveSchema, ClassColumn, Column, NumberColumn

__all__ = ["Layout", "Told", "count_together", "told_cells"]


@dataclass(frozen=True)
class Layout:
    """The roles of the columns of a schema.

    Parameters
    ----------
    schema : ArchiveSchema
        Whose columns these are.

    Examples
    --------
    >>> from supm.synthesis import LaplaceLaw, ResponseLaw
    >>> schema = ArchiveSchema(
    ...     columns=(
    ...         NumberColumn("age", LaplaceLaw(low=0, high=100, scale=50)),
    ...         ClassColumn("sex", ("f", "m"), ResponseLaw(size=2, keep=0.75)),
    ...         ClassColumn("ill", ("no", "yes"), ResponseLaw(size=2, keep=0.75)),
    ...     ),
    ...     target="ill",
    ... )
    >>> layout = Layout(schema)
    >>> layout.root.name, [c.name for c in layout.scaled], [c.name for c in layout.nominal]
    ('ill', ['age'], ['sex'])
    """

    schema: ArchiveSchema

    @cached_property
    def root(self) -> ClassColumn | None:
        """The target, if it is a class."""
        target = self.schema.target
        column = None if target is None else self.schema.column(target)
        return column if isinstance(column, ClassColumn) else None

    @cached_property
    def scaled(self) -> tuple[Column, ...]:
        """Numbers and ordered classes."""
        return tuple(
            each
            for each in self.schema.columns
            if each != self.root and (isinstance(each, NumberColumn) or each.ordered)
        )

    @cached_property
    def nominal(self) -> tuple[ClassColumn, ...]:
        """Classes without an order."""
        return tuple(each for each in self.schema.classes if each != self.root and not each.ordered)

    @property
    def width(self) -> int:
        """How many numbers stand for a record: one for a scaled column, one for each class."""
        return len(self.scaled) + sum(len(each.values) for each in self.nominal)

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Where the classes of each nominal column stand among those numbers."""
        sizes = [len(each.values) for each in self.nominal]
        ends = len(self.scaled) + np.cumsum(sizes, dtype=int)
        return tuple(slice(int(e - s), int(e)) for e, s in zip(ends, sizes, strict=True))

    def unbiased(self, archive: Archive, rows: slice) -> NDArray[np.float64]:
        """Return the numbers of some records, each without bias; NaN where nothing was asked."""
        told = np.empty((len(range(*rows.indices(archive.rows))), self.width))
        for place, column in enumerate(self.scaled):
            told[:, place] = _scaled(column, archive.reports[column.name][rows])
        for block, column in zip(self.blocks, self.nominal, strict=True):
            codes = archive.reports[column.name][rows]
            told[:, block] = column.law.unbiased(codes)
            told[codes < 0, block] = np.nan
        return told


def _scaled(column: Column, reports: NDArray[Any]) -> NDArray[np.float64]:
    if isinstance(column, NumberColumn):
        return (column.law.unbiased(reports) - column.law.low) / column.law.span
    law = column.law
    scores = np.arange(law.size) / (law.size - 1)
    # Unbiased as the indicators are: scores less the mean of a random answer, stretched.
    stretched = (scores - law.lie * scores.sum()) / (law.keep - law.lie)
    return np.where(reports < 0, np.nan, stretched[reports])


@dataclass(frozen=True, eq=False)
class Told:
    """Reports of one column as cells of a finite alphabet, with the channel into it.

    Parameters
    ----------
    cells : ndarray of int
        One for each record, -1 where nothing was asked.
    channel : ndarray of float
        Probability of each cell (column) for each bin or class (row).
    """

    cells: NDArray[np.int64]
    channel: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self.channel.shape[1])


def told_cells(
    column: Column,
    reports: NDArray[Any],
    bins: int,
    cells: NDArray[np.float64] | None = None,
) -> Told:
    """Return the cells of a column's reports: public ones, that do not depend on the reports.

    Parameters
    ----------
    column : NumberColumn or ClassColumn
        How it was noised.
    reports : ndarray
        What was stored.
    bins : int
        How many bins of a number are told apart.
    cells : ndarray of float, optional
        Borders of the cells of a number's reports; by default those that the law advises.

    Returns
    -------
    Told
    """
    if isinstance(column, ClassColumn):
        return Told(reports, column.law.channel())
    law = column.law
    edges = law.edges(bins)
    borders = law.report_cells(edges) if cells is None else cells
    places = np.searchsorted(borders[1:-1], reports, side="right")
    if np.isnan(reports).any():
        places[np.isnan(reports)] = -1
    return Told(places, law.transition(edges, borders))


def count_together(columns: Sequence[Told]) -> NDArray[np.int64]:
    """Count how often each combination of cells was reported, by records that have all of them.

    Parameters
    ----------
    columns : sequence of Told
        One for each axis of the table.

    Returns
    -------
    ndarray of int
    """
    shape = tuple(each.size for each in columns)
    asked = np.logical_and.reduce([each.cells >= 0 for each in columns])
    cells = [each.cells if asked.all() else each.cells[asked] for each in columns]
    places = np.ravel_multi_index(cells, shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)
