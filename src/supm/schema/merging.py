"""Classes of listed values: neighbours if they have an order, or a partition; merged classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import SchemaError
from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
from supm.schema.discretizer import CLASSES, Discretizer, expect


class _Merge(Discretizer):
    """Classes of listed values, by a fixed public table from positions to classes."""

    attribute: Ordinal | Categorical
    classes: int

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

    def __post_init__(self) -> None:
        expect(self, Ordinal)
        object.__setattr__(self, "classes", CLASSES.check(self.classes))

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

    def __post_init__(self) -> None:
        expect(self, Categorical)
        object.__setattr__(self, "classes", CLASSES.check(self.classes))

    @property
    def representatives(self) -> None:  # noqa: D102  inherited
        return None

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        places = np.arange(len(self.attribute.values), dtype=np.int64)
        return np.append(places % self._classes, self._classes)


@dataclass(frozen=True)
class Regrouped(Discretizer):
    """The classes of another discretizer, merged by a published list.

    Parameters
    ----------
    finer : Discretizer
        The classes that are merged, that of missing values included.
    groups : tuple of int
        The group of each of them, 0 … largest, every number used.

    Examples
    --------
    >>> from supm.schema import Continuous, EqualWidth, Regrouped
    >>> age = EqualWidth(Continuous("age", low=0, high=100), classes=4)
    >>> merged = Regrouped(age, groups=(0, 1, 1, 0))
    >>> merged.encode([10, 30, 99]).tolist()
    [0, 1, 0]
    >>> merged.labels
    ('[0, 25] or (75, 100]', '(25, 75]')
    """

    finer: Discretizer
    _: KW_ONLY
    groups: tuple[int, ...]
    attribute: Attribute = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", self.finer.attribute)
        whole = all(type(group) is int for group in self.groups)
        if not whole or len(self.groups) != self.finer.size:
            message = (
                f"{self.attribute.name}: groups must be a whole number for each of the "
                f"{self.finer.size} classes."
            )
            raise SchemaError(message)
        used = set(self.groups)
        if len(used) < 2 or min(used) != 0 or max(used) != len(used) - 1:
            message = f"{self.attribute.name}: groups must be numbered from 0, at least two."
            raise SchemaError(message)

    @property
    def size(self) -> int:
        """The number of groups; missing values are in one of them."""
        return max(self.groups) + 1

    @property
    def labels(self) -> tuple[str, ...]:
        """What each group holds, in words."""
        held: list[list[str]] = [[] for _ in range(self.size)]
        for label, group in zip(self.finer.labels, self.groups, strict=True):
            held[group].append(label)
        ranges = isinstance(self.attribute, Continuous)
        return tuple(" or ".join(_joined(each) if ranges else each) for each in held)

    @property
    def representatives(self) -> None:  # noqa: D102  inherited
        return None

    def classify(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the group of each value's class."""
        return np.take(self._table, self.finer.classify(values))

    @property
    def _classes(self) -> int:
        return self.size

    @property
    def _labels(self) -> tuple[str, ...]:
        return self.labels

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        return np.array(self.groups, dtype=np.int64)


def _joined(labels: list[str]) -> list[str]:
    """Make one range of two where the second begins at the end of the first."""
    told: list[str] = []
    for label in labels:
        end = told[-1].rpartition(", ")[2].removesuffix("]") if told else ""
        if told and label.startswith(f"({end}, "):
            told[-1] = told[-1].removesuffix(f"{end}]") + label.removeprefix(f"({end}, ")
        else:
            told.append(label)
    return told
