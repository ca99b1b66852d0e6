"""The rules that the fields of an attribute must keep, each checked in one place.

A broken rule is a `FieldError`, which knows the field. A constructor shows it with the attribute's
name; the JSON reader shows it with the path in the file.
"""

from __future__ import annotations

import contextlib
import math
import numbers
from typing import Final, Literal

import numpy as np

from supm._errors import SchemaError
from supm._validation import commands_a_terminal

Missing = Literal["refuse", "class"]
Value = str | int | float | bool

_LONGEST_NAME: Final = 200
_MOST_VALUES: Final = 1 << 20
# Beyond this a JSON reader that holds numbers as doubles would read another number.
_LARGEST_INTEGER: Final = (1 << 53) - 1
_PLAIN: Final = "must be text without control characters and marks that turn the line around."
_ONE_VALUE: Final = "an attribute with one value tells nothing, so leave it out"


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
    if not _is_unicode(name):
        raise FieldError(None, "name", "must be Unicode text without lone surrogates.")
    if commands_a_terminal(name):
        raise FieldError(None, "name", _PLAIN)
    return str(name)


def check_bound(owner: str, field: str, value: object) -> float:
    """Return a bound as a float, or raise."""
    number = math.nan
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        with contextlib.suppress(OverflowError):
            number = float(value)
    if not math.isfinite(number):
        raise FieldError(owner, field, "must be a finite number.")
    return number + 0.0  # -0.0 becomes 0.0, so that it never shows as "-0"


def check_range(owner: str, low: float, high: float) -> None:
    """Check that two bounds make an interval."""
    if low == high:
        problem = f"must be below high, but both are {low:g}; {_ONE_VALUE}."
        raise FieldError(owner, "low", problem)
    if low > high:
        problem = f"must be below high, got low {low:g} and high {high:g}; are they swapped?"
        raise FieldError(owner, "low", problem)
    if not math.isfinite(high - low):
        raise FieldError(owner, "high", "must lie less than 1.8e308 above low.")


def check_missing(owner: str, value: object) -> Missing:
    """Return the rule for missing values, or raise."""
    if value == "refuse":
        return "refuse"
    if value == "class":
        return "class"
    raise FieldError(owner, "missing", 'must be "refuse" or "class".')


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
        raise FieldError(owner, "values", f"must be at least two; {_ONE_VALUE}.")
    return checked


def _value(owner: str, index: int, given: object) -> Value:
    value = given.item() if isinstance(given, np.generic) else given
    field = f"values[{index}]"
    if isinstance(value, str):
        if not _is_unicode(value):
            raise FieldError(owner, field, "must be Unicode text without lone surrogates.")
        if commands_a_terminal(value):
            raise FieldError(owner, field, _PLAIN)
        return str(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > _LARGEST_INTEGER:
            raise FieldError(owner, field, "must lie within ±(2^53 - 1); write it as text.")
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value + 0.0  # -0.0 becomes 0.0, so that equal schemas have equal text
    raise FieldError(owner, field, "must be text, a finite number, true or false.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
