"""A schema: what everybody may know about a record before there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm.schema._json import attributes_from_json, attributes_to_json
from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
from supm.schema.columns import table_columns
from supm.schema.discretization import discretize
from supm.schema.discretizer import Discretizer
from supm.schema.records import Records

__all__ = ["Schema"]


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
            message = f"the name {twice!r} occurs twice; attributes and target have distinct names."
            raise SchemaError(message)
        if self.target.missing != "refuse":
            name = self.target.name
            message = f"target {name!r}: missing must be 'refuse'; an example has its label."
            raise SchemaError(message)

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
        attributes, target = attributes_from_json(text)
        return cls(attributes=attributes, target=target)

    def to_json(self) -> str:
        """Return the JSON form, in which every schema has exactly one text."""
        return attributes_to_json(self.attributes, self.target)

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
        data : table
            A dataframe (pandas, polars eager or lazy, pyarrow, or another that narwhals knows), a
            mapping of columns, a list of mappings (one for each record), or a two-dimensional array
            whose columns are the attributes in order and then the target. Columns that the schema
            does not name are not looked at.
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
        raw = table_columns(data, [attribute.name for attribute in wanted])
        columns = {attribute.name: attribute.read(raw[attribute.name]) for attribute in wanted}
        rows = _common_length(columns)
        for column in columns.values():
            column.flags.writeable = False
        target = columns.pop(self.target.name) if labelled else None
        return Records(
            attributes=self.attributes,
            columns=columns,
            target=target,
            rows=rows,
        )


def _check_kinds(attributes: object, target: object) -> None:
    if not isinstance(attributes, list | tuple) or not attributes:
        message = "attributes must be a list of at least one attribute."
        raise SchemaError(message)
    for attribute in (*attributes, target):
        if not isinstance(attribute, Continuous | Ordinal | Categorical):
            kind = type(attribute).__name__
            message = f"an attribute must be Continuous, Ordinal or Categorical, got {kind}."
            raise SchemaError(message)


def _common_length(columns: Mapping[str, NDArray[Any]]) -> int:
    first, rows = next((name, column.size) for name, column in columns.items())
    for name, column in columns.items():
        if column.size != rows:
            message = f"{name}: the column has {column.size} rows, {first} has {rows}."
            raise RecordError(message)
    if not rows:
        message = "the table has no records; at least one is needed."
        raise RecordError(message)
    return rows
