"""Histograms of all attributes together, by unary encoding (the paper's IDUE with equal budgets).

Gu et al. (2020) give each category its own budget; where all are equal, as here, their mechanisms
are the symmetric ("R") and the optimised ("O") unary encoding. The paper speaks of "107"
categories for all attributes together, which we read as 10^7. The budget of a record is the same as
with the other methods: the number of attributes times epsilon.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from experiments.copula.made_up import uniform
from experiments.copula.noising import Fold
from numpy.typing import NDArray
from scipy import stats

from supm import RandomSource

__all__ = ["classes_for", "histogram_answers"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_CATEGORIES: Final = 1e7


def histogram_answers(fold: Fold, kind: str) -> Floats:
    """Return the middle of the target's commonest class among records like each test record."""
    attributes = fold.test.shape[1]
    classes = classes_for(attributes)
    keep, lie = _chances(attributes * fold.epsilon, kind)
    asked, inverse = np.unique(_cells(fold.inputs, classes), return_inverse=True)
    questions = (asked[:, None] * classes + np.arange(classes)).ravel()
    true = _counts(_cells(fold.clean, classes), questions)
    # Every bit is randomised by itself, so only the bits that somebody asks for have to be drawn.
    source = fold.source.child(f"histogram {kind}")
    told = _told(true, len(fold.clean), (keep, lie), source).reshape(len(asked), classes)
    return _commonest(told)[inverse]


def classes_for(attributes: int) -> int:
    """Return how many classes an attribute has, at least two."""
    return max(2, math.floor(math.pow(_CATEGORIES, 1 / attributes) + 1e-9))


def _commonest(told: Floats) -> Floats:
    """Return the middle of the commonest class, the mean of the middles where some are equal."""
    best = told == told.max(axis=1, keepdims=True)
    middles = (np.arange(told.shape[1]) + 0.5) / told.shape[1]
    return np.asarray((best @ middles) / best.sum(axis=1))


def _chances(epsilon: float, kind: str) -> tuple[float, float]:
    """Return the chances to report a one, of a bit that is one and of a bit that is zero."""
    if kind == "O":
        return 0.5, 1 / (1 + math.exp(min(epsilon, 700.0)))
    lie = 1 / (1 + math.exp(epsilon / 2))
    return 1 - lie, lie


def _cells(rows: Floats, classes: int) -> Integers:
    """Return one number for each row: its classes as digits."""
    digits = np.minimum((rows * classes).astype(np.int64), classes - 1)
    places = classes ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(digits @ places)


def _counts(cells: Integers, questions: Integers) -> Integers:
    known, counts = np.unique(cells, return_counts=True)
    place = np.minimum(np.searchsorted(known, questions), len(known) - 1)
    return np.where(known[place] == questions, counts[place], 0)


def _told(
    true: Integers, records: int, chances: tuple[float, float], source: RandomSource
) -> Floats:
    keep, lie = chances
    kept = stats.binom.ppf(uniform(true.shape, source), true, keep)
    lies = stats.binom.ppf(uniform(true.shape, source), records - true, lie)
    return np.asarray(kept + lies)
