"""Covariances of true records from unbiased reports, with their standard errors.

The noise of different columns is independent, so products of unbiased reports of different columns
are unbiased for the products of the truths. Within a class of the target, each record counts by an
unbiased weight for its true class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.archive import Archive
from supm.synthesis.layout import Layout

__all__ = ["Moments", "learn_moments"]

Matrix = NDArray[np.float64]

_CHUNK: Final = 1 << 15


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Means and covariances of all numbers that stand for a record.

    Parameters
    ----------
    mean : ndarray of float, shape (d,)
        Of the unbiased numbers.
    covariance : ndarray of float, shape (d, d)
        Without bias between different columns; those of one column have its noise in them.
    pairs : ndarray of float, shape (d, d)
        How many records have both numbers.
    products : ndarray of float, shape (classes, d, d)
        For each class of the target the mean over all records of weight · product, both numbers
        measured from their mean. Empty where there is no such target.
    sums : ndarray of float, shape (classes, d)
        The mean of weight · number, alike.
    weights : ndarray of float, shape (classes, 2)
        The mean of the weights and of their squares.
    """

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
        """Return the covariance within one class of the target, and its standard errors.

        Parameters
        ----------
        place : int
            Which class.
        share : float
            Its share of all records, above zero.
        centre : ndarray of float, shape (d,)
            The mean of the class.

        Returns
        -------
        tuple of two ndarrays of float, shape (d, d)
        """
        offset = centre - self.mean
        cross = np.outer(self.sums[place], offset)
        weight, square = self.weights[place]
        total = self.products[place] - cross - cross.T + weight * np.outer(offset, offset)
        return total / share, self.errors * np.sqrt(square) / share


def learn_moments(archive: Archive, layout: Layout) -> Moments:
    """Add up products of unbiased reports, in chunks, so that memory does not grow with records.

    Parameters
    ----------
    archive : Archive
        The noised records.
    layout : Layout
        The roles of their columns.

    Returns
    -------
    Moments
        Those within classes need every cell: where some were asked only, they are left out.
    """
    sums = _Sums(archive, layout)
    for rows in _chunks(archive.rows):
        sums.add(rows)
    return sums.moments()


class _Sums:
    """What is added up over chunks of records."""

    def __init__(self, archive: Archive, layout: Layout) -> None:
        self._archive, self._layout = archive, layout
        self._whole = archive.schema.asked is None
        self._root = layout.root if self._whole else None
        size = layout.width
        classes = 0 if self._root is None else self._root.law.size
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
            self._add_classes(numbers, self._root.law.unbiased(self._reports(rows)))

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

    def moments(self) -> Moments:
        """Return the means of all that was added."""
        count = self._archive.rows
        return Moments(
            mean=self._mean,
            covariance=self._total / np.maximum(self._pairs, 1.0),
            pairs=self._pairs,
            products=self._products / count,
            sums=self._sums / count,
            weights=self._weights / count,
        )


def _chunks(rows: int) -> list[slice]:
    return [slice(start, min(start + _CHUNK, rows)) for start in range(0, rows, _CHUNK)]


def _means(archive: Archive, layout: Layout) -> Matrix:
    """Return the mean of each number over the records that have it."""
    sums, told = np.zeros(layout.width), np.zeros(layout.width)
    for rows in _chunks(archive.rows):
        numbers = layout.unbiased(archive, rows)
        told += (~np.isnan(numbers)).sum(axis=0)
        sums += np.nansum(numbers, axis=0)
    return np.asarray(sums / np.maximum(told, 1.0))
