"""From values to a few classes: the ordered-discrete anonymisation (ODA) of the papers, corrected.

Everything here is public arithmetic: a discretizer is fixed before any record is read, and owner
and aggregator hold the same one. Classes are numbered 0 … size - 1 where the papers number from 1.
The corrections to the printed algorithm are these:

1. the minimum belongs to the first class, and what lies beyond a bound is clipped to it;
2. a target of two values is read by its place in their list and never goes through ODA;
3. the last of L values falls in class L, not in a class 0 that does not exist;
4. an attribute of c values has min(c, L) classes, so no class is without a value;
5. classes of ordered values are runs of neighbours;
6. a class of ordered values has a number; classes of unordered values are one-hot.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, cast

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm._validation import Integers, keep_checked
from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal, check_bound
from supm.schema.columns import FieldError

CLASSES: Final = Integers("classes", 2, 1 << 20, "One class tells nothing.")


class Discretizer(ABC):
    """What all discretizers share: classes 0 … size - 1 of one attribute.

    Where the attribute has ``missing="class"``, the last class is that of the missing values.
    """

    attribute: Attribute

    @property
    def size(self) -> int:
        """The number of classes, that of the missing values included."""
        return self._classes + (self.attribute.missing == "class")

    @property
    def labels(self) -> tuple[str, ...]:
        """What each class holds, in words."""
        return (*self._labels, "missing")[: self.size]

    @property
    @abstractmethod
    def representatives(self) -> NDArray[np.float64] | None:
        """The number that stands for each class, or None where classes have no order.

        Missing values have no place on the scale: the number of their class is the middle of it.
        """

    @abstractmethod
    def classify(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the classes of values that ``attribute.read`` returned."""

    def encode(self, column: object) -> NDArray[np.int64]:
        """Return the class of each value of a raw column, which ``attribute.read`` checks first."""
        return self.classify(self.attribute.read(column))

    def one_hot(self, classes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return one row for each class number: 1 in its own column and 0 elsewhere."""
        numbers = np.asarray(classes)
        inside = numbers.dtype.kind in "iu" and bool(((numbers >= 0) & (numbers < self.size)).all())
        if numbers.ndim != 1 or not inside:
            name, last = self.attribute.name, self.size - 1
            raise RecordError(f"{name}: classes must be whole numbers in [0, {last}].")
        rows = np.zeros((numbers.size, self.size))
        rows[np.arange(numbers.size), numbers] = 1.0
        return rows

    @property
    @abstractmethod
    def _classes(self) -> int: ...

    @property
    @abstractmethod
    def _labels(self) -> tuple[str, ...]: ...

    def _expect(self, kind: type) -> None:
        """Check that the attribute is of a kind."""
        if not isinstance(self.attribute, kind):
            name, got = type(self).__name__, type(self.attribute).__name__
            raise SchemaError(f"{name} needs an attribute of kind {kind.__name__}, got {got}.")

    def _with_missing(self, scale: NDArray[np.float64], middle: float) -> NDArray[np.float64]:
        return np.append(scale, middle)[: self.size]


class _Intervals(Discretizer):
    """x is in class i when edge[i] < x <= edge[i + 1]; the first class holds both its edges."""

    attribute: Continuous

    @property
    def representatives(self) -> NDArray[np.float64]:
        edges = self._edges
        middle = self.attribute.low + (self.attribute.high - self.attribute.low) / 2
        return self._with_missing(edges[:-1] + np.diff(edges) / 2, middle)

    def classify(self, values: NDArray[Any]) -> NDArray[np.int64]:
        classes = np.searchsorted(self._edges[1:-1], values, side="left").astype(np.int64)
        classes[np.isnan(values)] = self._classes
        return classes

    @property
    def _classes(self) -> int:
        return self._edges.size - 1

    @property
    def _labels(self) -> tuple[str, ...]:
        edges = _readable(self._edges)
        first, *others = itertools.pairwise(edges)
        return (f"[{first[0]}, {first[1]}]", *(f"({low}, {high}]" for low, high in others))

    @property
    @abstractmethod
    def _edges(self) -> NDArray[np.float64]: ...

    def _rising(self) -> bool:
        return bool((np.diff(self._edges) > 0).all())


@dataclass(frozen=True)
class EqualWidth(_Intervals):
    """Classes of equal width between the bounds of a continuous attribute.

    Class i, counted from 1, stands for ``low + (2 i - 1) (high - low) / (2 classes)``. An edge
    between two classes belongs to the lower one.

    Parameters
    ----------
    attribute : Continuous
        The attribute.
    classes : int
        How many classes, at least 2.

    Examples
    --------
    >>> from supm.schema import Continuous, EqualWidth
    >>> age = EqualWidth(Continuous("age", low=0, high=100), classes=4)
    >>> age.encode([0, 25, 25.1, 100, 130]).tolist()
    [0, 0, 1, 3, 3]
    >>> age.representatives.tolist()
    [12.5, 37.5, 62.5, 87.5]
    >>> age.labels
    ('[0, 25]', '(25, 50]', '(50, 75]', '(75, 100]')
    """

    attribute: Continuous
    _: KW_ONLY
    classes: int

    def __post_init__(self) -> None:
        self._expect(Continuous)
        keep_checked(self, CLASSES)
        if not self._rising():
            name = self.attribute.name
            raise SchemaError(
                f"attribute {name!r}: its range is too narrow for {self.classes} classes."
            )

    @property
    def cuts(self) -> tuple[float, ...]:
        """The edges between classes, for `CutPoints`."""
        return tuple(self._edges[1:-1].tolist())

    @property
    def representatives(self) -> NDArray[np.float64]:  # noqa: D102  inherited
        low, width = self.attribute.low, self.attribute.high - self.attribute.low
        # A share of the width: the product (2 i - 1) * width may overflow.
        shares = (2 * np.arange(self.classes) + 1) / (2 * self.classes)
        return self._with_missing(low + width * shares, low + width / 2)

    @cached_property
    def _edges(self) -> NDArray[np.float64]:
        low, high = self.attribute.low, self.attribute.high
        shares = np.arange(1, self.classes) / self.classes
        return np.concatenate(([low], low + (high - low) * shares, [high]))


@dataclass(frozen=True)
class CutPoints(_Intervals):
    """Classes of a continuous attribute between cut points that are given by hand.

    The cut points are public: they come from the subject (a clinical threshold, say), never from
    the data. A cut point belongs to the class below it, and a class stands for the middle of its
    interval.

    Parameters
    ----------
    attribute : Continuous
        The attribute.
    cuts : sequence of float
        At least one number, rising, all strictly between the bounds.

    Examples
    --------
    >>> from supm.schema import Continuous, CutPoints
    >>> bmi = CutPoints(Continuous("bmi", low=10, high=60), cuts=(18.5, 25, 30))
    >>> bmi.encode([17, 18.5, 24, 31]).tolist()
    [0, 0, 1, 3]
    >>> bmi.labels
    ('[10, 18.5]', '(18.5, 25]', '(25, 30]', '(30, 60]')
    """

    attribute: Continuous
    _: KW_ONLY
    cuts: tuple[float, ...]

    def __post_init__(self) -> None:
        self._expect(Continuous)
        name, given = self.attribute.name, cast("object", self.cuts)
        if not isinstance(given, Sequence | np.ndarray) or not 0 < len(given) < CLASSES.high:
            raise FieldError(name, "cuts", f"must be 1 to {CLASSES.high - 1} numbers.")
        checked = tuple(check_bound(name, f"cuts[{k}]", cut) for k, cut in enumerate(given))
        object.__setattr__(self, "cuts", checked)
        if not self._rising():
            raise FieldError(name, "cuts", "must rise and lie strictly between low and high.")

    @cached_property
    def _edges(self) -> NDArray[np.float64]:
        return np.array((self.attribute.low, *self.cuts, self.attribute.high))


def _readable(edges: NDArray[np.float64]) -> list[str]:
    """Write numbers with as few digits as keep them apart."""
    for digits in range(6, 17):
        words = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(words)) == len(words):
            return words
    return [f"{edge:.17g}" for edge in edges]


class _Merge(Discretizer):
    """Classes of listed values, by a fixed public table from positions to classes."""

    attribute: Ordinal | Categorical
    classes: int
    _kind: ClassVar[type]

    def __post_init__(self) -> None:
        self._expect(self._kind)
        keep_checked(self, CLASSES)

    def classify(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return np.take(self._table, values)

    @property
    def _classes(self) -> int:
        return min(len(self.attribute.values), self.classes)

    @property
    def _labels(self) -> tuple[str, ...]:
        held: list[list[str]] = [[] for _ in range(self._classes)]
        for value, place in zip(self.attribute.values, self._table, strict=False):
            held[int(place)].append(str(value))
        return tuple(", ".join(values) for values in held)

    @property
    @abstractmethod
    def _table(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class MergeNeighbours(_Merge):
    """Runs of neighbouring values of an ordinal attribute.

    Of c values, the one at place k (counted from 1) falls in class ``ceil(k l / c)`` of
    ``l = min(c, classes)``. The classes stand for numbers evenly spread over [-1, 1].

    Parameters
    ----------
    attribute : Ordinal
        The attribute.
    classes : int
        The largest number of classes, at least 2.

    Examples
    --------
    >>> from supm.schema import MergeNeighbours, Ordinal
    >>> pain = Ordinal("pain", values=("none", "mild", "strong", "severe"))
    >>> merged = MergeNeighbours(pain, classes=2)
    >>> merged.encode(["none", "strong", "severe", "mild"]).tolist()
    [0, 1, 1, 0]
    >>> merged.labels
    ('none, mild', 'strong, severe')
    """

    attribute: Ordinal
    _: KW_ONLY
    classes: int
    _kind = Ordinal

    @property
    def representatives(self) -> NDArray[np.float64]:  # noqa: D102  inherited
        return self._with_missing(np.linspace(-1.0, 1.0, self._classes), 0.0)

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        values, classes = len(self.attribute.values), self._classes
        places = np.arange(1, values + 1, dtype=np.int64)
        return np.append(-(-places * classes // values) - 1, classes)


@dataclass(frozen=True)
class MergeModulo(_Merge):
    """A fixed partition of the values of a categorical attribute.

    The value at place k (counted from 1) falls in class ``((k - 1) mod l) + 1`` of
    ``l = min(c, classes)``. The classes have no order: no number stands for them, use `one_hot`.

    Parameters
    ----------
    attribute : Categorical
        The attribute.
    classes : int
        The largest number of classes, at least 2.

    Examples
    --------
    >>> from supm.schema import Categorical, MergeModulo
    >>> ward = Categorical("ward", values=("north", "east", "south"))
    >>> merged = MergeModulo(ward, classes=2)
    >>> merged.encode(["north", "east", "south"]).tolist()
    [0, 1, 0]
    >>> merged.one_hot(merged.encode(["east"])).tolist()
    [[0.0, 1.0]]
    """

    attribute: Categorical
    _: KW_ONLY
    classes: int
    _kind = Categorical

    @property
    def representatives(self) -> None:  # noqa: D102  inherited
        return None

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        places = np.arange(len(self.attribute.values), dtype=np.int64)
        return np.append(places % self._classes, self._classes)


def discretize(attribute: Attribute, classes: int) -> Discretizer:
    """Return the discretizer of the papers for an attribute.

    Parameters
    ----------
    attribute : Continuous, Ordinal or Categorical
        The attribute.
    classes : int
        The number of classes L; attributes with fewer values keep one class for each.

    Returns
    -------
    Discretizer
        `EqualWidth`, `MergeNeighbours` or `MergeModulo`, by the kind of the attribute.

    Examples
    --------
    >>> from supm.schema import Categorical, Continuous, discretize
    >>> discretize(Continuous("age", low=0, high=100), 5).size
    5
    >>> discretize(Categorical("ward", values=("north", "east", "south")), 5).size
    3
    """
    if isinstance(attribute, Continuous):
        return EqualWidth(attribute, classes=classes)
    if isinstance(attribute, Ordinal):
        return MergeNeighbours(attribute, classes=classes)
    return MergeModulo(attribute, classes=classes)


def class_count(attribute: Attribute, classes: int) -> int:
    """Return how many classes an attribute has where it is divided into so many."""
    values = classes if isinstance(attribute, Continuous) else len(attribute.values)
    return min(values, classes) + (attribute.missing == "class")
