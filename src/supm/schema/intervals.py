"""Classes of numbers: intervals of equal width, or between public cut points."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from supm._errors import SchemaError
from supm.schema.attributes import Continuous
from supm.schema.discretizer import CLASSES, Discretizer, expect
from supm.schema.fields import FieldError, check_bound


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
        expect(self, Continuous)
        object.__setattr__(self, "classes", CLASSES.check(self.classes))
        if not self._rising():
            name = self.attribute.name
            message = f"attribute {name!r}: its range is too narrow for {self.classes} classes."
            raise SchemaError(message)

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
        expect(self, Continuous)
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
