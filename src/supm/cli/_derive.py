"""A schema from PUBLIC data. From private data it would be a leak, which no noise mends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError
from supm.cli._cells import missing, numbers
from supm.cli._oddities import oddity
from supm.cli._table import Table
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Schema

__all__ = ["Derived", "derive", "round_bounds", "spread_bounds"]

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
    """A schema, and what was left out of it.

    Parameters
    ----------
    schema : Schema
        What the columns seem to mean.
    notes : tuple of str
        One sentence for each reason to leave columns out, and for what looks wrong.
    """

    schema: Schema
    notes: tuple[str, ...]


def derive(table: Table, target: str, *, bounds: Literal["spread", "range"] = "spread") -> Derived:
    """Describe the columns of a public table.

    Parameters
    ----------
    table : Table
        Public data.
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
    predicted = _target(target, table)
    kept: list[Attribute] = []
    left_out: dict[str, list[str]] = {}
    odd = [_about_target(predicted), _odd_target(predicted, table)]
    for name, text in table.columns():
        if name != target:
            odd.append(oddity(name, text, table.lines))
            found = _attribute(name, text, bounds)
            if isinstance(found, str):
                left_out.setdefault(found, []).append(name)
            else:
                kept.append(found)
    notes = (
        *(_note(names, reason) for reason, names in left_out.items()),
        *(sentence for sentence in odd if sentence),
    )
    if not kept:
        message = f"{table.path}: no column beside {target!r} can be used. {' '.join(notes)}"
        raise RecordError(message.rstrip())
    return Derived(schema=Schema(attributes=tuple(kept), target=predicted), notes=notes)


def round_bounds(low: float, high: float) -> tuple[float, float]:
    """Return the nearest round numbers outside of an interval.

    Parameters
    ----------
    low, high : float
        The interval.

    Returns
    -------
    tuple of float
        At most a tenth of the width further out on each side.

    Examples
    --------
    >>> round_bounds(6.981, 28.11)
    (6.0, 30.0)
    >>> round_bounds(0.0, 0.4268)
    (0.0, 0.44)
    """
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
    """Return bounds two standard deviations around the mean, or at the last value before them.

    Parameters
    ----------
    found : ndarray of float
        At least two different numbers.

    Returns
    -------
    tuple of float
        Rounded to three digits of their distance.

    Examples
    --------
    >>> spread_bounds(np.array([0.0] * 6 + [1.0] * 3 + [30.0]))
    (0.0, 21.1)
    """
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


def _odd_target(target: Attribute, table: Table) -> str | None:
    """Say where classes look like numbers that are spelt in another way."""
    if isinstance(target, Categorical) and isinstance(target.values[0], str):
        return oddity(target.name, table.column(target.name), table.lines)
    return None


def _target(name: str, table: Table) -> Attribute:
    text = table.column(name)
    held = _present(text)
    if held.size < text.size:
        absent = text.size - held.size
        message = f"{name}: {absent} of {text.size} records have no label; leave them out."
        raise RecordError(message)
    found = numbers(text)
    labels = _labels(held, found)
    if len(labels) == 1:
        message = f"{name}: all {text.size} records have one label; there is nothing to predict."
        raise RecordError(message)
    if found is not None and np.isfinite(found).all() and _measured(found, labels):
        return _continuous(name, found, "range")
    if len(labels) > min(_LABELS, max(2, text.size // 2)):
        message = f"{name}: {len(labels)} labels for {text.size} records are too many to predict."
        odd = oddity(name, text, table.lines)
        raise RecordError(f"{message} The column {odd}" if odd else message)
    return Categorical(name, values=labels)


def _measured(found: NDArray[np.float64], labels: tuple[object, ...]) -> bool:
    """Tell a measurement from classes that are numbers."""
    if len(labels) <= _LEVELS:
        return False
    many = found.size >= _RECORDS * len(labels)
    return not (_whole(found) and many and len(labels) <= _LABELS)


def _labels(held: NDArray[Any], found: NDArray[np.float64] | None) -> tuple[str | int | float, ...]:
    if found is None:
        return tuple(sorted(set(held.tolist())))
    levels = np.unique(found)
    return tuple((levels.astype(np.int64) if _whole(levels) else levels).tolist())


def _attribute(name: str, text: NDArray[Any], bounds: str) -> Attribute | str:
    """Return what the column seems to be, or the reason to leave it out."""
    found = numbers(text)
    if found is not None:
        return _numeric(name, found, bounds)
    distinct = sorted(set(_present(text).tolist()))
    if len(distinct) == 1:
        return "constant"
    if len(distinct) > min(_WORDS, max(_LEVELS, text.size // 2)):
        return "of too many different texts"
    return Categorical(name, values=tuple(distinct), missing=_rule(missing(text)))


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


def _present(text: NDArray[Any]) -> NDArray[Any]:
    return text[~missing(text)]


def _rule(absent: NDArray[np.bool_]) -> Any:  # noqa: ANN401  one of two words, which mypy would widen to text
    return "class" if absent.any() else "refuse"


def _note(names: list[str], reason: str) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    noun = "column is" if len(names) == 1 else "columns are"
    return f"{len(names)} {noun} {reason} and left out: {shown}{more}."
