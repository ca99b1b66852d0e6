"""What trains on weighted cells: the papers' machine, or any classifier of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from supm._errors import ParameterError
from supm._validation import Reals
from supm.learning.cells import WeightedCells

Machine: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], float]
"""Places, the weight of each, and the constant of a decision between two classes."""

_PENALTY = Reals("penalty", 1e-6, 1e9)
_CHUNK = 4_096


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

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
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
    machines: tuple[tuple[int, int, NDArray[np.float64], NDArray[np.float64], float], ...]
    prior: NDArray[np.float64]

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

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class with the most votes; the commoner one wins a tie."""
        votes = np.tile(self.prior / 2, (len(features), 1))
        for first, second, places, amounts, constant in self.machines:
            wins = self._decide(features, places, amounts, constant) > 0
            votes[:, second] += wins
            votes[:, first] += ~wins
        return np.asarray(votes.argmax(axis=1))

    def _decide(
        self,
        features: NDArray[np.float64],
        places: NDArray[np.float64],
        amounts: NDArray[np.float64],
        constant: float,
    ) -> NDArray[np.float64]:
        decided = np.empty(len(features))
        for start in range(0, len(features), _CHUNK):
            rows = slice(start, start + _CHUNK)
            decided[rows] = _kernel(features[rows], places, self.gamma) @ amounts + constant
        return decided


def solve_by_libsvm(cells: WeightedCells, gamma: float, penalty: float) -> Machine:
    """Solve for two classes by libsvm, whose steps grow with the weights."""
    from sklearn.svm import SVC  # noqa: PLC0415  the same

    machine = SVC(C=penalty, gamma=gamma, cache_size=500)
    machine.fit(cells.features, cells.labels, sample_weight=cells.weights)
    return machine.support_vectors_, machine.dual_coef_[0], float(machine.intercept_[0])


def _kernel(
    left: NDArray[np.float64], right: NDArray[np.float64], gamma: float
) -> NDArray[np.float64]:
    distances: NDArray[np.float64] = cdist(left, right, "sqeuclidean")
    return np.exp(-gamma * distances)
