"""The distinct rows of a table of whole numbers, by sorting one number for each row."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_rows"]

_NUMBERS: Final = 1 << 62


def distinct_rows(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows in increasing order, and the place of each row among them.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, width)
        At least one row.

    Returns
    -------
    distinct : ndarray of int64, shape (distinct, width)
    place : ndarray of int64, shape (n,)

    Examples
    --------
    >>> distinct_rows(np.array([[5, 0], [2, 1], [5, 0]]))
    (array([[2, 1],
           [5, 0]]), array([1, 0, 1]))
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    spans = [int(most) - int(least) + 1 for least, most in zip(low, high, strict=True)]
    if math.prod(spans) > _NUMBERS:
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        return distinct, place.ravel()
    numbers = np.zeros(len(rows), dtype=np.int64)
    for column, span in enumerate(spans):
        numbers *= span
        numbers += rows[:, column] - low[column]
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    return rows[first], place
