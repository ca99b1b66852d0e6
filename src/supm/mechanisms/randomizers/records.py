"""Records of several finite attributes: their checks and their numbering by mixed radix."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm.mechanisms.randomizers.frequency import SIZE
from supm.mechanisms.randomizers.randomizer import LISTED, as_numbers

_ROWS = 1 << 14
_FOLD = 64


def check_sizes(sizes: object) -> tuple[int, ...]:
    """Return the attributes' sizes, or raise ParameterError."""
    if not isinstance(sizes, Iterable):
        raise ParameterError("sizes", "a list with one number per attribute", sizes)
    checked = tuple(SIZE.check(size) for size in sizes)
    if not checked:
        raise ParameterError("sizes", "at least one attribute", "none")
    return checked


def check_table(values: ArrayLike, width: int) -> NDArray[np.integer]:
    """Return the values as a table of whole numbers, or raise without showing them."""
    records = as_numbers(values)
    if records is None or records.ndim != 2 or records.shape[1] != width:
        raise RecordError(
            f"values must be rows of {width} whole numbers; check the shape and the type."
        )
    if len(records) == 0:
        raise RecordError("values must hold at least one record, got none; check what was passed.")
    return records


def number_records(values: ArrayLike, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Return records' numbers by mixed radix, the last attribute running fastest.

    Parameters
    ----------
    values : array-like of int, shape (n, attributes)
        One record per row.
    sizes : tuple of int
        Number of classes of each attribute; their product is at most 2^40.

    Returns
    -------
    ndarray of int64

    Examples
    --------
    >>> number_records([[1, 0], [1, 2]], (2, 3))
    array([3, 5])
    """
    # Sums of products of floats are exact here and run in BLAS: single precision holds numbers of
    # up to 2^24, double precision those of the largest alphabet, 2^40.
    records = check_table(values, len(sizes))
    kind: np.dtype[np.floating] = np.dtype("f4" if math.prod(sizes) <= 1 << 24 else "f8")
    radices = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    weights = np.array(radices, dtype=kind)
    numbers = np.empty(len(records), dtype=np.int64)
    for start in range(0, len(records), _ROWS):
        rows = records[start : start + _ROWS].astype(kind, order="C")
        _check_rows(rows, sizes)
        numbers[start : start + _ROWS] = rows @ weights
    return numbers


def check_classes(records: NDArray[np.integer], sizes: tuple[int, ...]) -> None:
    """Raise RecordError, which names the attribute and no value, where a class is out of range."""
    for start in range(0, len(records), _ROWS):
        _check_rows(records[start : start + _ROWS].astype(np.float64, order="C"), sizes)


def _check_rows(rows: NDArray[np.floating], sizes: tuple[int, ...]) -> None:
    """Check classes that were turned into floats, which keeps their order whatever their type."""
    for attribute, (largest, size) in enumerate(zip(_largest(rows), sizes, strict=True)):
        if not 0 <= largest < size:
            raise RecordError(
                f"attribute {attribute} must be a class 0 … {size - 1}; at least one is outside."
            )


def _largest(rows: NDArray[np.floating]) -> list[float]:
    """Return each column's largest number, or a negative one if there is any.

    The bits of a float, read as a whole number, grow with its size and are greatest of all where it
    is negative. Rows are first folded into long ones: NumPy is slow on the maximum of many short
    rows.
    """
    bits = rows.view(np.dtype(f"u{rows.itemsize}"))
    whole, width = len(bits) // _FOLD * _FOLD, bits.shape[1]
    folded = bits[:whole].reshape(-1, _FOLD * width).max(axis=0, initial=0)
    largest = np.vstack((folded.reshape(_FOLD, width), bits[whole:])).max(axis=0)
    found: list[float] = largest.view(rows.dtype).tolist()
    return found


def record_numbers(numbers: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the records that have the given numbers: the inverse of `number_records`.

    Parameters
    ----------
    numbers : ndarray of int64
        Numbers below the product of the sizes.
    sizes : tuple of int
        Number of classes of each attribute.

    Returns
    -------
    ndarray of int64, shape (n, attributes)

    Examples
    --------
    >>> record_numbers(np.array([3, 5]), (2, 3))
    array([[1, 0],
           [1, 2]])
    """
    return np.stack(np.unravel_index(numbers, sizes), axis=-1)


def all_records(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """List all records in the order of their numbers."""
    cells = LISTED.check(math.prod(sizes))
    return record_numbers(np.arange(cells, dtype=np.int64), sizes)
