"""Weighted cells, and what trains on them: the papers' machine, or any classifier of scikit-learn.

Discretised records fall into finitely many cells, so a model is trained on the distinct cells with
their counts as weights. That equals training on all the duplicates, and its cost does not grow with
people.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from supm._errors import ParameterError
from supm._validation import Reals

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

Machine: TypeAlias = tuple[Floats, Floats, float]
"""Places, the weight of each, and the constant of a decision between two classes."""

_PENALTY = Reals("penalty", 1e-6, 1e9)
_CHUNK = 4_096


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedCells:
    """Points with a class and a weight each.

    Parameters
    ----------
    features : ndarray of float, shape (points, attributes)
        Where each point lies.
    labels : ndarray of int
        The class of each point, a number from 0.
    weights : ndarray of float
        How many records each point stands for; positive.

    Examples
    --------
    >>> places = np.array([[-0.5], [0.5]])
    >>> cells = WeightedCells.from_counts(places, np.array([[3, 0], [1, 2]]))
    >>> cells.labels, cells.weights
    (array([0, 0, 1]), array([3., 1., 2.]))
    """

    features: Floats
    labels: Ints
    weights: Floats

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or not len(self.features):
            raise ParameterError("features", "a table of at least one point", self.features.shape)
        for name, column in (("labels", self.labels), ("weights", self.weights)):
            if column.shape != (len(self.features),):
                raise ParameterError(name, f"of length {len(self.features)}", column.shape)
        if not (np.isfinite(self.weights) & (self.weights > 0)).all():
            raise ParameterError("weights", "positive and finite", "one that is not")

    @classmethod
    def from_counts(cls, places: Floats, counts: ArrayLike) -> Self:
        """Make points of the cells that hold anyone.

        Parameters
        ----------
        places : ndarray of float, shape (cells, attributes)
            Where each cell lies.
        counts : array-like, shape (cells, classes)
            How many records of each class each cell holds; what is not positive is left out.

        Returns
        -------
        WeightedCells
        """
        held = np.asarray(counts, dtype=np.float64)
        cell, label = np.nonzero(held > 0)
        return cls(features=places[cell], labels=label, weights=held[cell, label])

    @classmethod
    def from_rows(cls, features: Floats, labels: ArrayLike) -> Self:
        """Merge equal rows of one class into one point each."""
        classes = np.asarray(labels, dtype=np.int64)
        rows = np.column_stack((features, classes))
        points, counts = np.unique(rows, axis=0, return_counts=True)
        return cls(
            features=np.ascontiguousarray(points[:, :-1]),
            labels=points[:, -1].astype(np.int64),
            weights=counts.astype(np.float64),
        )

    @property
    def variances(self) -> Floats:
        """The variance of each attribute over the records that the points stand for."""
        mean = np.average(self.features, axis=0, weights=self.weights)
        spread: Floats = np.average(np.square(self.features - mean), axis=0, weights=self.weights)
        return spread

    def only(self, classes: tuple[int, ...]) -> WeightedCells:
        """Return the points of some classes, numbered by their place in the list."""
        place = {label: number for number, label in enumerate(classes)}
        kept = np.isin(self.labels, classes)
        return WeightedCells(
            features=self.features[kept],
            labels=np.array([place[int(label)] for label in self.labels[kept]], dtype=np.int64),
            weights=self.weights[kept],
        )


class Predictor(Protocol):
    """A trained classifier."""

    def predict(self, features: Floats) -> Ints:
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
        _PENALTY.check(self.penalty)

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
        from sklearn.utils.validation import has_fit_parameter  # noqa: PLC0415  who only plans does without

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
        from sklearn.base import clone  # noqa: PLC0415  the same

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

    def predict(self, features: Floats) -> Ints:
        """Return the label for each row."""
        return np.full(len(features), self.label, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class RbfSVM:
    """A trained machine: one vote for each pair of classes.

    Parameters
    ----------
    classes : int
        Number of classes.
    gamma : float
        Width parameter of the kernel.
    machines : tuple
        For each pair of classes: their numbers, the places, the weight of each place and the
        constant. Positive values vote for the second class of the pair.
    prior : ndarray of float
        Share of each class in training; it decides ties, and everything where there is one class.

    Notes
    -----
    gamma = 1 / (attributes x largest variance), as papers 000 and 001 say (with the parentheses of
    docs/errata.md, 11). Where no attribute varies or there is one class, the commonest class is
    predicted.

    References
    ----------
    Paper 000, section 2; C. Cortes, V. Vapnik, Support-vector networks, Machine Learning 20 (1995).

    Examples
    --------
    >>> places = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    >>> cells = WeightedCells.from_counts(places, [[90, 5], [80, 9], [20, 70], [5, 95]])
    >>> RbfSVM.fit(cells, classes=2, penalty=2.1).predict(places)
    array([0, 0, 1, 1])
    """

    classes: int
    gamma: float
    machines: tuple[tuple[int, int, Floats, Floats, float], ...]
    prior: Floats

    @classmethod
    def fit(cls, cells: WeightedCells, *, classes: int, penalty: float) -> RbfSVM:
        """Train on weighted cells; equal to training on each cell as often as its weight says.

        Parameters
        ----------
        cells : WeightedCells
            Points, classes and weights.
        classes : int
            Number of classes, also of those that no point has.
        penalty : float
            The constant C of the papers.

        Returns
        -------
        RbfSVM
        """
        penalty = _PENALTY.check(penalty)
        prior = np.bincount(cells.labels, weights=cells.weights, minlength=classes)
        spread = float(cells.features.shape[1] * cells.variances.max())
        gamma = 1.0 / spread if spread > 0 else 0.0
        present = [int(label) for label in np.flatnonzero(prior)]
        pairs = list(combinations(present, 2)) if gamma else []
        machines = tuple(
            (*pair, *solve_by_libsvm(cells.only(pair), gamma, penalty)) for pair in pairs
        )
        return cls(classes=classes, gamma=gamma, machines=machines, prior=prior / prior.sum())

    def predict(self, features: Floats) -> Ints:
        """Return the class with the most votes; the commoner one wins a tie."""
        votes = np.tile(self.prior / 2, (len(features), 1))
        for first, second, places, amounts, constant in self.machines:
            wins = self._decide(features, places, amounts, constant) > 0
            votes[:, second] += wins
            votes[:, first] += ~wins
        return np.asarray(votes.argmax(axis=1))

    def _decide(self, features: Floats, places: Floats, amounts: Floats, constant: float) -> Floats:
        decided = np.empty(len(features))
        for start in range(0, len(features), _CHUNK):
            rows = slice(start, start + _CHUNK)
            apart = cdist(features[rows], places, "sqeuclidean")
            decided[rows] = np.exp(-self.gamma * apart) @ amounts + constant
        return decided


def solve_by_libsvm(cells: WeightedCells, gamma: float, penalty: float) -> Machine:
    """Solve for two classes by libsvm, whose steps grow with the weights."""
    from sklearn.svm import SVC  # noqa: PLC0415  the same

    machine = SVC(C=penalty, gamma=gamma, cache_size=500)
    machine.fit(cells.features, cells.labels, sample_weight=cells.weights)
    return machine.support_vectors_, machine.dual_coef_[0], float(machine.intercept_[0])
