"""The public way from a record to a row: which column goes where, and what it is divided by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError, RecordError, SchemaError
from supm._validation import Integers, Reals, check_kind
from supm.federation.rows import Rows, grid_rows
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema

__all__ = [
    "Categories",
    "Encoding",
    "SchemaEncoding",
    "VectorEncoding",
    "check_encoding",
    "read_encoding",
]

Categories = Literal["indicators", "positions"]

_WIDTH: Final = Integers("width", 1, 1 << 14)
_CLASSES: Final = Integers("classes", 1, 1 << 10)
_NORM: Final = Reals("norm", 1e-9, 1e9)
_TWO: Final = 2


@dataclass(frozen=True, kw_only=True)
class VectorEncoding:
    """Plain vectors of bounded norm: images, embeddings, columns that are scaled already.

    Parameters
    ----------
    width : int
        How many numbers a record has.
    classes : int
        How many classes the labels have.
    norm : float
        Public. Vectors are divided by it; longer ones are shortened to it, and counted.

    Examples
    --------
    >>> encoding = VectorEncoding(width=2, classes=2, norm=5.0)
    >>> encoding.rows(np.array([[3.0, 4.0]]), np.array([1])).unit.round(3).tolist()
    [[0.6, 0.8]]
    """

    width: int
    classes: int
    norm: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", _WIDTH.check(self.width))
        object.__setattr__(self, "classes", _CLASSES.check(self.classes))
        object.__setattr__(self, "norm", _NORM.check(self.norm))

    def vectors(self, data: object) -> NDArray[np.float64]:
        """Return the data as vectors divided by the norm, not shortened yet."""
        vectors = np.asarray(data, dtype=np.float64)
        if vectors.ndim != _TWO or vectors.shape[1] != self.width:
            message = f"the table must have {self.width} columns of numbers."
            raise RecordError(message)
        return vectors / self.norm

    def rows(self, data: object, labels: NDArray[np.int64]) -> Rows:
        """Return the rows of a table."""
        return grid_rows(self.vectors(data), np.asarray(labels), classes=self.classes)

    def to_form(self) -> dict[str, Any]:
        """Return the encoding as plain values for JSON."""
        return {"width": self.width, "classes": self.classes, "norm": self.norm}


@dataclass(frozen=True, kw_only=True)
class SchemaEncoding:
    """Records of a schema: numbers and positions between -1 and 1, categories as indicators.

    Parameters
    ----------
    schema : Schema
        The public description; its target is a list of classes.
    categories : {"indicators", "positions"}
        How an unordered attribute of three values or more is told: by one number for each value, or
        by its place in the list, as the paper does.
    norm : float, optional
        Public. Vectors are divided by it. By default the square root of the number of attributes,
        which no record exceeds.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> encoding = SchemaEncoding(schema=wdbc.schema)
    >>> encoding.rows(wdbc.records())
    Rows(size=569, width=30, classes=2)
    """

    schema: Schema
    categories: Categories = "indicators"
    norm: float | None = None

    def __post_init__(self) -> None:
        check_kind("schema", self.schema, Schema)
        if isinstance(self.schema.target, Continuous):
            raise ParameterError("target", "a list of classes", "a number")
        if self.categories not in ("indicators", "positions"):
            raise ParameterError("categories", "'indicators' or 'positions'", self.categories)
        norm = math.sqrt(len(self.schema.attributes)) if self.norm is None else self.norm
        object.__setattr__(self, "norm", _NORM.check(norm))

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return sum(self._width(attribute) for attribute in self.schema.attributes)

    @property
    def classes(self) -> int:
        """How many classes the target has."""
        target = self.schema.target
        return 0 if isinstance(target, Continuous) else len(target.values)

    def vectors(self, data: object) -> NDArray[np.float64]:
        """Return the records as vectors divided by the norm, not shortened yet."""
        if not isinstance(data, Records):
            raise ParameterError("records", "what the schema read", type(data))
        if data.attributes != self.schema.attributes:
            message = "the records were read by another schema; all parties use the study's."
            raise SchemaError(message)
        parts = [self._columns(each, data.columns[each.name]) for each in data.attributes]
        return np.concatenate(parts, axis=1) / float(self.norm or 1.0)

    def rows(self, records: Records) -> Rows:
        """Return the rows of records that have labels."""
        vectors = self.vectors(records)
        if records.target is None:
            message = "the records have no labels; read them with their target."
            raise RecordError(message)
        return grid_rows(vectors, records.target.astype(np.int64), classes=self.classes)

    def to_form(self) -> dict[str, Any]:
        """Return the encoding as plain values for JSON."""
        return {"schema": self.schema.to_json(), "categories": self.categories, "norm": self.norm}

    def _width(self, attribute: Continuous | Ordinal | Categorical) -> int:
        return len(attribute.values) if self._is_spread(attribute) else 1  # type: ignore[union-attr]  # spread ones have values

    def _is_spread(self, attribute: Continuous | Ordinal | Categorical) -> bool:
        return (
            isinstance(attribute, Categorical)
            and len(attribute.values) > _TWO
            and self.categories == "indicators"
        )

    def _columns(
        self, attribute: Continuous | Ordinal | Categorical, column: NDArray[Any]
    ) -> NDArray[np.float64]:
        if isinstance(attribute, Continuous):
            middle = (attribute.low + attribute.high) / 2
            reach = (attribute.high - attribute.low) / 2
            # A missing number is told as the middle of its range.
            return np.nan_to_num((column - middle) / reach, nan=0.0)[:, None]
        values = len(attribute.values)
        if self._is_spread(attribute):
            # A missing value, which stands after the last one, gets zeros.
            return np.asarray(column[:, None] == np.arange(values), dtype=np.float64)
        scaled = 2.0 * column / max(values - 1, 1) - 1.0
        return np.where(column < values, scaled, 0.0)[:, None]


Encoding = VectorEncoding | SchemaEncoding


def check_encoding(encoding: object) -> None:
    """Raise ParameterError if this is no encoding."""
    if not isinstance(encoding, VectorEncoding | SchemaEncoding):
        raise ParameterError("encoding", "of vectors or of a schema", type(encoding))


def read_encoding(form: object) -> Encoding:
    """Read what ``to_form`` of either kind wrote."""
    try:
        if isinstance(form, dict) and set(form) == {"width", "classes", "norm"}:
            return VectorEncoding(**form)
        if isinstance(form, dict) and set(form) == {"schema", "categories", "norm"}:
            return SchemaEncoding(**form | {"schema": Schema.from_json(form["schema"])})
    except (ParameterError, SchemaError) as error:
        raise MessageError(str(error)) from None
    message = "an encoding has the fields schema, categories and norm, or width, classes and norm."
    raise MessageError(message)
