"""What the paper compares with, and the constants that it does not show."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from experiments.copula.histograms import histogram_answers
from experiments.copula.learners import learn
from experiments.copula.made_up import uniform
from experiments.copula.noising import Fold
from numpy.typing import NDArray
from scipy import special

__all__ = ["BASELINES", "augmented", "plain_copula"]

Floats = NDArray[np.float64]
# The paper does not say what its augmentation does; copies with a small shake are the usual way.
_COPIES: Final = 5
_SHAKE: Final = 0.05
_LEAF: Final = 0.05


def _constant(fold: Fold, _samples: int) -> Floats:
    return np.full(len(fold.test), fold.clean[:, -1].mean())


def _middle(fold: Fold, _samples: int) -> Floats:
    return np.full(len(fold.test), 0.5)


def _noisy_constant(fold: Fold, _samples: int) -> Floats:
    return np.full(len(fold.test), np.clip(fold.noisy[:, -1].mean(), 0.0, 1.0))


def _tree_on(rows: Floats, fold: Fold) -> Floats:
    return learn("tree", rows, fold.inputs)


def _noisy(fold: Fold, _samples: int) -> Floats:
    return _tree_on(fold.noisy, fold)


def _noisy_with_large_leaves(fold: Fold, _samples: int) -> Floats:
    return learn("tree", fold.noisy, fold.inputs, leaf=math.ceil(_LEAF * len(fold.noisy)))


def _augmented(fold: Fold, _samples: int) -> Floats:
    return _tree_on(augmented(fold), fold)


def augmented(fold: Fold) -> Floats:
    """Return copies of the noisy records, shaken a little."""
    rows = np.tile(fold.noisy, (_COPIES, 1))
    shakes = special.ndtri(uniform(rows.shape, fold.source.child("augmentation")))
    return np.asarray(rows + _SHAKE * fold.noisy.std(axis=0) * shakes)


def _plain(fold: Fold, samples: int) -> Floats:
    return _tree_on(plain_copula(fold, samples), fold)


def plain_copula(fold: Fold, samples: int) -> Floats:
    """Return samples of a Gaussian copula of the noisy records as if they had no noise."""
    spreads = fold.noisy.std(axis=0)
    correlation = np.cov(fold.noisy.T, ddof=0) / np.outer(spreads, spreads)
    root = np.linalg.cholesky(correlation + 1e-9 * np.eye(len(correlation)))
    draws = special.ndtri(uniform((samples, len(root)), fold.source.child("plain copula")))
    levels = special.ndtr(draws @ root.T)
    columns = zip(fold.noisy.T, levels.T, strict=True)
    return np.column_stack([np.quantile(column, level) for column, level in columns])


BASELINES: Final[dict[str, Callable[[Fold, int], Floats]]] = {
    "constant": _constant,
    "middle": _middle,
    "noisy constant": _noisy_constant,
    "noisy data": _noisy,
    "noisy data, leaf 5 %": _noisy_with_large_leaves,
    "augmentation": _augmented,
    "plain copula": _plain,
    "IDUE(R)": lambda fold, _: histogram_answers(fold, "R"),
    "IDUE(O)": lambda fold, _: histogram_answers(fold, "O"),
}
