"""What looks wrong with a column: said by its name and line, and never by a value."""

from __future__ import annotations

import numbers as numeric_kinds
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.schema.columns import RawColumn, raw_column
from supm.schema.text_table import is_number, missing, numbers

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublicColumn:
    """A column of public data, with its numbers (NaN where missing) if it holds nothing else."""

    name: str
    cells: NDArray[Any]
    missing: NDArray[np.bool_]
    numbers: NDArray[np.float64] | None
    places: NDArray[np.int64]
    place: str = "line"

    @classmethod
    def of_text(cls, name: str, text: NDArray[Any], lines: NDArray[np.int64]) -> PublicColumn:
        """Read a column of a file, whose values are on these lines of it."""
        absent = missing(text)
        return cls(name=name, cells=text, missing=absent, numbers=numbers(text), places=lines)

    @classmethod
    def of_values(cls, name: str, column: object) -> PublicColumn:
        """Read a column of a frame."""
        raw = raw_column(name, column)
        return cls(
            name=name,
            cells=raw.values,
            missing=raw.missing,
            numbers=_numbers_of(raw),
            places=np.arange(1, raw.values.size + 1),
            place="row",
        )

    @property
    def held(self) -> list[Any]:
        """The cells that have a value."""
        return list(self.cells[~self.missing].tolist())


def warning_about(column: PublicColumn) -> str | None:
    """Return a sentence about what looks wrong with a column, if anything does."""
    name, cells = column.name, column.held
    if column.numbers is not None:
        return _identifier(column, column.numbers)
    if not all(isinstance(cell, str) for cell in cells):
        return None
    if _share(cells, lambda cell: _SEPARATED.fullmatch(cell) is not None).mean() >= _MOST:
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
    return _nearly_numbers(column, cells)


def _numbers_of(raw: RawColumn) -> NDArray[np.float64] | None:
    """Return a frame's column as numbers; true and false are none, and text never is."""
    held = raw.values[~raw.missing]
    plain = raw.values.dtype.kind in "iuf" or (
        raw.values.dtype.kind == "O"
        and all(isinstance(each, numeric_kinds.Real | Decimal) for each in held)
        and not any(isinstance(each, bool | np.bool_) for each in held)
    )
    if not plain:
        return None
    found = np.full(raw.values.size, np.nan)
    found[~raw.missing] = held.astype(np.float64)
    return found


def _nearly_numbers(column: PublicColumn, cells: list[str]) -> str | None:
    numeric = _share(cells, is_number)
    if numeric.mean() < _MOST:
        return None
    start = f"{column.name!r} counts as text: {int(numeric.sum())} of {numeric.size} values are"
    if numeric.all():
        return f"{start} numbers that are written as text; convert them."
    first = int(column.places[~column.missing][np.argmin(numeric)])
    return (
        f"{start} numbers, and that of {column.place} {first} is not; correct it, or leave it "
        "empty."
    )


def _with_unit(cells: list[str]) -> bool:
    """Tell a measurement from codes such as 12a: it has many numbers, and few units."""
    found = {cell: _UNIT.fullmatch(cell) for cell in set(cells)}
    units = {cell: "".join(each.groups("")) for cell, each in found.items() if each is not None}
    share = sum(bool(units.get(cell)) for cell in cells) / max(len(cells), 1)
    return share >= _MOST and len(found) > _LEVELS and len({*units.values(), ""}) <= _UNITS + 1


def _identifier(column: PublicColumn, found: NDArray[np.float64]) -> str | None:
    if found.size < _FEWEST or not np.isfinite(found).all() or (found != np.round(found)).any():
        return None
    if np.unique(found).size < found.size:
        return None
    return (
        f"{column.name!r} holds another whole number in every {column.place}; if it is an "
        "identifier, leave the column out."
    )


def _share(cells: list[str], holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Ask once about each different text, and return the answer for every cell."""
    answers = {cell: holds(cell) for cell in set(cells)}
    return np.array([answers[cell] for cell in cells], dtype=np.bool_)
