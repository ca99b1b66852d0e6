"""A schema from PUBLIC data. From private data it would be a leak, which no noise mends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._validation import suggestion
from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
from supm.schema.column_warnings import PublicColumn, warning_about
from supm.schema.columns import column_names, table_columns
from supm.schema.schema import Schema
from supm.schema.text_table import TextTable

Bounds = Literal["spread", "range"]

# So many whole numbers are levels of a scale; more are a measurement.
_LEVELS: Final = 10
_WIDEST_SCALE: Final = 20
_LABELS: Final = 100
# A label that is a whole number needs so many records, or it is a measurement.
_RECORDS: Final = 10
_WORDS: Final = 64
_SHOWN: Final = 3
# Bounds lie so many standard deviations from the mean: few values are clipped, and classes between
# the bounds divide people more evenly than classes over the whole range.
_DEVIATIONS: Final = 2.0


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A schema, and what is doubtful about it.

    Parameters
    ----------
    schema : Schema
        What the columns seem to mean.
    notes : tuple of str
        One sentence for each reason to leave columns out, and for what looks wrong.
    """

    schema: Schema
    notes: tuple[str, ...]


def derive(data: object, target: str, *, bounds: Bounds = "spread") -> Derived:
    """Describe the columns of a public table.

    Parameters
    ----------
    data : TextTable, dataframe or other table
        Public data: what `read_csv` returned, or what `Schema.read` would take.
    target : str
        The column to be predicted.
    bounds : {"spread", "range"}, default "spread"
        Whether the bounds of numbers are those of `spread_bounds`, or lie just outside of all
        values. A target that is a number always has the latter: errors are measured within them.

    Returns
    -------
    Derived

    Raises
    ------
    RecordError
        If the target cannot be predicted, or no other column tells anything.
    """
    columns = {each.name: each for each in _columns(data)}
    if target not in columns:
        raise ParameterError("target", "a column of the data", target, suggestion(target, columns))
    predicted = _target(columns[target])
    kept: list[Attribute] = []
    left_out: dict[str, list[str]] = {}
    doubts = [_about_target(predicted), _doubt_about_classes(predicted, columns[target])]
    for column in columns.values():
        if column.name != target:
            doubts.append(warning_about(column))
            found = _attribute(column, bounds)
            if isinstance(found, str):
                left_out.setdefault(found, []).append(column.name)
            else:
                kept.append(found)
    notes = (
        *(_note(names, reason) for reason, names in left_out.items()),
        *(sentence for sentence in doubts if sentence),
    )
    if not kept:
        where = getattr(data, "path", "the data")
        message = f"{where}: no column beside {target!r} can be used. {' '.join(notes)}"
        raise RecordError(message.rstrip())
    return Derived(schema=Schema(attributes=tuple(kept), target=predicted), notes=notes)


def _columns(data: object) -> Iterator[PublicColumn]:
    if isinstance(data, TextTable):
        for name, text in data.columns():
            yield PublicColumn.of_text(name, text, data.lines)
        return
    for name, column in table_columns(data, column_names(data)).items():
        yield PublicColumn.of_values(name, column)


def round_bounds(low: float, high: float) -> tuple[float, float]:
    """Return the nearest round numbers outside of an interval."""
    width = high - low
    if not 1e-290 < width < 1e290:
        return low, high
    exponent = math.floor(math.log10(width / 10))
    step = max(unit for unit in (1, 2, 5) if unit * 10.0**exponent <= width / 10 or unit == 1)
    size, digits = step * 10.0**exponent, -exponent
    outward = (
        round(math.floor(low / size) * size, digits),
        round(math.ceil(high / size) * size, digits),
    )
    # Rounding may move a bound inward where a double has no more digits.
    return min(outward[0], low), max(outward[1], high)


