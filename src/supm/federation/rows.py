"""Records as rows of whole numbers of bounded norm: the public way there, and exact sums of them.

A row is a vector on the public grid of 2^-16 whose norm is at most one. It is stored as whole
numbers (multiples of the grid), rounded towards zero, which never lengthens it. Sums of rows and of
their products are then whole numbers too: they do not depend on the order of summation, and what
one record can change in them is known exactly, without a term for rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from supm._errors import ParameterError, RecordError, SchemaError
from supm._validation import Integers, Reals, check_kind, keep_checked
from supm.messages.codec import Message
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema

GRID: Final = 1 << 16
"""One, in steps of the grid."""

_LONGEST_SQUARE: Final = GRID * GRID


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """The private rows of one party.

    Parameters
    ----------
    values : ndarray of float64, shape (rows, width)
        Whole numbers; the squares of a row sum to at most 2^32.
    labels : ndarray of int64
        The class of each row, 0 … classes - 1.
    classes : int
        How many classes the public description has; some may have no row.
    clipped : int
        How many rows were longer than one before they were shortened.

    Examples
    --------
    >>> rows = grid_rows(np.array([[0.6, 0.8], [3.0, 4.0]]), np.array([0, 1]), classes=2)
    >>> rows.values.tolist(), rows.clipped
    ([[39321.0, 52428.0], [39321.0, 52428.0]], 1)
    """

    values: NDArray[np.float64]
    labels: NDArray[np.int64]
    classes: int
    clipped: int = 0

    def __post_init__(self) -> None:
        check_kind("values", self.values, np.ndarray)
        if self.values.ndim != 2 or self.values.shape[0] != self.labels.size:
            raise ParameterError("values", "one row for each label", "another shape")
        if self.labels.size and not 0 <= self.labels.min() <= self.labels.max() < self.classes:
            raise RecordError(f"each label must be one of the {self.classes} public classes.")
        if not np.issubdtype(self.labels.dtype, np.integer):
            raise ParameterError("labels", "whole numbers", self.labels.dtype.name)
        # Written so that NaN, which compares to nothing, does not pass.
        if not (self.values == np.trunc(self.values)).all():
            raise ParameterError("values", "whole numbers, in steps of the grid", "others")
        if not (np.square(self.values).sum(axis=1) <= _LONGEST_SQUARE).all():
            raise ParameterError("values", "rows of norm at most one", "a longer one")

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.labels.size)

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return int(self.values.shape[1])

    @property
    def unit(self) -> NDArray[np.float64]:
        """The rows as vectors of norm at most one."""
        return self.values / GRID

    def __repr__(self) -> str:
        """Say how many there are, never what they are."""
        return f"Rows(size={self.size}, width={self.width}, classes={self.classes})"


def grid_rows(vectors: NDArray[np.float64], labels: NDArray[np.int64], *, classes: int) -> Rows:
    """Shorten vectors to norm one where they are longer, and move them to the grid.

    Parameters
    ----------
    vectors : ndarray of float64, shape (rows, width)
        Finite numbers, scaled by a public constant.
    labels : ndarray of int64
        The class of each.
    classes : int
        How many classes the public description has.

    Returns
    -------
    Rows

    Raises
    ------
    RecordError
        If a number is not finite.
    """
    if not np.isfinite(vectors).all():
        raise RecordError(
            "a record has a value that is not a finite number; remove it or mark it missing."
        )
    # In units of its largest number, a row has a length that no float is too small for.
    largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1.0)
    near = vectors / largest[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", near, near))
    long = (largest > 1.0) | (lengths > 1.0)
    scale = np.divide(GRID, lengths, out=np.full(lengths.shape, float(GRID)), where=long)
    values = np.trunc(near * scale[:, None])
    over = np.minimum(largest, 2.0) * lengths > 1.0 + 1e-9
    clipped = int(np.count_nonzero(over))
    return Rows(values=_shortened(values), labels=labels, classes=classes, clipped=clipped)


def _shortened(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shorten what the rounding of a quotient left a step too long."""
    long = np.flatnonzero(np.square(values).sum(axis=1) > _LONGEST_SQUARE)
    while long.size:
        values[long] = np.trunc(values[long] * (1.0 - 1.0 / GRID))
        long = long[np.square(values[long]).sum(axis=1) > _LONGEST_SQUARE]
    return values


