"""The papers' classifier: a support vector machine with a radial kernel, on weighted cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from supm._validation import Reals
from supm.learning.cells import WeightedCells

Machine: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], float]
"""Places, the weight of each, and the constant of a decision between two classes."""

_PENALTY = Reals("penalty", 1e-6, 1e9)
_CHUNK = 4_096


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
        winners: NDArray[np.int64] = votes.argmax(axis=1)
        return winners

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
    machine = SVC(C=penalty, gamma=gamma, cache_size=500)
    machine.fit(cells.features, cells.labels, sample_weight=cells.weights)
    return machine.support_vectors_, machine.dual_coef_[0], float(machine.intercept_[0])


def _kernel(
    left: NDArray[np.float64], right: NDArray[np.float64], gamma: float
) -> NDArray[np.float64]:
    distances: NDArray[np.float64] = cdist(left, right, "sqeuclidean")
    return np.exp(-gamma * distances)
