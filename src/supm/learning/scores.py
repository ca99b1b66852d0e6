"""How good predictions are, beside the constant that needs no data; folds to find it out."""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Integers

_COUNT = Integers("count", 2, 10_000)
_ROWS = Integers("rows", 2, 1 << 40)


class Metric(ABC):
    """How good predictions are: of labels, or of numbers."""

    @property
    @abstractmethod
    def headline(self) -> float:
        """The figure that is told first: the accuracy, or the mean squared error."""

    @property
    @abstractmethod
    def beside(self) -> float:
        """What is told beside it: the balanced accuracy, or the explained share of the error."""

    @property
    @abstractmethod
    def of_constant(self) -> float:
        """The headline of the best constant, without which it means little."""


@dataclass(frozen=True, kw_only=True)
class Scores(Metric):
    """Accuracy, with the two figures without which it means little.

    Parameters
    ----------
    accuracy : float
        Share of right predictions.
    balanced_accuracy : float
        Mean over the classes of the share of right predictions within each: 1 / classes for any
        constant.
    majority : float
        Accuracy of always predicting the commonest class of these records.
    """

    accuracy: float
    balanced_accuracy: float
    majority: float

    @property
    def headline(self) -> float:
        """The accuracy."""
        return self.accuracy

    @property
    def beside(self) -> float:
        """The balanced accuracy."""
        return self.balanced_accuracy

    @property
    def of_constant(self) -> float:
        """The accuracy of the commonest class."""
        return self.majority


@dataclass(frozen=True, kw_only=True)
class Errors(Metric):
    """Mean squared error, with the figure without which it means little.

    Parameters
    ----------
    squared : float
        Mean of the squared differences, in the unit of the target squared.
    constant : float
        The same for the mean of these very records, predicted for everybody.
    """

    squared: float
    constant: float

    @property
    def explained(self) -> float:
        """Which part of the constant's error is gone: 1 at best, 0 for the constant."""
        return 1.0 - self.squared / self.constant if self.constant > 0 else 0.0

    @property
    def headline(self) -> float:
        """The mean squared error."""
        return self.squared

    @property
    def beside(self) -> float:
        """The explained share of the error."""
        return self.explained

    @property
    def of_constant(self) -> float:
        """The error of the mean."""
        return self.constant


_Each = TypeVar("_Each", Scores, Errors, Metric)


def average(found: Sequence[_Each]) -> _Each:
    """Return the mean of each figure.

    Parameters
    ----------
    found : sequence of Scores or of Errors
        At least one.

    Returns
    -------
    Scores or Errors

    Examples
    --------
    >>> average([Errors(squared=1.0, constant=4.0), Errors(squared=3.0, constant=4.0)])
    Errors(squared=2.0, constant=4.0)
    """
    first = type(found[0])
    names = [each.name for each in fields(first)]  # type: ignore[arg-type]  # both are dataclasses
    return first(
        **{name: statistics.fmean(getattr(each, name) for each in found) for name in names}
    )


def score(truth: ArrayLike, predicted: ArrayLike) -> Scores:
    """Compare predicted class numbers with the true ones.

    Parameters
    ----------
    truth, predicted : array-like of int
        Class numbers from 0.

    Returns
    -------
    Scores
        Balanced over the classes that occur in the truth.

    Examples
    --------
    >>> score([0, 0, 0, 1], [0, 0, 0, 0])
    Scores(accuracy=0.75, balanced_accuracy=0.5, majority=0.75)
    """
    held, told = _classes(truth), _classes(predicted)
    if held.shape != told.shape:
        raise ParameterError("predicted", f"of length {held.size}", told.size)
    people = np.bincount(held)
    right = np.bincount(held[held == told], minlength=people.size)
    present = people > 0
    return Scores(
        accuracy=float(right.sum() / held.size),
        balanced_accuracy=float((right[present] / people[present]).mean()),
        majority=float(people.max() / held.size),
    )


def measure(truth: ArrayLike, predicted: ArrayLike) -> Errors:
    """Compare predicted numbers with the true ones.

    Parameters
    ----------
    truth, predicted : array-like of float
        As many of one as of the other.

    Returns
    -------
    Errors

    Examples
    --------
    >>> measure([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]).explained
    0.5
    """
    held = np.asarray(truth, dtype=np.float64)
    told = np.asarray(predicted, dtype=np.float64)
    if held.ndim != 1 or held.size == 0 or held.shape != told.shape:
        raise ParameterError("predicted", f"of length {held.size}", told.size)
    return Errors(squared=float(np.square(held - told).mean()), constant=float(held.var()))


def _classes(values: ArrayLike) -> NDArray[np.int64]:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu":
        got = f"{numbers.dtype} of shape {numbers.shape}"
        raise ParameterError("classes", "a flat array of at least one whole number", got)
    if int(numbers.min()) < 0:
        raise ParameterError("classes", "0 or more", "a negative number")
    return numbers.astype(np.int64, copy=False)


def folds(
    rows: int, count: int, source: RandomSource, *, equal: bool = False
) -> tuple[NDArray[np.int64], ...]:
    """Split people at random into folds.

    Parameters
    ----------
    rows : int
        Number of people.
    count : int
        Number of folds, at most one per person.
    source : RandomSource
        Where the order comes from.
    equal : bool, default False
        Whether all folds have the same size, the people left over being in none of them: that is
        how the printed accuracies of paper 000 come about (549 / 560 on 569 records). By default
        everyone is in a fold, and the sizes differ by at most one.

    Returns
    -------
    tuple of ndarray of int64
        Row numbers of each fold.

    Examples
    --------
    >>> from supm import simulation
    >>> [len(fold) for fold in folds(11, 3, simulation(1))]
    [4, 4, 3]
    >>> [len(fold) for fold in folds(11, 3, simulation(1), equal=True)]
    [3, 3, 3]
    """
    rows, count = _ROWS.check(rows), _COUNT.check(count)
    if count > rows:
        raise ParameterError("count", f"at most the number of people, {rows}", count)
    order = source.permutation(rows)
    if equal:
        order = order[: rows // count * count]
    return tuple(np.array_split(order, count))
