"""What a trained model decides by: a table of answers, or a scorecard. Neither holds code.

Both are plain numbers that a phone, a page or a person with a pencil can follow, and both were made
from reports alone, so that they may be handed out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import Integers
from supm.messages.codec import Message

CELLS: Final = Integers(
    "cells of a published model", 1, 1 << 20, "Keep fewer attributes or fewer classes."
)
LARGEST: Final = 1e9
"""No point is larger."""

_PLACE: Final = Integers("the place of an attribute", 0, 1 << 20)


class _Plain(Message):
    """Equal where the numbers are, as arrays cannot be compared by themselves."""

    def __eq__(self, other: object) -> bool:
        """Say whether another rule has the same numbers."""
        return isinstance(other, _Plain) and self.to_form() == other.to_form()

    def __hash__(self) -> int:
        """Return what equal rules have in common."""
        return hash(self.to_json())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CellAnswers(_Plain):
    """A label for each combination of classes.

    Parameters
    ----------
    answers : ndarray of int
        The label number of each cell, the last attribute running fastest.

    Examples
    --------
    >>> rule = CellAnswers(answers=np.array([0, 0, 1, 1]))
    >>> rule.predict(np.array([[1, 0]]), sizes=(2, 2))
    array([1])
    """

    noun = "a table of answers"
    kind = "cells"
    answers: NDArray[np.int64]

    def __post_init__(self) -> None:
        given = _array("answers", self.answers, None)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            got = f"{given.dtype} of shape {given.shape}"
            raise ParameterError("answers", "a list of whole numbers", got)
        # A copy: whoever made the rule keeps an array of its own.
        object.__setattr__(self, "answers", _frozen(given.astype(np.int64)))

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"CellAnswers(cells={self.answers.size})"

    def check(self, sizes: tuple[int, ...], outputs: int) -> None:
        """Raise ParameterError unless the rule is about such classes and so many labels."""
        cells = CELLS.check(math.prod(sizes))
        if self.answers.size != cells:
            got = f"{self.answers.size} of them"
            raise ParameterError("answers", f"{cells} whole numbers", got)
        if int(self.answers.min()) < 0 or int(self.answers.max()) >= outputs:
            raise ParameterError("answers", f"numbers below {outputs}", "one outside")

    def predict(self, classes: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the label number of each row of class numbers."""
        found: NDArray[np.int64] = self.answers[np.ravel_multi_index(tuple(classes.T), sizes)]
        return found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairPoints(_Plain):
    """Points for each combination of the classes of two attributes.

    Parameters
    ----------
    first, second : int
        The places of the attributes, the smaller one first.
    points : ndarray, shape (classes, classes, outputs)
        The points of each combination, for each label.

    Examples
    --------
    >>> pair = PairPoints(first=0, second=1, points=np.ones((2, 3, 2)))
    >>> pair.of(np.array([[1, 2], [0, 0]]))
    array([[1., 1.],
           [1., 1.]])
    """

    noun = "a pair of a scorecard"
    first: int
    second: int
    points: NDArray[np.float64]

    def __post_init__(self) -> None:
        first = _PLACE.check(self.first)
        if first >= _PLACE.check(self.second):
            raise ParameterError("second", f"a place behind {first}", self.second)
        object.__setattr__(self, "points", _numbers("points of a pair", self.points, 3))

    def __repr__(self) -> str:
        """Say which attributes it is about."""
        return f"PairPoints(first={self.first}, second={self.second})"

    def of(self, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the points of each row of class numbers."""
        points: NDArray[np.float64] = self.points[classes[:, self.first], classes[:, self.second]]
        return points


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scorecard(_Plain):
    """Points for each class of each attribute; they add up to a score for each label.

    Parameters
    ----------
    points : tuple of ndarray, each of shape (classes, outputs)
        For each attribute the points of its classes, one column for each label. Where the target is
        a number there is one column, and the sum is that number on [-1, 1].
    offsets : ndarray, shape (outputs,)
        Where the sums start.
    pairs : tuple of PairPoints, default ()
        Points for two attributes that say together what neither says alone.

    Examples
    --------
    >>> card = Scorecard(points=(np.array([[0.0, -1.0], [0.0, 2.0]]),), offsets=np.zeros(2))
    >>> classes = np.array([[0], [1]])
    >>> card.predict(classes, sizes=(2,))
    array([0, 1])
    >>> card.probabilities(classes).round(3)
    array([[0.731, 0.269],
           [0.119, 0.881]])
    """

    noun = "a scorecard"
    kind = "scorecard"
    points: tuple[NDArray[np.float64], ...]
    offsets: NDArray[np.float64]
    pairs: tuple[PairPoints, ...] = ()

    def __post_init__(self) -> None:
        offsets = _numbers("offsets", self.offsets, 1)
        points = tuple(_numbers("points", each, 2) for each in _tables(self.points))
        if not points or any(each.shape[1] != offsets.size for each in points):
            wanted = f"tables of {offsets.size} columns, one for each offset"
            raise ParameterError("points", wanted, "other tables")
        pairs = _pairs(self.pairs)
        shapes = [(*_sizes(points, pair), offsets.size) for pair in pairs]
        if any(pair.points.shape != shape for pair, shape in zip(pairs, shapes, strict=True)):
            wanted = "tables of the classes of two attributes, one column for each offset"
            raise ParameterError("pairs", wanted, "other tables")
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "pairs", pairs)

    def __repr__(self) -> str:
        """Say how large it is."""
        pairs = f", pairs={len(self.pairs)}" if self.pairs else ""
        return f"Scorecard(attributes={len(self.points)}, outputs={self.offsets.size}{pairs})"

    def check(self, sizes: tuple[int, ...], outputs: int) -> None:
        """Raise ParameterError unless the rule is about such classes and so many labels."""
        shapes = tuple(len(each) for each in self.points)
        if shapes != tuple(sizes) or self.offsets.size != outputs:
            wanted = "a row for each class of each chosen attribute and a column for each label"
            raise ParameterError("points", wanted, "other tables")

    def scores(self, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum of points of each row of class numbers, one column for each output."""
        sums = np.tile(self.offsets, (len(classes), 1))
        for place, table in enumerate(self.points):
            sums += table[classes[:, place]]
        for pair in self.pairs:
            sums += pair.of(classes)
        return sums

    def predict(self, classes: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the label of most points for each row of class numbers."""
        del sizes  # the tables have them
        most: NDArray[np.int64] = self.scores(classes).argmax(axis=1)
        return most

    def probabilities(self, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of each label for each row of class numbers."""
        sums = self.scores(classes)
        grown = np.exp(sums - sums.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = grown / grown.sum(axis=1, keepdims=True)
        return shares


Rule: TypeAlias = CellAnswers | Scorecard


def _pairs(given: object) -> tuple[PairPoints, ...]:
    pairs = _tables(given)
    held = tuple(each for each in pairs if isinstance(each, PairPoints))
    if len(held) != len(pairs) or not isinstance(given, tuple | list):
        raise ParameterError("pairs", "a list of PairPoints", "another value")
    return held


def _sizes(points: tuple[NDArray[np.float64], ...], pair: PairPoints) -> tuple[int, ...]:
    places = (pair.first, pair.second)
    return tuple(len(points[place]) if place < len(points) else -1 for place in places)


def _tables(given: object) -> tuple[object, ...]:
    return tuple(given) if isinstance(given, tuple | list) else ()


def _array(name: str, given: object, kind: type | None) -> NDArray[Any]:
    try:
        return np.array(given, dtype=kind)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, "a table of numbers", type(given)) from None


def _numbers(name: str, given: object, axes: int) -> NDArray[np.float64]:
    # A zero has no sign: equal rules have equal text.
    held = _array(name, given, np.float64) + 0.0
    if held.ndim != axes or not held.size or not np.isfinite(held).all():
        wanted = f"finite numbers in {axes} {'axes' if axes > 1 else 'axis'}"
        raise ParameterError(name, wanted, f"shape {held.shape}")
    if np.abs(held).max() > LARGEST:
        raise ParameterError(name, f"at most {LARGEST:g}", "larger ones")
    return _frozen(held)


def _frozen(held: NDArray[Any]) -> NDArray[Any]:
    held.flags.writeable = False
    return held
