"""What is public about an archive of noised records: its columns and how each was noised."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from supm._errors import SchemaError
from supm._json import check_fields, read_object
from supm._validation import Integers, check_kind
from supm.privacy import ApproximateDP, Guarantee, Neighbours, PureLDP, sequential
from supm.schema.fields import Value, check_attribute_name, check_values
from supm.synthesis.noise_laws import NumberLaw, ResponseLaw, number_law, response_law

__all__ = ["ArchiveSchema", "ClassColumn", "Column", "NumberColumn"]

_VERSION: Final = 1
_FIELDS: Final = ("version", "target", "asked", "columns")


@dataclass(frozen=True)
class NumberColumn:
    """A number, and how it was noised.

    Parameters
    ----------
    name : str
        Of the column.
    law : NumberLaw
        Has the public bounds.

    Examples
    --------
    >>> from supm.synthesis import LaplaceLaw
    >>> NumberColumn("age", LaplaceLaw(low=0, high=100, scale=50)).law.epsilon
    2.0
    """

    name: str
    law: NumberLaw

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_attribute_name(self.name))
        check_kind("law", self.law, NumberLaw)

    def to_form(self) -> dict[str, Any]:
        """Return the column as plain values for JSON."""
        return {"name": self.name, "kind": "number", **self.law.to_form()}


@dataclass(frozen=True)
class ClassColumn:
    """One of a public list of values, and how it was noised.

    Parameters
    ----------
    name : str
        Of the column.
    values : sequence
        All possible values, at least two.
    law : ResponseLaw
        Of as many values.
    ordered : bool, default False
        Whether the list goes from least to greatest.

    Examples
    --------
    >>> from supm.synthesis import ResponseLaw
    >>> ClassColumn("sex", ("f", "m"), ResponseLaw(size=2, keep=0.75)).values
    ('f', 'm')
    """

    name: str
    values: tuple[Value, ...]
    law: ResponseLaw
    ordered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_attribute_name(self.name))
        object.__setattr__(self, "values", check_values(self.name, self.values))
        check_kind("law", self.law, ResponseLaw)
        check_kind("ordered", self.ordered, bool)
        if self.law.size != len(self.values):
            message = (
                f"{self.name}: the law is of {self.law.size} values, {len(self.values)} given."
            )
            raise SchemaError(message)

    def to_form(self) -> dict[str, Any]:
        """Return the column as plain values for JSON."""
        described = {"values": list(self.values), "ordered": self.ordered}
        return {"name": self.name, "kind": "class", **described, **self.law.to_form()}


Column: TypeAlias = NumberColumn | ClassColumn


@dataclass(frozen=True, kw_only=True)
class ArchiveSchema:
    """The columns of an archive, how each was noised, and what is to be predicted.

    Parameters
    ----------
    columns : tuple of NumberColumn or ClassColumn
        At least one, with distinct names.
    target : str or None
        The column that a model is to predict, if there is one.
    asked : int or None
        How many cells each record has, where each owner told some columns only; the others are
        empty. None if every cell is there.

    Examples
    --------
    >>> text = '''{"version": 1, "target": "income", "columns": [
    ...   {"name": "age", "kind": "number", "low": 0, "high": 100, "mechanism": "laplace",
    ...    "epsilon": 1.0},
    ...   {"name": "income", "kind": "class", "values": ["low", "high"], "ordered": true,
    ...    "mechanism": "randomized_response", "epsilon": 2.0}]}'''
    >>> schema = ArchiveSchema.from_json(text)
    >>> round(schema.epsilon, 9)
    3.0
    >>> ArchiveSchema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    target: str | None = None
    asked: int | None = None

    def __post_init__(self) -> None:
        columns: tuple[object, ...] = tuple(self.columns)
        if not columns:
            message = "an archive must have at least one column."
            raise SchemaError(message)
        for each in columns:
            if not isinstance(each, NumberColumn | ClassColumn):
                message = (
                    f"a column must be a NumberColumn or ClassColumn, got {type(each).__name__}."
                )
                raise SchemaError(message)
        object.__setattr__(self, "columns", columns)
        self._check_names()
        if self.asked is not None:
            Integers("asked", 1, len(columns)).check(self.asked)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(each.name for each in self.columns)

    @property
    def numbers(self) -> tuple[NumberColumn, ...]:
        """The columns that hold numbers, in order."""
        return tuple(each for each in self.columns if isinstance(each, NumberColumn))

    @property
    def classes(self) -> tuple[ClassColumn, ...]:
        """The columns that hold classes, in order."""
        return tuple(each for each in self.columns if isinstance(each, ClassColumn))

    def column(self, name: str) -> Column:
        """Return the column of a name, or raise SchemaError."""
        for each in self.columns:
            if each.name == name:
                return each
        message = f"the archive has no column {name!r}; its columns are {', '.join(self.names)}."
        raise SchemaError(message)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to the owner of one record, for all of its cells together."""
        promises = [each.law.guarantee for each in self.columns]
        if self.asked is None:
            return sequential(*promises)
        epsilons = sorted((each.law.epsilon for each in self.columns), reverse=True)
        deltas = sorted((float(getattr(one, "delta", 0.0)) for one in promises), reverse=True)
        total = sequential(*(PureLDP(epsilon) for epsilon in epsilons[: self.asked]))
        if not any(deltas):
            return total
        return ApproximateDP(
            epsilon=_epsilon(total),
            delta=sum(deltas[: self.asked]),
            neighbours=Neighbours.ANY_RECORDS,
        )

    @property
    def epsilon(self) -> float:
        """What one record costs its owner in total."""
        return _epsilon(self.guarantee)

    def to_json(self) -> str:
        """Return the JSON form, one line for each column; equal schemas have equal text."""
        head = {"version": _VERSION, "target": self.target, "asked": self.asked}
        start = json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1]
        lines = ",\n  ".join(
            json.dumps(each.to_form(), ensure_ascii=False, allow_nan=False) for each in self.columns
        )
        return f'{start}, "columns": [\n  {lines}\n]}}\n'

    @classmethod
    def from_json(cls, text: str) -> ArchiveSchema:
        """Read the JSON form.

        Parameters
        ----------
        text : str
            An object with ``version`` (1), ``columns``, and perhaps ``target`` and ``asked``.

        Returns
        -------
        ArchiveSchema

        Raises
        ------
        SchemaError
            If the text is not such an object, or does not say how a column was noised.
        """
        form = read_object(text, "archive schema", SchemaError)
        if "attributes" in form:
            message = (
                "this is a schema of records, as supm schema writes it; an archive schema also "
                "says how each column was noised, see supm synthesize --help."
            )
            raise SchemaError(message)
        check_fields(form, _FIELDS, "an archive schema", SchemaError)
        if type(form.get("version")) is not int or form["version"] != _VERSION:
            message = f"version must be {_VERSION}; this release reads no other."
            raise SchemaError(message)
        if not isinstance(form.get("columns"), list):
            message = "columns must be a list of objects."
            raise SchemaError(message)
        columns = tuple(_column(each, place) for place, each in enumerate(form["columns"]))
        return cls(columns=columns, target=form.get("target"), asked=form.get("asked"))

    def _check_names(self) -> None:
        names = self.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            message = f"the name {twice!r} occurs twice; columns have distinct names."
            raise SchemaError(message)
        if self.target is not None and self.target not in names:
            got = repr(self.target)[:60]
            message = f"target must be the name of a column, or null for none, got {got}."
            raise SchemaError(message)


def _epsilon(promise: Guarantee) -> float:
    if isinstance(promise, PureLDP | ApproximateDP):
        return promise.epsilon
    message = "the columns together promise nothing: their deltas add up to one or more."
    raise SchemaError(message)


def _column(form: object, place: int) -> Column:
    path = f"columns[{place}]"
    if not isinstance(form, dict):
        message = f"{path} must be a JSON object."
        raise SchemaError(message)
    given = dict(form)
    name = check_attribute_name(given.pop("name", None))
    path = f"{path} {name!r}"
    kind = given.pop("kind", None)
    if kind == "number":
        return NumberColumn(name, number_law(given, path))
    if kind == "class":
        return _class_column(name, given, path)
    message = f'{path}: kind must be "number" or "class".'
    raise SchemaError(message)


def _class_column(name: str, given: dict[str, Any], path: str) -> ClassColumn:
    values = check_values(name, given.pop("values", None))
    ordered = given.pop("ordered", False)
    if not isinstance(ordered, bool):
        message = f"{path}: ordered must be true or false."
        raise SchemaError(message)
    return ClassColumn(name, values, response_law(given, len(values), path), ordered)
