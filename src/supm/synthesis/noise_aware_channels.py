"""How a column was noised, as a matrix: true places to cells of reports, rows sum to one.

A number is known up to a place on a public grid. Both bounds are places of their own: clipping,
zeros that stand for "none" and numbers that are yes or no put many records there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.synthesis.archive_schema import Column, NumberColumn
from supm.synthesis.noise_laws import NumberLaw

__all__ = ["Channel", "channel_of", "clean_channel"]

Kind = Literal["number", "ordered", "unordered"]

# Finer than the noise of any epsilon up to 10 lets be seen.
_INNER: Final = 48
# A bound is a bin so narrow that no other value falls into it.
_NARROW: Final = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Channel:
    """The places that a true value can have, and the cells in which its report can fall.

    Parameters
    ----------
    kind : {"number", "ordered", "unordered"}
        Whether values have distances, an order, or neither.
    places : ndarray of float
        Of a number: where on the way from the low bound, 0, to the high bound, 1. Of a class: the
        same by its place in the list.
    matrix : ndarray of float, shape (places, cells)
        Probability of each cell for each place.
    low, high : float
        Public bounds of a number.
    borders : ndarray of float
        Inner borders of the cells of a number; empty where reports are classes.
    """

    kind: Kind
    places: NDArray[np.float64]
    matrix: NDArray[np.float64]
    low: float = 0.0
    high: float = 1.0
    borders: NDArray[np.float64]

    def cells(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the cell of each report, and -1 for a report that is not there.

        Parameters
        ----------
        reports : array-like
            Numbers, NaN where one is absent; or places in the list of classes, -1 for absent.

        Returns
        -------
        ndarray of int64
        """
        told = np.asarray(reports)
        if self.kind != "number":
            return told.astype(np.int64)
        found = np.searchsorted(self.borders, told, side="right")
        return np.where(np.isnan(told), -1, found).astype(np.int64)

    def scaled(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return where clean numbers lie between the bounds, from 0 to 1; beyond is clipped."""
        numbers = np.asarray(values, dtype=np.float64)
        return np.clip((numbers - self.low) / (self.high - self.low), 0.0, 1.0)


def channel_of(column: Column) -> Channel:
    """Return the channel of a column of an archive.

    Parameters
    ----------
    column : NumberColumn or ClassColumn
        With its law.

    Returns
    -------
    Channel

    Examples
    --------
    >>> from supm.synthesis import LaplaceLaw
    >>> age = NumberColumn("age", LaplaceLaw.for_epsilon(low=0, high=100, epsilon=2.0))
    >>> channel = channel_of(age)
    >>> channel.matrix.shape, float(channel.matrix.sum(axis=1).min().round(9))
    ((50, 22), 1.0)
    >>> channel.cells([-500.0, 50.0, np.nan])
    array([ 0, 11, -1])
    """
    if isinstance(column, NumberColumn):
        return _number_channel(column.law)
    kind: Kind = "ordered" if column.ordered else "unordered"
    return _class_channel(kind, column.law.channel())


def clean_channel(size: int) -> Channel:
    """Return the channel of classes that were never noised.

    Parameters
    ----------
    size : int
        How many classes there are.

    Returns
    -------
    Channel

    Examples
    --------
    >>> clean_channel(2).matrix
    array([[1., 0.],
           [0., 1.]])
    """
    return _class_channel("unordered", np.eye(size))


def _number_channel(law: NumberLaw) -> Channel:
    edges = _edges(law)
    cells = law.report_cells(edges)
    centres = (edges[:-1] + edges[1:]) / 2
    places = (centres - law.low) / law.span
    places[[0, -1]] = 0.0, 1.0
    return Channel(
        kind="number",
        places=places,
        matrix=law.transition(edges, cells),
        low=law.low,
        high=law.high,
        borders=cells[1:-1],
    )


def _edges(law: NumberLaw) -> NDArray[np.float64]:
    """Return equal bins, and a narrow one at either bound."""
    inner = law.edges(_INNER)
    bounds = law.low + law.span * _NARROW, law.high - law.span * _NARROW
    return np.concatenate((inner[:1], bounds[:1], inner[1:-1], bounds[1:], inner[-1:]))


def _class_channel(kind: Kind, matrix: NDArray[np.float64]) -> Channel:
    places = np.arange(len(matrix)) / max(len(matrix) - 1, 1)
    return Channel(kind=kind, places=places, matrix=matrix, borders=np.empty(0))
