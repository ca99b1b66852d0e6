"""Debiased moments of all readings together, and how noisy they are.

Noise of different columns is independent, so the mean product of two columns' readings is the mean
product of the functions that they read. Within a column the functions are orthonormal by
construction. Where owners told some columns only, a product is averaged over those who told both.
Records are read in one pass, a few thousand at a time: nothing of their number is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.noise_aware_columns import ColumnReading

__all__ = ["Moments", "repair", "take_moments"]

Table = NDArray[np.float64]
Cells = NDArray[np.int64]
# The least variance of a combination of functions of unit variance.
_FLOOR: Final = 0.05
# Up to so many records for each column, all noise of readings is counted. Found by trial.
_ENOUGH: Final = 100.0
_CHUNK: Final = 1 << 14


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Moments:
    """Sums over all records of products of centred readings; a cell that is empty counts as 0.

    Parameters
    ----------
    centres : ndarray of float, shape (q,)
        Means of the readings, which were taken off.
    owner, order : ndarray of int, shape (q,)
        The column of each function, and its place among those of its column.
    products, squares : ndarray of float, shape (q, q)
        Sums of products of two readings, and of squared products.
    pairs : ndarray of float, shape (q, q)
        How many records have both.
    seen, both : ndarray of float, shape (q, q)
        The sums of products, and the counts, of those records that have the target.
    targets : ndarray of float, shape (q, m)
        Sums of products with readings of m targets.
    """

    centres: Table
    owner: Cells
    order: Cells
    products: Table
    squares: Table
    pairs: Table
    seen: Table
    both: Table
    targets: Table

    @property
    def within(self) -> NDArray[np.bool_]:
        """Which pairs of functions belong to one column."""
        return np.equal.outer(self.owner, self.owner)

    def gram(self) -> Table:
        """Return the correlations of all functions, each pulled to 0 as its noise demands.

        A pair's product has a standard error that the data show. Products of functions of the same
        two orders are taken for draws from one distribution, whose variance is what the noise does
        not explain: the known share of each is kept.

        Returns
        -------
        ndarray of float, shape (q, q)
            Positive definite, with a diagonal of 1.
        """
        products = self.products / np.maximum(self.pairs, 1.0)
        return repair(np.where(self.within, np.eye(len(products)), self._kept() * products))

    def told(self, gram: Table, records: float) -> Table:
        """Return the mean products of readings, with as much of their noise as moments have.

        The noise of a column's readings is in the moments as far as its products with others were
        kept. But a gram matrix from few records is wrong in other ways, too, so that the less of
        them there are for each column, the more of the noise is counted.

        Parameters
        ----------
        gram : ndarray of float, shape (q, q)
            Correlations of the functions.
        records : float
            How many have the target.

        Returns
        -------
        ndarray of float, shape (q, q)
        """
        across = ~self.within
        known = np.where(across, self._kept(), 0.0).sum(axis=0) / np.maximum(across.sum(axis=0), 1)
        doubt = min(1.0, _ENOUGH * len(np.unique(self.owner)) / records)
        share = np.sqrt(known + (1 - known) * doubt)
        counted = np.outer(share, share)
        return np.asarray(counted * self.seen / records + (1 - counted) * gram)

    def covariance(self) -> Table:
        """Return the mean product of each reading with those of the targets, shape (q, m)."""
        counts = np.maximum(np.diag(self.both), 1.0)
        return np.asarray(self.targets / counts[:, np.newaxis])

    def noise(self, gram: Table) -> Table:
        """Return the noise of `covariance`, for a target whose readings have variance 1.

        Parameters
        ----------
        gram : ndarray of float, shape (q, q)
            Correlations of the functions.

        Returns
        -------
        ndarray of float, shape (q, q)
            Readings of one column are uncorrelated; those of different columns are as correlated
            as the functions that they read.
        """
        # What was never told together with the target is as noisy as if one record had told it.
        both = np.maximum(self.both, np.eye(len(gram)))
        counts = np.diag(both)
        own = np.diag(self.products) / np.maximum(np.diag(self.pairs), 1.0)
        alike = np.where(self.within, np.diag(np.maximum(own, 1.0)), gram)
        return repair(alike * both / np.outer(counts, counts), unit=False)

    def _kept(self) -> Table:
        """Return which share of each mean product is believed."""
        pairs = np.maximum(self.pairs, 1.0)
        squares = np.square(self.products / pairs)
        noise = np.maximum(self.squares / pairs - squares, 0.0) / pairs
        return _kept_share(squares, noise, self._kinds())

    def _kinds(self) -> Cells:
        kinds = self.order[:, np.newaxis] * (self.order.max() + 1) + self.order
        return np.where(self.within, -1, kinds)


def take_moments(
    columns: Sequence[ColumnReading], cells: Sequence[Cells], targets: Table, told: Table
) -> Moments:
    """Read all records once.

    Parameters
    ----------
    columns : sequence of ColumnReading
        How to read each column.
    cells : sequence of ndarray of int64
        The cells of its reports.
    targets : ndarray of float, shape (records, m)
        Centred readings of the targets; 0 where they were not told.
    told : ndarray of float, shape (records,)
        1 where the target was told, else 0.

    Returns
    -------
    Moments
    """
    widths = [each.readings.shape[1] for each in columns]
    owner = np.repeat(np.arange(len(widths)), widths)
    centres = np.concatenate([_means(*pair) for pair in zip(columns, cells, strict=True)])
    size, count = len(owner), len(columns)
    products, squares, seen = (np.zeros((size, size)) for _ in range(3))
    pairs, both = np.zeros((count, count)), np.zeros((count, count))
    sums = np.zeros((size, targets.shape[1]))
    for rows, table, there in _chunks(columns, cells, centres):
        known = told[rows, np.newaxis]
        products += table.T @ table
        squares += np.square(table).T @ np.square(table)
        seen += (table * known).T @ table
        pairs += there.T @ there
        both += (there * known).T @ there
        sums += table.T @ targets[rows]
    return Moments(
        centres=centres,
        owner=owner,
        order=np.concatenate([np.arange(width) for width in widths]),
        products=products,
        squares=squares,
        pairs=pairs[np.ix_(owner, owner)],
        seen=seen,
        both=both[np.ix_(owner, owner)],
        targets=sums,
    )


def repair(matrix: Table, *, unit: bool = True) -> Table:
    """Return the nearest matrix in its own directions that is positive definite.

    Parameters
    ----------
    matrix : ndarray of float, shape (q, q)
        Symmetric.
    unit : bool, default True
        Whether the diagonal is one, and is to be so again.

    Returns
    -------
    ndarray of float, shape (q, q)

    Examples
    --------
    >>> repair(np.array([[1.0, 1.5], [1.5, 1.0]])).round(3)
    array([[1.   , 0.961],
           [0.961, 1.   ]])
    """
    scale = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    mended = (vectors * np.maximum(values, _FLOOR)) @ vectors.T
    if unit:
        scale = 1 / np.sqrt(np.diag(mended))
    return np.asarray(mended * np.outer(scale, scale))


def _means(column: ColumnReading, cells: Cells) -> Table:
    counts = np.bincount(cells[cells >= 0], minlength=len(column.readings))
    means: Table = counts @ column.readings / max(int(counts.sum()), 1)
    return means


def _chunks(
    columns: Sequence[ColumnReading], cells: Sequence[Cells], centres: Table
) -> Iterator[tuple[slice, Table, Table]]:
    """Yield centred readings of some records at a time, and which columns they told."""
    widths = [each.readings.shape[1] for each in columns]
    for start in range(0, len(cells[0]), _CHUNK):
        rows = slice(start, start + _CHUNK)
        there = (np.column_stack([own[rows] for own in cells]) >= 0).astype(np.float64)
        pairs = zip(columns, cells, strict=True)
        table = np.hstack([each.tell(own[rows]) for each, own in pairs])
        yield rows, (table - centres) * np.repeat(there, widths, axis=1), there


def _kept_share(squares: Table, noise: Table, kinds: Cells) -> Table:
    """Return signal / (signal + noise) of each pair, with one signal for all pairs of a kind."""
    signal = np.zeros_like(noise)
    for kind in np.unique(kinds[kinds >= 0]):
        alike = kinds == kind
        signal[alike] = max(float((squares - noise)[alike].mean()), 0.0)
    return np.divide(signal, signal + noise, out=np.zeros_like(noise), where=signal > 0)