# A product of two entries is below 2^32, so floats add 2^20 of them without rounding.
_EXACT_ROWS: Final = 1 << 20


def scatter(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the sum of each row's products with itself, in steps of 2^-32."""
    width = values.shape[1]
    total = np.zeros((width, width), dtype=np.int64)
    for start in range(0, len(values), _EXACT_ROWS):
        # The transpose of a C-ordered block is what BLAS reads without a copy.
        upper = dsyrk(1.0, values[start : start + _EXACT_ROWS].T)
        total += upper.astype(np.int64)
    return np.triu(total) + np.triu(total, 1).T


def class_sums(rows: Rows) -> NDArray[np.int64]:
    """Return the sum of the rows of each class, in steps of 2^-16."""
    member = (rows.labels[None, :] == np.arange(rows.classes)[:, None]).astype(np.float64)
    return np.asarray(member @ rows.values).astype(np.int64)


def class_counts(rows: Rows) -> NDArray[np.int64]:
    """Return how many rows each class has, in steps of 2^-16."""
    return np.bincount(rows.labels, minlength=rows.classes).astype(np.int64) * GRID


def triangle(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the upper triangle of a symmetric matrix as a vector."""
    return matrix[np.triu_indices(len(matrix))]


def untriangle(vector: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the symmetric matrix of which `triangle` gave a vector."""
    matrix = np.zeros((width, width), dtype=np.int64)
    matrix[np.triu_indices(width)] = vector
    return matrix + np.triu(matrix, 1).T


_LARGEST: Final = 1e15


def shortened(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the vectors, those longer than one shortened to one."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1.0)[:, None])


def keep_arrays(outcome: object, **shapes: tuple[int | None, ...]) -> None:
    """Keep fields of an outcome as arrays of finite numbers; None stands for any length."""
    for name, shape in shapes.items():
        try:
            array = np.asarray(getattr(outcome, name), dtype=np.float64)
        except (OverflowError, TypeError, ValueError):
            array = np.empty(0)
        fits = array.ndim == len(shape) and array.size > 0
        fits = fits and all(n in (None, have) for n, have in zip(shape, array.shape, strict=True))
        if not fits or not (np.abs(array) < _LARGEST).all():
            wanted = "rows of finite numbers, as many as the other parts of an outcome"
            raise ParameterError(name, wanted, "another array")
        object.__setattr__(outcome, name, array)


Categories = Literal["indicators", "positions"]

_WIDTH: Final = Integers("width", 1, 1 << 14)
_CLASSES: Final = Integers("classes", 1, 1 << 10)
_NORM: Final = Reals("norm", 1e-9, 1e9)
_TWO: Final = 2


@dataclass(frozen=True, kw_only=True)
class VectorEncoding(Message):
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

    noun = "an encoding of vectors"
    kind = "vectors"
    width: int
    classes: int
    norm: float = 1.0

    def __post_init__(self) -> None:
        keep_checked(self, width=_WIDTH, classes=_CLASSES, norm=_NORM)

    def vectors(self, data: object) -> NDArray[np.float64]:
        """Return the data as vectors divided by the norm, not shortened yet."""
        vectors = np.asarray(data, dtype=np.float64)
        if vectors.ndim != _TWO or vectors.shape[1] != self.width:
            raise RecordError(f"the table must have {self.width} columns of numbers.")
        return vectors / self.norm

    def rows(self, data: object, labels: NDArray[np.int64]) -> Rows:
        """Return the rows of a table."""
        return grid_rows(self.vectors(data), np.asarray(labels), classes=self.classes)


@dataclass(frozen=True, kw_only=True)
class SchemaEncoding(Message):
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

    noun = "an encoding of a schema"
    kind = "schema"
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

    @cached_property
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
            raise SchemaError(
                "the records were read by another schema; all parties use the study's."
            )
        parts = [self._columns(each, data.columns[each.name]) for each in data.attributes]
        return np.concatenate(parts, axis=1) / float(self.norm or 1.0)

    def rows(self, records: Records) -> Rows:
        """Return the rows of records that have labels."""
        vectors = self.vectors(records)
        if records.target is None:
            raise RecordError("the records have no labels; read them with their target.")
        return grid_rows(vectors, records.target.astype(np.int64), classes=self.classes)

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
