"""Tables of any common kind, taken apart into columns; a column as numbers or places in a list.

What a column may be called and which values may be listed for it is public; nothing else here puts
a value into an error: a message has the attribute's name and a count.
"""

from __future__ import annotations

import contextlib
import decimal
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm._validation import commands_a_terminal, is_unicode

if TYPE_CHECKING:
    import narwhals as nw

Value = str | int | float | bool
_T = TypeVar("_T")
_KINDS: Final = {
    "b": "true or false",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "S": "bytes",
    "U": "text",
    "V": "structures",
}
_TABLES: Final = (
    "a dataframe, a two-dimensional array, a mapping of columns or a list of mappings "
    "(one for each record)"
)
_PLAIN: Final = (str, bool, np.bool_, numbers.Real, decimal.Decimal)
_LONGEST_NAME: Final = 200
_MOST_VALUES: Final = 1 << 20
# Beyond this a JSON reader that holds numbers as doubles would read another number.
_LARGEST_INTEGER: Final = (1 << 53) - 1
_UNMARKED: Final = "must be text without control characters and marks that turn the line around."
ONE_VALUE: Final = "an attribute with one value tells nothing, so leave it out"


@dataclass(frozen=True, repr=False, eq=False)
class RawColumn:
    """Values as they came, and which of them are missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]


def raw_column(name: str, column: object) -> RawColumn:
    """Read a NumPy array, a series of any dataframe library, a list or a tuple."""
    values, missing = _arrays(name, column)
    if values.ndim != 1:
        raise RecordError(f"{name}: a column must have one dimension, got {values.ndim}.")
    if values.dtype.kind == "T":
        values = values.astype(object)
    return RawColumn(values, missing | _absent(values))


def clipped_numbers(name: str, raw: RawColumn, low: float, high: float) -> NDArray[np.float64]:
    """Return the numbers clipped to [low, high], with NaN where a value is missing."""
    kind = raw.values.dtype.kind
    if kind == "O":
        return _clipped_objects(name, raw, low, high)
    if kind not in "iuf":
        raise _not_numbers(name, _KINDS.get(kind, "something else"))
    # A long double may be beyond a double, so it is clipped as it is; all others fit exactly.
    wide = raw.values if raw.values.dtype.itemsize > 8 else raw.values.astype(np.float64)
    _refuse_infinite(name, int((np.isinf(wide) & ~raw.missing).sum()), wide.size)
    clipped: NDArray[np.float64] = np.clip(wide, low, high).astype(np.float64)
    clipped[raw.missing] = np.nan
    return clipped


def positions(name: str, raw: RawColumn, values: Sequence[Value]) -> NDArray[np.int64]:
    """Return the place of each value in the list, and ``len(values)`` where it is missing."""
    # Asked by the kind first: dates would become whole numbers in a list.
    plain = raw.values.dtype.kind in "biufUO"
    present = raw.values[~raw.missing].tolist() if plain else []
    if not plain or not all(issubclass(kind, _PLAIN) for kind in set(map(type, present))):
        raise RecordError(
            f"{name}: the column holds something else than text, numbers, true or false."
        )
    place = {value: index for index, value in enumerate(values)}
    found = np.full(raw.values.size, len(values), dtype=np.int64)
    found[~raw.missing] = [place.get(each, -1) for each in present]
    unknown = int((found < 0).sum())
    if unknown:
        verb = "holds" if unknown == 1 else "hold"
        fact = (
            f"{name}: {unknown} of {found.size} records {verb} a value that is not among the "
            f"{len(values)} declared ones"
        )
        advice = "correct the records or declare every possible value"
        raise RecordError(fact, advice, attribute=name)
    return found


def _arrays(name: str, column: object) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    if isinstance(column, np.ma.MaskedArray):
        return np.asarray(column.data), np.ma.getmaskarray(column)
    if isinstance(column, np.ndarray):
        return column, np.zeros(column.shape, dtype=np.bool_)
    if isinstance(column, list | tuple):
        # asarray would turn [1, "a"] into text; objects stay what they are.
        values = np.fromiter(column, dtype=object, count=len(column))
        return values, np.zeros(len(column), dtype=np.bool_)
    import narwhals as nw  # noqa: PLC0415  an owner who has lists only does without it

    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _from_series(name, series)
    kind = type(column).__name__
    raise RecordError(f"{name}: a column must be an array, a series or a list, got {kind}.")


def _from_series(name: str, series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    # The mask is asked for by itself: to_numpy of a pyarrow dictionary fills its nulls.
    missing = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
    # Each library has its own error, and it may quote values: none is let through.
    with contextlib.suppress(Exception):
        return np.asarray(series.to_numpy()), missing
    with contextlib.suppress(Exception):
        return np.fromiter(series.to_list(), dtype=object, count=len(series)), missing
    raise RecordError(f"{name}: the column cannot be read as plain values.")


def _absent(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "fc":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind == "O":
        return np.fromiter(map(_is_absent, values), dtype=np.bool_, count=values.size)
    return np.zeros(values.shape, dtype=np.bool_)


def _is_absent(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    # pandas need not be installed, so its two marks are known by name.
    return type(value).__name__ in {"NAType", "NaTType"}


def _clipped_objects(name: str, raw: RawColumn, low: float, high: float) -> NDArray[np.float64]:
    present = raw.values[~raw.missing].tolist()
    kinds = set(map(type, present))
    if not all(map(_is_number, kinds)):
        raise _not_numbers(name, "text" if str in kinds else "something else")
    infinite = sum(value in (math.inf, -math.inf) for value in present)
    _refuse_infinite(name, infinite, raw.values.size)
    clipped = np.full(raw.values.size, np.nan)
    # Compared before it is converted: an integer of any length has its place, a double may not.
    clipped[~raw.missing] = [float(min(max(value, low), high)) for value in present]
    return clipped


def _is_number(kind: type) -> bool:
    return issubclass(kind, numbers.Real | decimal.Decimal) and not issubclass(kind, bool)


def _not_numbers(name: str, noun: str) -> RecordError:
    fact = f"{name}: the column holds {noun} where numbers are expected"
    advice = "convert it, or declare the attribute as ordinal or categorical"
    return RecordError(fact, advice, attribute=name)


def _refuse_infinite(name: str, infinite: int, rows: int) -> None:
    if infinite:
        raise RecordError(
            f"{name}: {infinite} of {rows} records are infinite, which is no measurement; "
            "correct them or mark them as missing."
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


def column_names(data: object) -> list[str]:
    """Return the names of all columns of a table that names them."""
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    if isinstance(data, list | tuple):
        return [str(name) for name in data[0]] if data and isinstance(data[0], Mapping) else []
    if isinstance(data, np.ndarray):
        raise RecordError(
            "an array has no names of columns; hand over a frame or a mapping of columns."
        )
    return list(_quietly(lambda: _frame(data).collect_schema().names()))


def _from_array(data: NDArray[Any], names: Sequence[str]) -> dict[str, object]:
    if data.ndim != 2 or data.shape[1] != len(names):
        raise RecordError(
            f"the array must have {len(names)} columns in the order of the schema "
            f"({names[0]!r} to {names[-1]!r}), got an array of shape {data.shape}."
        )
    return {name: data[:, place] for place, name in enumerate(names)}


def _from_records(data: Sequence[object], names: Sequence[str]) -> dict[str, object]:
    records = [each for each in data if isinstance(each, Mapping)]
    if len(records) < len(data):
        raise RecordError(f"the data must be {_TABLES}, got a list of other things.")
    for name in names:
        without = sum(name not in record for record in records)
        if without:
            raise RecordError(
                f"{without} of {len(records)} records have no key {name!r}; "
                "a missing value is written as None."
            )
    return {name: [record[name] for record in records] for name in names}


def _from_frame(data: object, names: Sequence[str]) -> dict[str, object]:
    frame = _frame(data)
    _require(names, _quietly(lambda: frame.collect_schema().names()))
    chosen = frame.select(*names)
    table = _quietly(chosen.lazy().collect)
    return {name: table[name].to_native() for name in names}


def _frame(data: object) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    import narwhals as nw  # noqa: PLC0415  the same
    from narwhals.exceptions import DuplicateError  # noqa: PLC0415  the same

    try:
        frame = nw.from_native(data, pass_through=True)
    except DuplicateError:
        raise RecordError("the table has two columns of one name; rename one of them.") from None
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise RecordError(f"the data must be {_TABLES}, got {type(data).__name__}.")
    return frame


def _quietly(step: Callable[[], _T]) -> _T:
    # Each library has its own error, and it may quote values: none is let through.
    with contextlib.suppress(Exception):
        return step()
    raise RecordError(
        "the lazy table could not be computed; collect it before it is read, to see why."
    )


def _require(names: Sequence[str], present: Iterable[object]) -> None:
    known = set(present)
    absent = [name for name in names if name not in known]
    if absent:
        others = f" and {len(absent) - 1} more of the schema" if len(absent) > 1 else ""
        raise RecordError(
            f"the table has no column {absent[0]!r}{others}; columns go by their exact name."
        )


class FieldError(SchemaError):
    """A field breaks its rule. ``problem`` follows the field's name in a sentence."""

    def __init__(self, owner: str | None, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        who = "an attribute" if owner is None else f"attribute {owner!r}"
        super().__init__(f"{who}: {field} {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes as the finished sentence."""
        return SchemaError, self.args


def check_attribute_name(name: object) -> str:
    """Return the name, or raise."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        problem = f"must be text of 1 to {_LONGEST_NAME} characters that are not all blank."
        raise FieldError(None, "name", problem)
    return _plain_text(None, "name", name)


def _plain_text(owner: str | None, field: str, text: str) -> str:
    if not is_unicode(text):
        raise FieldError(owner, field, "must be Unicode text without lone surrogates.")
    if commands_a_terminal(text):
        raise FieldError(owner, field, _UNMARKED)
    return str(text)


def check_values(owner: str, values: object) -> tuple[Value, ...]:
    """Return the listed values as a tuple, or raise."""
    if not isinstance(values, list | tuple):
        raise FieldError(owner, "values", "must be a list of values.")
    if len(values) > _MOST_VALUES:
        raise FieldError(owner, "values", f"must be at most {_MOST_VALUES} values.")
    checked = tuple(_value(owner, index, value) for index, value in enumerate(values))
    if len(set(checked)) < len(checked):
        problem = "must be distinct; 1, 1.0 and true count as one value."
        raise FieldError(owner, "values", problem)
    if len(checked) < 2:
        raise FieldError(owner, "values", f"must be at least two; {ONE_VALUE}.")
    return checked


def _value(owner: str, index: int, given: object) -> Value:
    value = given.item() if isinstance(given, np.generic) else given
    field = f"values[{index}]"
    if isinstance(value, str):
        return _plain_text(owner, field, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > _LARGEST_INTEGER:
            raise FieldError(owner, field, "must lie within ±(2^53 - 1); write it as text.")
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value + 0.0  # -0.0 becomes 0.0, so that equal schemas have equal text
    raise FieldError(owner, field, "must be text, a finite number, true or false.")