def spread_bounds(found: NDArray[np.float64]) -> tuple[float, float]:
    """Return bounds two standard deviations around the mean, or at the last value before them."""
    least, most = float(found.min()), float(found.max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean, reach = float(found.mean()), _DEVIATIONS * float(found.std())
    low, high = max(least, mean - reach), min(most, mean + reach)
    if not 1e-290 < high - low < 1e290:  # also where the numbers are too large to be added up
        return round_bounds(least, most)
    digits = 2 - math.floor(math.log10(high - low))
    rounded = round(low, digits), round(high, digits)
    return rounded if rounded[0] < rounded[1] else (low, high)


def _about_target(target: Attribute) -> str | None:
    if isinstance(target, Continuous):
        return (
            f"the target {target.name!r} holds many different numbers, and is predicted as a "
            "number; if they are classes, list them in a schema as categorical."
        )
    if len(target.values) > _LEVELS and isinstance(target.values[0], int | str):
        count, texts = len(target.values), isinstance(target.values[0], str)
        noun = "texts" if texts else "whole numbers"
        return f"the {count} different {noun} of the target {target.name!r} are its classes."
    return None


def _doubt_about_classes(target: Attribute, column: PublicColumn) -> str | None:
    """Say where classes look like numbers that are spelt in another way."""
    if isinstance(target, Categorical) and isinstance(target.values[0], str):
        return warning_about(column)
    return None


def _target(column: PublicColumn) -> Attribute:
    name, rows, found = column.name, column.missing.size, column.numbers
    absent = int(column.missing.sum())
    if absent:
        raise RecordError(f"{name}: {absent} of {rows} records have no label; leave them out.")
    labels = _labels(column)
    if not labels:
        raise RecordError(f"{name}: the column holds neither text nor numbers; convert it.")
    if len(labels) == 1:
        raise RecordError(
            f"{name}: all {rows} records have one label; there is nothing to predict."
        )
    if found is not None and np.isfinite(found).all() and _measured(found, labels):
        return _continuous(name, found, "range")
    if len(labels) > min(_LABELS, max(2, rows // 2)):
        message = f"{name}: {len(labels)} labels for {rows} records are too many to predict."
        doubt = warning_about(column)
        raise RecordError(f"{message} The column {doubt}" if doubt else message)
    return Categorical(name, values=labels)


def _measured(found: NDArray[np.float64], labels: tuple[object, ...]) -> bool:
    """Tell a measurement from classes that are numbers."""
    if len(labels) <= _LEVELS:
        return False
    many = found.size >= _RECORDS * len(labels)
    return not (_whole(found) and many and len(labels) <= _LABELS)


def _labels(column: PublicColumn) -> tuple[str | int | float | bool, ...]:
    if column.numbers is None:
        return _listed(column)
    levels = np.unique(column.numbers)
    return tuple((levels.astype(np.int64) if _whole(levels) else levels).tolist())


def _listed(column: PublicColumn) -> tuple[str | int | float | bool, ...]:
    """Return the different values of a column in order; none if it holds dates, say."""
    # Asked by the kind first: dates would become whole numbers in a list.
    plain = column.cells.dtype.kind in "bUTO"
    distinct: set[Any] = set(column.held) if plain else {None}
    if not all(isinstance(each, str | int | float) for each in distinct):
        return ()
    return tuple(sorted(distinct, key=lambda each: (isinstance(each, str), each)))


def _attribute(column: PublicColumn, bounds: str) -> Attribute | str:
    """Return what the column seems to be, or the reason to leave it out."""
    if column.numbers is not None:
        return _numeric(column.name, column.numbers, bounds)
    values = _listed(column)
    if not values:
        return "of neither text nor numbers"
    if len(values) == 1:
        return "constant"
    if len(values) > min(_WORDS, max(_LEVELS, column.missing.size // 2)):
        return "of too many different texts"
    return Categorical(column.name, values=values, missing=_rule(column.missing))


def _numeric(name: str, found: NDArray[np.float64], bounds: str) -> Attribute | str:
    absent = np.isnan(found)
    held = np.unique(found[~absent])
    if not held.size:
        return "empty"
    if not np.isfinite(held).all():
        return "infinite in places"
    if held.size == 1:
        return "constant"
    if held.size <= _LEVELS and _whole(held):
        return Ordinal(name, values=_scale(held), missing=_rule(absent))
    return _continuous(name, found, bounds)


def _continuous(name: str, found: NDArray[np.float64], bounds: str) -> Continuous:
    held = found[~np.isnan(found)]
    narrow = bounds == "spread"
    low, high = spread_bounds(held) if narrow else round_bounds(held.min(), held.max())
    return Continuous(name, low=low, high=high, missing=_rule(np.isnan(found)))


def _scale(levels: NDArray[np.float64]) -> tuple[int, ...]:
    """Fill the gaps of a short scale: 1, 2, 4 are levels of 1 to 4."""
    low, high = int(levels[0]), int(levels[-1])
    if high - low < _WIDEST_SCALE:
        return tuple(range(low, high + 1))
    return tuple(levels.astype(np.int64).tolist())


def _whole(levels: NDArray[np.float64]) -> bool:
    """Ask for whole numbers that a schema can list."""
    return bool((levels == np.round(levels)).all() and (abs(levels) < 1 << 53).all())


def _rule(absent: NDArray[np.bool_]) -> Any:  # noqa: ANN401  one of two words, which mypy would widen to text
    return "class" if absent.any() else "refuse"


def _note(names: list[str], reason: str) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    noun = "column is" if len(names) == 1 else "columns are"
    return f"{len(names)} {noun} {reason} and left out: {shown}{more}."
