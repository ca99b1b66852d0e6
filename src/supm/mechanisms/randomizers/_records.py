"""Records of several finite attributes: their checks and their numbering by mixed radix."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm.mechanisms.randomizers._channel import LISTED
from supm.mechanisms.randomizers._frequency import SIZE, as_numbers

__all__ = [
    "all_records",
    "check_classes",
    "check_sizes",
    "check_table",
    "number_records",
    "record_numbers",
]

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
        message = f"values must be rows of {width} whole numbers; check the shape and the type."
        raise RecordError(message)
    if len(records) == 0:
        message = "values must hold at least one record, got none; check what was passed."
        raise RecordError(message)
    return records


def number_records(values: ArrayLike, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Return records' numbers by mixed radix, the last attribute running fastest.

    The product of the sizes is at most 2^40, so sums of products of floats are exact and run in
    BLAS.
    """
    records = check_table(values, len(sizes))
    weights = np.array([float(math.prod(sizes[place + 1 :])) for place in range(len(sizes))])
    numbers = np.empty(len(records), dtype=np.int64)
    for start in range(0, len(records), _ROWS):
        rows = records[start : start + _ROWS]
        check_classes(rows, sizes)
        numbers[start : start + _ROWS] = rows.astype(np.float64) @ weights
    return numbers


def check_classes(rows: NDArray[np.integer], sizes: tuple[int, ...]) -> None:
    """Raise RecordError, which names the attribute and no value, where a class is out of range."""
    # From here up, a number read without its sign was negative.
    negative = int(np.iinfo(rows.dtype).max) + 1
    for attribute, (largest, size) in enumerate(zip(_largest(rows), sizes, strict=True)):
        if int(largest) >= min(size, negative):
            message = (
                f"attribute {attribute} must be a class 0 … {size - 1}; at least one is outside."
            )
            raise RecordError(message)


def _largest(rows: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return each column's largest number, negative ones read without their sign and so as huge.

    Rows are first folded into long ones: NumPy is slow on the maximum of many short rows.
    """
    unsigned = np.ascontiguousarray(rows).view(rows.dtype.str.replace("i", "u"))
    whole = len(unsigned) // _FOLD * _FOLD
    width = unsigned.shape[1]
    folded = unsigned[:whole].reshape(-1, _FOLD * width).max(axis=0, initial=0)
    largest: NDArray[np.integer] = np.vstack((folded.reshape(_FOLD, width), unsigned[whole:])).max(
        axis=0
    )
    return largest


def record_numbers(numbers: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the records that have the given numbers."""
    return np.stack(np.unravel_index(numbers, sizes), axis=-1)


def all_records(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """List all records in the order of their numbers."""
    cells = LISTED.check(math.prod(sizes))
    return record_numbers(np.arange(cells, dtype=np.int64), sizes)
