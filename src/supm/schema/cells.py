"""What the text of a column means: missing, a number, or one of the values of an attribute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError
from supm.schema.attributes import Attribute, Continuous
from supm.schema.text_table import TextTable

__all__ = ["MISSING", "is_number", "missing", "numbers", "spelled_column", "spelled_columns"]

MISSING: Final = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
_TRUTH: Final = {"true": True, "false": False}


def missing(text: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has no value."""
    absent = np.zeros(text.shape, dtype=np.bool_)
    for mark in MISSING:
        absent |= text == mark
    return absent


def is_number(cell: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    # Python reads 1_000 as a number, and nobody writes measurements so.
    return "_" not in cell


def numbers(text: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column as numbers, or None where a value is none."""
    present = np.where(missing(text), "nan", text)
    try:
        found: NDArray[np.float64] = present.astype(np.float64)
    except ValueError:
        return None
    return None if (np.strings.find(text, "_") >= 0).any() else found


def spelled_columns(
    table: TextTable, attributes: Iterable[Attribute], target: Attribute | None
) -> dict[str, NDArray[Any]]:
    """Return the values of the columns that a schema names, that of the target if it is wanted."""
    if target is None:
        return {each.name: spelled_column(table, each) for each in attributes}
    held = spelled_column(table, target)
    unlabelled = int(missing(table.column(target.name)).sum())
    if unlabelled and "" not in getattr(target, "values", ()):
        name = target.name
        message = f"{name}: {unlabelled} of {table.rows} records have no label; leave them out."
        raise RecordError(message)
    return {**spelled_columns(table, attributes, None), target.name: held}


def spelled_column(table: TextTable, attribute: Attribute) -> NDArray[Any]:
    """Read the values of one attribute: numbers, or the declared values that the cells spell."""
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
