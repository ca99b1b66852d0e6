"""Exact sums over rows: whole numbers, whatever the order in which they are added."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from supm.federation.rows import GRID, Rows

__all__ = ["class_counts", "class_sums", "scatter", "triangle", "untriangle"]

# A product of two entries is below 2^32, so floats add 2^20 of them without rounding.
_EXACT_ROWS: Final = 1 << 20


def scatter(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the sum of each row's products with itself, in steps of 2^-32.

    Parameters
    ----------
    values : ndarray of float64, shape (rows, width)
        The ``values`` of Rows: whole numbers of norm at most 2^16.

    Returns
    -------
    ndarray of int64, shape (width, width)

    Examples
    --------
    >>> scatter(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[10, 14], [14, 20]]
    """
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
    """Return how many rows each class has, in steps of 2^-16.

    Examples
    --------
    >>> from supm.federation.rows import grid_rows
    >>> class_counts(grid_rows(np.zeros((3, 1)), np.array([0, 1, 1]), classes=2)).tolist()
    [65536, 131072]
    """
    return np.bincount(rows.labels, minlength=rows.classes).astype(np.int64) * GRID


def triangle(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the upper triangle of a symmetric matrix as a vector.

    Examples
    --------
    >>> triangle(np.array([[1, 2], [2, 3]])).tolist()
    [1, 2, 3]
    """
    return matrix[np.triu_indices(len(matrix))]


def untriangle(vector: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the symmetric matrix of which `triangle` gave a vector."""
    matrix = np.zeros((width, width), dtype=np.int64)
    matrix[np.triu_indices(width)] = vector
    return matrix + np.triu(matrix, 1).T
