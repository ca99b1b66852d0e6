"""The three kinds of attribute: continuous, ordinal and categorical.

Each is a frozen public value. ``read`` brings a private column to the form that the rest of SUPM
works on, and refuses what the description does not allow.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, MISSING, dataclass, fields
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm._json import check_fields
from supm._validation import as_float
from supm.schema.columns import (
    ONE_VALUE,
    FieldError,
    RawColumn,
    Value,
    check_attribute_name,
    check_values,
    clipped_numbers,
    positions,
    raw_column,
)

Missing = Literal["refuse", "class"]


def check_bound(owner: str, field: str, value: object) -> float:
    """Return a bound as a float, or raise."""
    number = as_float(value)
    if not math.isfinite(number):
        raise FieldError(owner, field, "must be a finite number.")
    return number + 0.0  # -0.0 becomes 0.0, so that it never shows as "-0"


def check_range(owner: str, low: float, high: float) -> None:
    """Check that two bounds make an interval."""
    if low == high:
        problem = f"must be below high, but both are {low:g}; {ONE_VALUE}."
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


@dataclass(frozen=True)
class Continuous:
    """A number between two public bounds.

    Parameters
    ----------
    name : str
        The name of the column.
    low, high : float
        The public bounds. A finite value beyond them is clipped to the nearer one.
    missing : {"refuse", "class"}
        What a missing value does: it is refused, or it becomes a class of its own.

    Examples
    --------
    >>> from supm.schema import Continuous
    >>> age = Continuous("age", low=0, high=120)
    >>> age.read([34, 61.5, 130]).tolist()
    [34.0, 61.5, 120.0]
    """

    name: str
    _: KW_ONLY
    low: float
    high: float
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        name = check_attribute_name(self.name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "low", check_bound(name, "low", self.low))
        object.__setattr__(self, "high", check_bound(name, "high", self.high))
        object.__setattr__(self, "missing", check_missing(name, self.missing))
        check_range(name, self.low, self.high)

    def read(self, column: object) -> NDArray[np.float64]:
        """Return the column as numbers in [low, high], with NaN where a value is missing.

        Parameters
        ----------
        column : array, series, list or tuple
            Whole or real numbers. Text, dates and truth values are refused, and so are infinities.

        Returns
        -------
        ndarray of float64

        Raises
        ------
        RecordError
            If a value is not a finite number, or is missing while ``missing`` is "refuse".
        """
        raw = _present(self, column)
        return clipped_numbers(self.name, raw, self.low, self.high)

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers on [-1, 1], where the public bounds become -1 and 1."""
        # No overflow: bounds are less than the largest number apart.
        return np.clip((values - self.low) / (self.high - self.low) * 2 - 1, -1.0, 1.0)

    def unscaled(self, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers between the bounds, where -1 and 1 become the public bounds."""
        share = (np.clip(scaled, -1.0, 1.0) + 1) / 2
        return self.low * (1 - share) + self.high * share


@dataclass(frozen=True)
class _Listed:
    name: str
    _: KW_ONLY
    values: tuple[Value, ...]
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        name = check_attribute_name(self.name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", check_values(name, self.values))
        object.__setattr__(self, "missing", check_missing(name, self.missing))

    def read(self, column: object) -> NDArray[np.int64]:
        """Return the position of each value in ``values``, and ``len(values)`` where it is missing.

        This is the DTO of the papers (Algorithm 3), counted from 0 where they count from 1. Values
        are compared as Python compares them: 1, 1.0 and True are equal; "1" is none of them.

        Parameters
        ----------
        column : array, series, list or tuple
            Values out of the declared list.

        Returns
        -------
        ndarray of int64

        Raises
        ------
        RecordError
            If a value is not in the list, or is missing while ``missing`` is "refuse".
        """
        raw = _present(self, column)
        return positions(self.name, raw, self.values)


@dataclass(frozen=True)
class Ordinal(_Listed):
    """One of a list of values that have an order.

    Parameters
    ----------
    name : str
        The name of the column.
    values : sequence of str, int, float or bool
        The possible values, lowest first: at least two, all distinct.
    missing : {"refuse", "class"}
        What a missing value does: it is refused, or it becomes a class of its own.

    Examples
    --------
    >>> from supm.schema import Ordinal
    >>> Ordinal("stage", values=("I", "II", "III")).read(["II", "I", "III"]).tolist()
    [1, 0, 2]
    """


@dataclass(frozen=True)
class Categorical(_Listed):
    """One of a list of values that have no order.

    Parameters
    ----------
    name : str
        The name of the column.
    values : sequence of str, int, float or bool
        The possible values: at least two, all distinct.
    missing : {"refuse", "class"}
        What a missing value does: it is refused, or it becomes a class of its own.

    Examples
    --------
    >>> from supm.schema import Categorical
    >>> ward = Categorical("ward", values=("north", "east", "south"), missing="class")
    >>> ward.read(["east", None, "north"]).tolist()
    [1, 3, 0]
    """


Attribute = Continuous | Ordinal | Categorical


def _present(attribute: Continuous | _Listed, column: object) -> RawColumn:
    raw = raw_column(attribute.name, column)
    absent = int(raw.missing.sum())
    if absent and attribute.missing == "refuse":
        verb = "has" if absent == 1 else "have"
        fact = f"{attribute.name}: {absent} of {raw.missing.size} records {verb} no value"
        advice = 'leave them out or declare the attribute with missing="class"'
        raise RecordError(fact, advice, attribute=attribute.name)
    return raw


_KINDS: Final[dict[str, type[Continuous | Ordinal | Categorical]]] = {
    "continuous": Continuous,
    "ordinal": Ordinal,
    "categorical": Categorical,
}


def attribute_form(attribute: Attribute) -> dict[str, object]:
    """Return an attribute as plain values of JSON."""
    kind = next(word for word, known in _KINDS.items() if type(attribute) is known)
    form: dict[str, object] = {"name": attribute.name, "type": kind}
    if isinstance(attribute, Continuous):
        form |= {"low": _plain(attribute.low), "high": _plain(attribute.high)}
    else:
        form |= {"values": list(attribute.values)}
    if attribute.missing != "refuse":
        form |= {"missing": attribute.missing}
    return form


def _plain(bound: float) -> float:
    """Write a whole bound as a person would: 120, not 120.0."""
    return int(bound) if bound.is_integer() and abs(bound) < 1 << 53 else bound


def attribute_of(form: object, path: str) -> Attribute:
    """Read what `attribute_form` wrote; an error has the path of what is wrong."""
    given = dict(object_at(form, path))
    kind = given.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise SchemaError(f"{path}.type must be one of {', '.join(_KINDS)}.")
    known = {field.name: field for field in fields(_KINDS[kind])}
    check_fields(given, ("type", *known), f"type {kind}", SchemaError, path=f"{path}.")
    for name, field in known.items():
        if name not in given and field.default is MISSING:
            raise SchemaError(f"{path}.{name} is missing; type {kind} needs it.")
    try:
        return _KINDS[kind](**given)
    except FieldError as error:
        raise SchemaError(f"{path}.{error.field} {error.problem}") from None


def object_at(form: object, path: str) -> dict[str, Any]:
    """Return an object of JSON, or raise."""
    if not isinstance(form, dict):
        raise SchemaError(f"{path} must be a JSON object.")
    return form
