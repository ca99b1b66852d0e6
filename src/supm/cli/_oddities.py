"""What looks wrong with a column: said by its name and line, and never by a value."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.cli._cells import is_number, missing, numbers

__all__ = ["oddity"]

# So large a part makes it likely that the rest is a mistake.
_MOST: Final = 0.9
_FEWEST: Final = 20
# So many different numbers with few units are a measurement; others may be classes, such as doses.
_LEVELS: Final = 10
_UNITS: Final = 3
_UNIT: Final = re.compile(
    r"([€$£]\s?)?[+-]?\d+(?:[.,]\d+)?\s?((?:[^\W\d_]|[°%€$£])(?:\w|[°%/²³^.-]){0,14})?"
)
_DATE: Final = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    r"|\d{1,2}\.? [^\W\d_]{3,9}\.?,? \d{4}|[^\W\d_]{3,9}\.? \d{1,2},? \d{4})"
    r"(?:[T ]\d{1,2}:\d{2}.{0,20})?"
)
_SEPARATED: Final = re.compile(r"[+-]?(\d{1,3}([.,' ]\d{3})+([.,]\d+)?|\d+,\d+)")


def oddity(name: str, text: NDArray[Any], lines: NDArray[np.int64]) -> str | None:
    """Return what looks wrong with a column, if anything does.

    Parameters
    ----------
    name : str
        The name of the column.
    text : ndarray of text
        The column.
    lines : ndarray of int
        The line of the file that each value is on.

    Returns
    -------
    str or None
        A sentence.
    """
    found = numbers(text)
    if found is not None:
        return _identifier(name, found)
    held = ~missing(text)
    cells = text[held].tolist()
    separated = _share(cells, lambda cell: _SEPARATED.fullmatch(cell) is not None)
    if separated.mean() >= _MOST:
        return (
            f"{name!r} holds texts that look like numbers with decimal commas or thousands "
            "separators: write 1234.5 for 1.234,5."
        )
    if _share(cells, lambda cell: _DATE.fullmatch(cell) is not None).mean() >= _MOST:
        return (
            f"{name!r} holds dates, which count as text: turn each into a number, such as a number "
            "of days."
        )
    if _with_unit(cells):
        return (
            f"{name!r} holds numbers with a unit, which count as text: remove the unit, as in 105 "
            "for 105 kg."
        )
    numeric = _share(cells, is_number)
    if numeric.mean() < _MOST:
        return None
    first = int(lines[held][np.argmin(numeric)])
    return (
        f"{name!r} counts as text: {int(numeric.sum())} of {numeric.size} values are numbers, and "
        f"that of line {first} is not; correct it, or leave it empty."
    )


def _with_unit(cells: list[str]) -> bool:
    """Tell a measurement from codes such as 12a: it has many numbers, and few units."""
    found = {cell: _UNIT.fullmatch(cell) for cell in set(cells)}
    units = {cell: "".join(each.groups("")) for cell, each in found.items() if each is not None}
    share = sum(bool(units.get(cell)) for cell in cells) / max(len(cells), 1)
    return share >= _MOST and len(found) > _LEVELS and len({*units.values(), ""}) <= _UNITS + 1


def _identifier(name: str, found: NDArray[np.float64]) -> str | None:
    if found.size < _FEWEST or not np.isfinite(found).all() or (found != np.round(found)).any():
        return None
    if np.unique(found).size < found.size:
        return None
    return (
        f"{name!r} holds another whole number in every line; if it is an identifier, leave the "
        "column out."
    )


def _share(cells: list[str], holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Ask once about each different text, and return the answer for every cell."""
    answers = {cell: holds(cell) for cell in set(cells)}
    return np.fromiter((answers[cell] for cell in cells), dtype=np.bool_, count=len(cells))
