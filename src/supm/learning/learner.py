"""What trains on weighted cells: the papers' machine, or any classifier of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from supm._errors import ParameterError
from supm._validation import Reals
from supm.learning.cells import WeightedCells
from supm.learning.svm import RbfSVM


class Predictor(Protocol):
    """A trained classifier."""

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return a class number for each row."""
        ...


class Learner(Protocol):
    """Whatever trains on weighted cells."""

    def fit(self, cells: WeightedCells, *, classes: int) -> Predictor:
        """Return a trained classifier of that many classes."""
        ...


@dataclass(frozen=True, kw_only=True)
class RadialSVM:
    """The papers' support vector machine with a radial kernel.

    Parameters
    ----------
    penalty : float, default 1.0
        The constant C: 2.1 for WDBC, 3.9 for Ionosphere and 5.0 for Musk in the papers.

    Examples
    --------
    >>> cells = WeightedCells.from_counts(np.array([[-1.0], [1.0]]), [[9, 1], [2, 8]])
    >>> RadialSVM(penalty=2.1).fit(cells, classes=2).predict(np.array([[0.9]]))
    array([1])
    """

    penalty: float = 1.0

    def __post_init__(self) -> None:
        Reals("penalty", 1e-6, 1e9).check(self.penalty)

    def fit(self, cells: WeightedCells, *, classes: int) -> Predictor:
        """Train; see `RbfSVM.fit`."""
        return RbfSVM.fit(cells, classes=classes, penalty=self.penalty)


@dataclass(frozen=True, kw_only=True)
class AnyClassifier:
    """A classifier of scikit-learn, trained on cells with their counts as sample weights.

    Parameters
    ----------
    estimator : classifier
        Not trained, and left as it is: a clone is trained. Its ``fit`` takes ``sample_weight``.

    Notes
    -----
    Training on cells equals training on all the records where a weight counts as so many records.
    Options that look at rows instead see cells: ``min_samples_leaf`` of a tree, the bootstrap of a
    forest, ``gamma="scale"`` of an SVC.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> cells = WeightedCells.from_counts(np.array([[-1.0], [1.0]]), [[9, 1], [2, 8]])
    >>> learner = AnyClassifier(estimator=LogisticRegression())
    >>> learner.fit(cells, classes=2).predict(np.array([[0.9]]))
    array([1])
    """

    estimator: Any

    def __post_init__(self) -> None:
        weighted = hasattr(self.estimator, "fit") and has_fit_parameter(
            self.estimator, "sample_weight"
        )
        if not weighted or isinstance(self.estimator, type):
            name = type(self.estimator).__name__
            hint = "Training on cells needs weights; wrap it, or choose another."
            raise ParameterError(
                "estimator", "a classifier whose fit takes sample_weight", name, hint
            )

    def fit(self, cells: WeightedCells, *, classes: int) -> Predictor:
        """Train a clone; where there is one class only, predict it."""
        present = np.unique(cells.labels)
        if present.size == 1:
            return Constant(label=int(present[0]))
        trained = clone(self.estimator)
        trained.fit(cells.features, cells.labels, sample_weight=cells.weights)
        del classes  # scikit-learn keeps the class numbers that it saw
        predictor: Predictor = trained
        return predictor


@dataclass(frozen=True, kw_only=True)
class Constant:
    """A classifier that always gives the same answer.

    Parameters
    ----------
    label : int
        The class number.

    Examples
    --------
    >>> Constant(label=1).predict(np.zeros((2, 3)))
    array([1, 1])
    """

    label: int

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the label for each row."""
        return np.full(len(features), self.label, dtype=np.int64)
