"""A table of any common kind, taken apart into the columns that a schema names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from supm._errors import RecordError

__all__ = ["table_columns"]

_T = TypeVar("_T")

_KINDS: Final = (
    "a dataframe, a two-dimensional array, a mapping of columns or a list of mappings "
    "(one for each record)"
)


def table_columns(data: object, names: Sequence[str]) -> dict[str, object]:
    """Return the named columns. Other columns are not looked at."""
    if isinstance(data, np.ndarray):
        return _from_array(data, names)
    if isinstance(data, Mapping):
        _require(names, data.keys())
        return {name: data[name] for name in names}
    if isinstance(data, list | tuple):
        return _from_records(data, names)
    return _from_frame(data, names)


def _from_array(data: NDArray[Any], names: Sequence[str]) -> dict[str, object]:
    if data.ndim != 2 or data.shape[1] != len(names):
        message = (
            f"the array must have {len(names)} columns in the order of the schema "
            f"({names[0]!r} to {names[-1]!r}), got an array of shape {data.shape}."
        )
        raise RecordError(message)
    return {name: data[:, place] for place, name in enumerate(names)}


def _from_records(data: Sequence[object], names: Sequence[str]) -> dict[str, object]:
    records = [each for each in data if isinstance(each, Mapping)]
    if len(records) < len(data):
        message = f"the data must be {_KINDS}, got a list of other things."
        raise RecordError(message)
    for name in names:
        without = sum(name not in record for record in records)
        if without:
            message = (
                f"{without} of {len(records)} records have no key {name!r}; "
                "a missing value is written as None."
            )
            raise RecordError(message)
    return {name: [record[name] for record in records] for name in names}


def _from_frame(data: object, names: Sequence[str]) -> dict[str, object]:
    try:
        frame = nw.from_native(data, pass_through=True)
    except DuplicateError:
        message = "the table has two columns of one name; rename one of them."
        raise RecordError(message) from None
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        message = f"the data must be {_KINDS}, got {type(data).__name__}."
        raise RecordError(message)
    _require(names, _quietly(lambda: frame.collect_schema().names()))
    chosen = frame.select(*names)
    table = _quietly(chosen.collect) if isinstance(chosen, nw.LazyFrame) else chosen
    return {name: table[name].to_native() for name in names}


def _quietly(step: Callable[[], _T]) -> _T:
    # Each library has its own error, and it may quote values: none is let through.
    with contextlib.suppress(Exception):
        return step()
    message = "the lazy table could not be computed; collect it before it is read, to see why."
    raise RecordError(message)


def _require(names: Sequence[str], present: Iterable[object]) -> None:
    known = set(present)
    absent = [name for name in names if name not in known]
    if absent:
        others = f" and {len(absent) - 1} more of the schema" if len(absent) > 1 else ""
        message = f"the table has no column {absent[0]!r}{others}; columns go by their exact name."
        raise RecordError(message)
