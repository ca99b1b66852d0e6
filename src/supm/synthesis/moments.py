"""Covariances of true records from unbiased reports, with their standard errors.

The noise of different columns is independent, so products of unbiased reports of different columns
are unbiased for the products of the truths. Within a class of the target, each record counts by an
unbiased weight for its true class.

The target, if it is a class, is the root: everything else is learned within its classes. Numbers
and ordered classes are *scaled*: they have a place between 0 and 1 and go into the copula. The
other classes are *nominal*: they go into a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn, Column

__all__ = ["ColumnRoles", "RecordMoments", "learn_moments"]

Matrix = NDArray[np.float64]
_CHUNK: Final = 1 << 15


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordMoments:
    """Means and covariances of all numbers that stand for a record."""

    mean: Matrix
    covariance: Matrix
    pairs: Matrix
    products: Matrix
    sums: Matrix
    weights: Matrix

    @property
    def errors(self) -> Matrix:
        """The standard error of each covariance; infinite where no record has both numbers."""
        spread = np.diag(self.covariance)
        # What is beyond floats is as good as never observed.
        with np.errstate(over="ignore"):
            squares = np.outer(spread, spread) / np.maximum(self.pairs, 1.0)
        return np.where(self.pairs > 0, np.sqrt(squares), np.inf)

    def within(self, place: int, share: float, centre: Matrix) -> tuple[Matrix, Matrix]:
        """Return the covariance within one class of the target, and its standard errors."""
        offset = centre - self.mean
        cross = np.outer(self.sums[place], offset)
        weight, square = self.weights[place]
        total = self.products[place] - cross - cross.T + weight * np.outer(offset, offset)
        return total / share, self.errors * np.sqrt(square) / share


def learn_moments(archive: Archive, layout: ColumnRoles) -> RecordMoments:
    """Add up products of unbiased reports, in chunks, so that memory does not grow with records."""
    sums = _Sums(archive, layout)
    for rows in _chunks(archive.rows):
        sums.add(rows)
    return sums.moments()


class _Sums:
    """What is added up over chunks of records."""

    def __init__(self, archive: Archive, layout: ColumnRoles) -> None:
        self._archive, self._layout = archive, layout
        self._whole = archive.schema.asked is None
        self._root = layout.root if self._whole else None
        size = layout.width
        classes = 0 if self._root is None else len(self._root.values)
        self._mean = _means(archive, layout)
        self._total, self._pairs = np.zeros((size, size)), np.zeros((size, size))
        self._products, self._sums = np.zeros((classes, size, size)), np.zeros((classes, size))
        self._weights = np.zeros((classes, 2))

    def add(self, rows: slice) -> None:
        """Add one chunk."""
        numbers = self._layout.unbiased(self._archive, rows) - self._mean
        if self._whole:
            self._pairs += len(numbers)
        else:
            there = ~np.isnan(numbers)
            self._pairs += there.T.astype(float) @ there
            numbers = np.where(there, numbers, 0.0)
        self._total += numbers.T @ numbers
        if self._root is not None:
            self._add_classes(numbers, self._root.unbiased(self._reports(rows)))

    def _reports(self, rows: slice) -> NDArray[np.int64]:
        name = "" if self._root is None else self._root.name
        reports: NDArray[np.int64] = self._archive.reports[name][rows]
        return reports

    def _add_classes(self, numbers: Matrix, shares: Matrix) -> None:
        self._weights[:, 0] += shares.sum(axis=0)
        self._weights[:, 1] += np.square(shares).sum(axis=0)
        self._sums += shares.T @ numbers
        for place in range(shares.shape[1]):
            self._products[place] += (numbers * shares[:, place : place + 1]).T @ numbers

    def moments(self) -> RecordMoments:
        """Return the means of all that was added."""
        count = self._archive.rows
        return RecordMoments(
            mean=self._mean,
            covariance=self._total / np.maximum(self._pairs, 1.0),
            pairs=self._pairs,
            products=self._products / count,
            sums=self._sums / count,
            weights=self._weights / count,
        )


def _chunks(rows: int) -> list[slice]:
    return [slice(start, min(start + _CHUNK, rows)) for start in range(0, rows, _CHUNK)]


def _means(archive: Archive, layout: ColumnRoles) -> Matrix:
    """Return the mean of each number over the records that have it."""
    sums, told = np.zeros(layout.width), np.zeros(layout.width)
    for rows in _chunks(archive.rows):
        numbers = layout.unbiased(archive, rows)
        told += (~np.isnan(numbers)).sum(axis=0)
        sums += np.nansum(numbers, axis=0)
    return np.asarray(sums / np.maximum(told, 1.0))


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of the columns of a schema.

    Examples
    --------
    >>> from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
    >>> from supm.synthesis import NumberColumn
    >>> answer = GeneralizedRandomizedResponse.with_keep(size=2, keep=0.75)
    >>> schema = ArchiveSchema(
    ...     columns=(
    ...         NumberColumn("age", ContinuousLaplace(low=0, high=100, scale=50)),
    ...         ClassColumn("sex", ("f", "m"), answer),
    ...         ClassColumn("ill", ("no", "yes"), answer),
    ...     ),
    ...     target="ill",
    ... )
    >>> layout = ColumnRoles(schema)
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
            each for each in self.schema.columns if each != self.root and each.kind != "unordered"
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
            told[:, place] = column.scaled(archive.reports[column.name][rows])
        for block, column in zip(self.blocks, self.nominal, strict=True):
            told[:, block] = column.unbiased(archive.reports[column.name][rows])
        return told
