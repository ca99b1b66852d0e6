"""The four learners of scikit-learn, with its defaults."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

__all__ = ["learn"]

Floats = NDArray[np.float64]
_MAKERS: Final[dict[str, Callable[[int], Any]]] = {
    "tree": lambda leaf: DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0),
    "kNN": lambda _: KNeighborsRegressor(),
    "SVM": lambda _: SVR(),
    "NN": lambda _: MLPRegressor(random_state=0),
}


def learn(name: str, rows: Floats, inputs: Floats, leaf: int = 1) -> Floats:
    """Learn the last column of rows from the others; return answers to inputs.

    Parameters
    ----------
    name : str
        The learner.
    rows, inputs : ndarray
        What it learns from, and what it is asked.
    leaf : int
        The least number of rows in a leaf of a tree.

    Returns
    -------
    ndarray of float
        One answer for each input.
    """
    model = _MAKERS[name](leaf)
    with warnings.catch_warnings():
        # The network often stops before it has converged: its defaults are kept all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows[:, :-1], rows[:, -1])
    return np.asarray(model.predict(inputs), dtype=np.float64)
