"""A schema: what everybody may know about a record before there is one; and records it has read."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError, SchemaError
from supm._json import check_fields, read_object
from supm.schema.attributes import (
    Attribute,
    Categorical,
    Continuous,
    Ordinal,
    attribute_form,
    attribute_of,
    object_at,
)
from supm.schema.columns import table_columns
from supm.schema.discretizer import Discretizer, discretize

if TYPE_CHECKING:
    from supm.schema.deriving import Bounds

_Form = TypeVar("_Form")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Records:
    """Checked private records, column by column. `Schema.read` makes them.

    Parameters
    ----------
    attributes : tuple of Attribute
        What the columns are.
    columns : mapping of str to ndarray
        Continuous attributes as numbers within their bounds (NaN where missing), the others as
        positions in their list of values (``len(values)`` where missing). The arrays are read-only.
    target : ndarray or None
        The target in the same form, or None where the records have no labels.
    rows : int
        How many records there are.

    Examples
    --------
    >>> from supm.schema import Continuous, Categorical, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> records = schema.read([{"age": 61, "ill": "yes"}, {"age": 20, "ill": "no"}])
    >>> records.encode(schema.discretize(4)).tolist(), records.target.tolist()
    ([[2], [0]], [1, 0])
    """

    attributes: tuple[Attribute, ...]
    columns: Mapping[str, NDArray[Any]]
    target: NDArray[Any] | None
    rows: int

    def encode(self, discretizers: Sequence[Discretizer]) -> NDArray[np.int64]:
        """Return the classes of all records.

        Parameters
        ----------
        discretizers : sequence of Discretizer
            One for each attribute that is wanted, in any order.

        Returns
        -------
        ndarray of int64, shape (rows, len(discretizers))
            Class numbers, one column for each discretizer.

        Raises
        ------
        SchemaError
            If a discretizer is for an attribute that these records do not have.
        """
        classes = np.empty((self.rows, len(discretizers)), dtype=np.int64, order="F")
        known = {attribute.name: attribute for attribute in self.attributes}
        for place, discretizer in enumerate(discretizers):
            name = discretizer.attribute.name
            if known.get(name) != discretizer.attribute:
                raise SchemaError(
                    f"a discretizer is for {name!r}, which these records do not have."
                )
            classes[:, place] = discretizer.classify(self.columns[name])
        return classes

    def __repr__(self) -> str:
        """Say how many there are, never what they hold."""
        return f"Records(rows={self.rows}, attributes={len(self.attributes)})"


_VERSION: Final = 1
_FILES: Final = (".csv", ".csv.gz", ".tsv", ".parquet", ".feather")
_FIELDS: Final = ("version", "attributes", "target")


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The attributes of a record and the target that is to be learned.

    Parameters
    ----------
    attributes : sequence of Attribute
        At least one, with distinct names.
    target : Attribute
        What is to be predicted: a continuous attribute, or one with a list of values. A record
        without its label is no example, so ``missing`` must be "refuse".

    Examples
    --------
    >>> from supm.schema import Categorical, Continuous, Ordinal, Schema
    >>> schema = Schema(
    ...     attributes=(
    ...         Continuous("age", low=0, high=120),
    ...         Ordinal("stage", values=("I", "II", "III")),
    ...     ),
    ...     target=Categorical("diagnosis", values=("benign", "malignant")),
    ... )
    >>> schema.task
    'binary'
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    attributes: tuple[Attribute, ...]
    target: Attribute

    def __post_init__(self) -> None:
        _check_kinds(self.attributes, self.target)
        object.__setattr__(self, "attributes", tuple(self.attributes))
        names = [*self.names, self.target.name]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise SchemaError(
                f"the name {twice!r} occurs twice; attributes and target have distinct names."
            )
        if self.target.missing != "refuse":
            name = self.target.name
            raise SchemaError(
                f"target {name!r}: missing must be 'refuse'; an example has its label."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, in order, without the target."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def task(self) -> Literal["binary", "multiclass", "continuous"]:
        """What kind of prediction the target asks for."""
        if isinstance(self.target, Continuous):
            return "continuous"
        return "binary" if len(self.target.values) == 2 else "multiclass"

    @classmethod
    def from_frame(cls, data: object, *, target: str, bounds: Bounds = "spread") -> Schema:
        """Describe the columns of PUBLIC data; bounds that come from private data are a leak.

        What is left out, and what looks wrong with a column, is said in a warning.

        Parameters
        ----------
        data : dataframe, other table or path-like
            Public or synthetic data, as `read` takes them; a frame or a file with names of columns.
        target : str
            The column to be predicted.
        bounds : {"spread", "range"}, default "spread"
            Whether numbers end two standard deviations from their mean, or at the smallest and
            largest value.

        Returns
        -------
        Schema

        Examples
        --------
        >>> public = {"age": [31.5, 62.25, 48.0, 55.0], "ill": ["no", "yes", "no", "yes"]}
        >>> Schema.from_frame(public, target="ill", bounds="range").names
        ('age',)
        """
        from supm.schema.deriving import derive  # noqa: PLC0415  an owner never needs it

        derived = derive(_opened(data), target, bounds=bounds)
        for note in derived.notes:
            warnings.warn(note, stacklevel=2)
        return derived.schema

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read the JSON form from a file."""
        return load_form(path, cls.from_json)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the JSON form to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read the JSON form.

        Parameters
        ----------
        text : str
            An object with ``version`` (1), ``attributes`` and ``target``.

        Returns
        -------
        Schema

        Raises
        ------
        SchemaError
            If the text is not such an object; the message has the path of what is wrong.
        """
        return cls.from_form(read_object(text, "schema", SchemaError))

    @classmethod
    def from_form(cls, form: object) -> Schema:
        """Read what `to_form` wrote."""
        held = _checked(form)
        pairs = enumerate(held["attributes"])
        attributes = tuple(attribute_of(each, f"attributes[{place}]") for place, each in pairs)
        return cls(attributes=attributes, target=attribute_of(held["target"], "target"))

    def to_form(self) -> dict[str, Any]:
        """Return the schema as plain values of JSON."""
        attributes = [attribute_form(each) for each in self.attributes]
        target = attribute_form(self.target)
        return {"version": _VERSION, "attributes": attributes, "target": target}

    def to_json(self) -> str:
        """Return the JSON form, in which every schema has exactly one text."""
        lines = ",\n    ".join(_line(attribute) for attribute in self.attributes)
        return (
            f'{{\n  "version": {_VERSION},\n  "attributes": [\n    {lines}\n  ],\n'
            f'  "target": {_line(self.target)}\n}}\n'
        )

    def discretize(self, classes: int) -> tuple[Discretizer, ...]:
        """Return one discretizer for each attribute, of the kind the papers use.

        Parameters
        ----------
        classes : int
            The number of classes L, at least 2.

        Returns
        -------
        tuple of Discretizer
        """
        return tuple(discretize(attribute, classes) for attribute in self.attributes)

    def read(self, data: object, *, labelled: bool = True) -> Records:
        """Check a table of private records and bring its columns to one form.

        Parameters
        ----------
        data : table or path-like
            The name of a CSV, Parquet or Feather file, what `read_csv` returned, a dataframe
            (pandas, polars eager or lazy, pyarrow, or another that narwhals knows), a mapping of
            columns, a list of mappings (one for each record), or a two-dimensional array whose
            columns are the attributes in order and then the target. Columns that the schema does
            not name are not looked at.
        labelled : bool
            False if the records have no target; its column is then not looked at.

        Returns
        -------
        Records

        Raises
        ------
        RecordError
            If a column is absent or a value is not allowed. The message has the attribute's name
            and a count, never a value.
        """
        wanted = (*self.attributes, self.target) if labelled else self.attributes
        table = _opened(data)
        spelled = getattr(type(table), "spelled_columns", None)
        if spelled is not None:
            target = self.target if labelled else None
            raw: Mapping[str, object] = spelled(table, self.attributes, target)
        else:
            raw = table_columns(table, [attribute.name for attribute in wanted])
        columns = {attribute.name: attribute.read(raw[attribute.name]) for attribute in wanted}
        rows = _common_length(columns)
        for column in columns.values():
            column.flags.writeable = False
        label = columns.pop(self.target.name) if labelled else None
        return Records(attributes=self.attributes, columns=columns, target=label, rows=rows)


def as_schema(schema: Schema | str | PathLike[str]) -> Schema:
    """Return the schema itself, or the one that a file holds.

    Parameters
    ----------
    schema : Schema or path-like
        A schema, or the name of a file with its JSON form.

    Returns
    -------
    Schema
    """
    return Schema.load(schema) if isinstance(schema, str | PathLike) else schema


def load_form(path: str | PathLike[str], read: Callable[[str], _Form]) -> _Form:
    """Return what a file says of a schema; what is wrong with it names the file."""
    try:
        return read(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = f"{error.strerror}."
        raise ParameterError("schema", "a file that can be read", str(path), reason) from None
    except UnicodeDecodeError:
        raise SchemaError(f"{path}: this is not UTF-8 text.") from None
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from None


def _line(attribute: Attribute) -> str:
    return json.dumps(attribute_form(attribute), ensure_ascii=False, allow_nan=False)


def _opened(data: object) -> object:
    """Read the file that is named: text from CSV, a frame from Parquet or Feather."""
    # A text that names no file may be a record: it is refused later, and not shown.
    if not isinstance(data, PathLike) and not (isinstance(data, str) and data.endswith(_FILES)):
        return data
    from supm.schema.text_table import read_csv, read_frame  # noqa: PLC0415  an owner's record is no file

    if Path(data).suffix in (".parquet", ".feather"):
        return read_frame(data)
    return read_csv(data)


def _check_kinds(attributes: object, target: object) -> None:
    if not isinstance(attributes, list | tuple) or not attributes:
        raise SchemaError("attributes must be a list of at least one attribute.")
    for attribute in (*attributes, target):
        if not isinstance(attribute, Continuous | Ordinal | Categorical):
            kind = type(attribute).__name__
            raise SchemaError(
                f"an attribute must be Continuous, Ordinal or Categorical, got {kind}."
            )


def _common_length(columns: Mapping[str, NDArray[Any]]) -> int:
    first, rows = next((name, column.size) for name, column in columns.items())
    for name, column in columns.items():
        if column.size != rows:
            raise RecordError(f"{name}: the column has {column.size} rows, {first} has {rows}.")
    if not rows:
        raise RecordError("the table has no records; at least one is needed.")
    return rows


def _checked(form: object) -> dict[str, Any]:
    held = object_at(form, "a schema")
    check_fields(held, _FIELDS, "a schema", SchemaError)
    for field in _FIELDS:
        if field not in held:
            raise SchemaError(f"{field} is missing; a schema has the fields {', '.join(_FIELDS)}.")
    if type(held["version"]) is not int or held["version"] != _VERSION:
        raise SchemaError(f"version must be {_VERSION}; this release reads no other.")
    if not isinstance(held["attributes"], list):
        raise SchemaError("attributes must be a list of objects.")
    return held
