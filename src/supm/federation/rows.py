"""Records as rows of whole numbers of bounded norm, and exact sums over them.

A row is a vector on the public grid of 2^-16 whose norm is at most one. It is stored as whole
numbers (multiples of the grid), rounded towards zero, which never lengthens it. Sums of rows and of
their products are then whole numbers too: they do not depend on the order of summation, and what
one record can change in them is known exactly, without a term for rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from supm._errors import ParameterError, RecordError
from supm._validation import check_kind

__all__ = [
    "GRID",
    "Rows",
    "class_counts",
    "class_sums",
    "grid_rows",
    "scatter",
    "triangle",
    "untriangle",
]

GRID: Final = 1 << 16
"""One, in steps of the grid."""

_LONGEST_SQUARE: Final = GRID * GRID


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """The private rows of one party.

    Parameters
    ----------
    values : ndarray of float64, shape (rows, width)
        Whole numbers; the squares of a row sum to at most 2^32.
    labels : ndarray of int64
        The class of each row, 0 … classes - 1.
    classes : int
        How many classes the public description has; some may have no row.
    clipped : int
        How many rows were longer than one before they were shortened.

    Examples
    --------
    >>> rows = grid_rows(np.array([[0.6, 0.8], [3.0, 4.0]]), np.array([0, 1]), classes=2)
    >>> rows.values.tolist(), rows.clipped
    ([[39321.0, 52428.0], [39321.0, 52428.0]], 1)
    """

    values: NDArray[np.float64]
    labels: NDArray[np.int64]
    classes: int
    clipped: int = 0

    def __post_init__(self) -> None:
        check_kind("values", self.values, np.ndarray)
        if self.values.ndim != 2 or self.values.shape[0] != self.labels.size:
            raise ParameterError("values", "one row for each label", "another shape")
        if self.labels.size and not 0 <= self.labels.min() <= self.labels.max() < self.classes:
            message = f"each label must be one of the {self.classes} public classes."
            raise RecordError(message)
        if not np.issubdtype(self.labels.dtype, np.integer):
            raise ParameterError("labels", "whole numbers", self.labels.dtype.name)
        # Written so that NaN, which compares to nothing, does not pass.
        if not (self.values == np.trunc(self.values)).all():
            raise ParameterError("values", "whole numbers, in steps of the grid", "others")
        if not (np.square(self.values).sum(axis=1) <= _LONGEST_SQUARE).all():
            raise ParameterError("values", "rows of norm at most one", "a longer one")

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.labels.size)

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return int(self.values.shape[1])

    @property
    def unit(self) -> NDArray[np.float64]:
        """The rows as vectors of norm at most one."""
        return self.values / GRID

    def __repr__(self) -> str:
        """Say how many there are, never what they are."""
        return f"Rows(size={self.size}, width={self.width}, classes={self.classes})"


def grid_rows(
    vectors: NDArray[np.float64], labels: NDArray[np.int64], *, classes: int, extra: int = 0
) -> Rows:
    """Shorten vectors to norm one where they are longer, and move them to the grid.

    Parameters
    ----------
    vectors : ndarray of float64, shape (rows, width)
        Finite numbers, scaled by a public constant.
    labels : ndarray of int64
        The class of each.
    classes : int
        How many classes the public description has.
    extra : int, default 0
        How many were shortened before; it is added to the count.

    Returns
    -------
    Rows

    Raises
    ------
    RecordError
        If a number is not finite.
    """
    if not np.isfinite(vectors).all():
        message = "a record has a value that is not a finite number; remove it or mark it missing."
        raise RecordError(message)
    # In units of its largest number, a row has a length that no float is too small for.
    largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1.0)
    near = vectors / largest[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", near, near))
    long = (largest > 1.0) | (lengths > 1.0)
    scale = np.divide(GRID, lengths, out=np.full(lengths.shape, float(GRID)), where=long)
    values = np.trunc(near * scale[:, None])
    over = np.minimum(largest, 2.0) * lengths > 1.0 + 1e-9
    clipped = int(np.count_nonzero(over)) + extra
    return Rows(values=_shortened(values), labels=labels, classes=classes, clipped=clipped)


def _shortened(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shorten what the rounding of a quotient left a step too long."""
    long = np.flatnonzero(np.square(values).sum(axis=1) > _LONGEST_SQUARE)
    while long.size:
        values[long] = np.trunc(values[long] * (1.0 - 1.0 / GRID))
        long = long[np.square(values[long]).sum(axis=1) > _LONGEST_SQUARE]
    return values


# A product of two entries is below 2^32, so floats add 2^20 of them without rounding.
_EXACT_ROWS: Final = 1 << 20


def scatter(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the sum of each row's products with itself, in steps of 2^-32."""
    width = values.shape[1]
    total = np.zeros((width, width), dtype=np.int64)
    for start in range(0, len(values), _EXACT_ROWS):
        # The transpose of a C-ordered block is what BLAS reads without a copy.
        upper = dsyrk(1.0, values[start : start + _EXACT_ROWS].T)
        total += upper.astype(np.int64)
    return np.triu(total) + np.triu(total, 1).T


def class_sums(rows: Rows) -> NDArray[np.int64]:
    """Return the sum of the rows of each class, in steps of 2^-16."""
    member = (rows.labels[None, :] == np.arange(rows.classes)[:, None]).astype(np.float64)
    return np.asarray(member @ rows.values).astype(np.int64)


def class_counts(rows: Rows) -> NDArray[np.int64]:
    """Return how many rows each class has, in steps of 2^-16."""
    return np.bincount(rows.labels, minlength=rows.classes).astype(np.int64) * GRID


def triangle(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the upper triangle of a symmetric matrix as a vector."""
    return matrix[np.triu_indices(len(matrix))]


def untriangle(vector: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the symmetric matrix of which `triangle` gave a vector."""
    matrix = np.zeros((width, width), dtype=np.int64)
    matrix[np.triu_indices(width)] = vector
    return matrix + np.triu(matrix, 1).T
