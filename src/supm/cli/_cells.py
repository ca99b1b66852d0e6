"""What the text of a column means: missing, a number, or one of the values of an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError
from supm.cli._table import Table
from supm.schema import Attribute, Continuous, Records, Schema

__all__ = ["MISSING", "is_number", "missing", "numbers", "read_column", "read_records"]

MISSING: Final = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
_TRUTH: Final = {"true": True, "false": False}


def missing(text: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has no value.

    Parameters
    ----------
    text : ndarray of text
        The column.

    Returns
    -------
    ndarray of bool
    """
    absent = np.zeros(text.shape, dtype=np.bool_)
    for mark in MISSING:
        absent |= text == mark
    return absent


def is_number(cell: str) -> bool:
    """Return whether a text is a number.

    Parameters
    ----------
    cell : str
        A text that is not missing.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_number("1e5"), is_number("1_000")
    (True, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    # Python reads 1_000 as a number, and nobody writes measurements so.
    return "_" not in cell


def numbers(text: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column as numbers, or None where a value is none.

    Parameters
    ----------
    text : ndarray of text
        The column.

    Returns
    -------
    ndarray of float or None
        With NaN where a value is missing.
    """
    present = np.where(missing(text), "nan", text)
    try:
        found: NDArray[np.float64] = present.astype(np.float64)
    except ValueError:
        return None
    return None if (np.strings.find(text, "_") >= 0).any() else found


def read_records(table: Table, schema: Schema) -> Records:
    """Read the columns that a schema names.

    Parameters
    ----------
    table : Table
        The text.
    schema : Schema
        What the columns mean.

    Returns
    -------
    Records

    Raises
    ------
    RecordError
        If a column is absent or holds what the schema does not allow.
    """
    held = read_column(table, schema.target)
    unlabelled = int(missing(table.column(schema.target.name)).sum())
    if unlabelled and "" not in getattr(schema.target, "values", ()):
        name = schema.target.name
        message = f"{name}: {unlabelled} of {table.rows} records have no label; leave them out."
        raise RecordError(message)
    columns = {each.name: read_column(table, each) for each in schema.attributes}
    return schema.read({**columns, schema.target.name: held})


def read_column(table: Table, attribute: Attribute) -> NDArray[Any]:
    """Read the values of one attribute.

    Parameters
    ----------
    table : Table
        The text.
    attribute : Attribute
        What the column means.

    Returns
    -------
    ndarray
        Numbers, or the declared values that the cells spell.

    Raises
    ------
    RecordError
        If the column is absent, or holds text where numbers are expected.
    """
    text = table.column(attribute.name)
    if not isinstance(attribute, Continuous):
        return _listed(text, attribute.values)
    found = numbers(text)
    if found is None:
        fact = (
            f"{attribute.name}: the column holds text where numbers are expected, first in "
            f"line {_first_text(text, table.lines)} of {table.path}"
        )
        advice = "correct it, or declare the attribute as categorical"
        raise RecordError(fact, advice, attribute=attribute.name)
    return found


def _first_text(text: NDArray[Any], lines: NDArray[np.int64]) -> int:
    held = ~missing(text)
    pairs = zip(text[held].tolist(), lines[held].tolist(), strict=True)
    return int(next(line for cell, line in pairs if not is_number(cell)))


def _listed(text: NDArray[Any], values: Sequence[object]) -> NDArray[Any]:
    """Turn each text into the declared value that it spells; what spells none stays text."""
    cells = text.tolist()
    meaning = {cell: _meaning(cell, values) for cell in set(cells)}
    return np.fromiter((meaning[cell] for cell in cells), dtype=object, count=len(cells))


def _meaning(cell: str, values: Sequence[object]) -> object:
    if cell in values:
        return cell
    if cell in MISSING:
        return None
    if cell.lower() in _TRUTH and _TRUTH[cell.lower()] in values:
        return _TRUTH[cell.lower()]
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if number in values else cell
