"""From answers, or records, to rows of features: classes and numbers between -1 and 1."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.mechanisms import Piecewise, Reports
from supm.owner.columns import Column, Labels, Numbers, Signs
from supm.schema import Attribute, Categorical, Continuous, Discretizer, Records, Schema

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_NUMBERS: Final = 1 << 62


def distinct_rows(rows: Ints) -> tuple[Ints, Ints]:
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


def class_features(classes: Ints, discretizers: tuple[Discretizer, ...]) -> Floats:
    """Return the features of rows of classes: a number for ordered classes, else one-hot."""
    tables = [_table(discretizer) for discretizer in discretizers]
    return np.hstack([table[classes[:, place]] for place, table in enumerate(tables)])


def class_numbers(discretizer: Discretizer) -> Floats | None:
    """Return the number in [-1, 1] that stands for each class, or None for unordered ones."""
    scale, attribute = discretizer.representatives, discretizer.attribute
    if scale is None or not isinstance(attribute, Continuous):
        return scale
    low, high = attribute.low, attribute.high
    # Halves first: the sum of two large bounds may overflow.
    return (scale - (low / 2 + high / 2)) / (high / 2 - low / 2)


def number_features(symbols: Ints, columns: tuple[Column, ...]) -> Floats:
    """Return the unbiased reading of rows of numbers."""
    read = [_reading(symbols[:, place], column) for place, column in enumerate(columns)]
    return np.stack(read, axis=1)


def label_numbers(symbols: Ints, column: Column | None) -> Ints:
    """Return the label that each row tells."""
    if isinstance(column, Signs):
        return (column.randomizer.decode(_as_reports(symbols)) > 0).astype(np.int64)
    if isinstance(column, Labels):
        return symbols
    raise ParameterError("label", "told in the train phase", "a question without it")


def _reading(symbols: Ints, column: Column) -> Floats:
    if not isinstance(column, Numbers):
        raise ParameterError("column", "a number", type(column).__name__)
    if isinstance(column.randomizer, Piecewise):
        return column.randomizer.decode(_as_reports(symbols))
    return 2.0 * symbols / (column.randomizer.size - 1) - 1.0


def _as_reports(symbols: Ints) -> Reports:
    return Reports(symbols=symbols, simulation=False)


def _table(discretizer: Discretizer) -> Floats:
    scale, attribute = class_numbers(discretizer), discretizer.attribute
    if scale is None and discretizer.size - (attribute.missing == "class") == 2:
        # Two values are numbers, as in the forms that tell numbers; a missing one is between them.
        scale = np.array([-1.0, 1.0, 0.0])[: discretizer.size]
    if scale is None:
        return 2.0 * discretizer.one_hot(np.arange(discretizer.size)) - 1.0
    return scale[:, np.newaxis]


def raw_features(schema: Schema, records: Records, rows: Ints) -> Floats:
    """Return the attributes of records as they are, for a model without privacy."""
    columns = [_raw(each, records.columns[each.name][rows]) for each in schema.attributes]
    return np.column_stack(columns)


def _raw(attribute: Attribute, held: NDArray[Any]) -> Floats:
    """Bring an attribute to [-1, 1], and one without order to one column for each value."""
    if isinstance(attribute, Categorical) and len(attribute.values) > 2:
        hot = held[:, np.newaxis] == np.arange(len(attribute.values))
        return np.asarray(2.0 * hot - 1.0)
    if isinstance(attribute, Continuous):
        half = attribute.high / 2 - attribute.low / 2
        scaled = (held / 2 - attribute.low / 2) / half * 2 - 1
        return np.nan_to_num(scaled, nan=0.0)[:, np.newaxis]
    last = len(attribute.values) - 1
    return np.where(held <= last, 2.0 * held / last - 1.0, 0.0)[:, np.newaxis]
