"""Five folds of a repetition: learn from noisy records, test on clean ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from experiments.noise_aware.tables import Floats
from numpy.typing import NDArray

from supm import simulation
from supm.estimators import NoiseAwareClassifier, NoiseAwareRegressor
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse

__all__ = ["Outcome", "measure", "measure_classes"]

Places = NDArray[np.int64]
_FOLDS: Final = 5
_LEVEL: Final = 0.9


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Mean squared errors on clean records, and how many of the intervals held.

    Parameters
    ----------
    constant : float
        Of the mean of the clean training target, which the holder of an archive does not have.
    noisy : float
        Of the mean of the noisy training target, cut to the bounds.
    alone : float
        Of the model's own mean, without its columns.
    model : float
        Of the model.
    held : float
        Share of clean targets within the 90 % interval.
    """

    constant: float
    noisy: float
    alone: float
    model: float
    held: float


def measure(table: Floats, epsilon: float, repetitions: int) -> Outcome:
    """Return means over repetitions and folds.

    Parameters
    ----------
    table : ndarray of float
        Clean records in [0, 1], the target last.
    epsilon : float
        Of each attribute; its Laplace noise has the scale 1 / epsilon.
    repetitions : int
        Each with noise and folds of its own.

    Returns
    -------
    Outcome
    """
    found = [each for seed in range(repetitions) for each in _folds(table, epsilon, seed)]
    means = np.mean(found, axis=0)
    return Outcome(
        constant=float(means[0]),
        noisy=float(means[1]),
        alone=float(means[2]),
        model=float(means[3]),
        held=float(means[4]),
    )


def measure_classes(table: Floats, epsilon: float, repetitions: int) -> tuple[float, float]:
    """Return the accuracy on clean records of the majority and of the classifier.

    Parameters
    ----------
    table : ndarray of float
        Clean records in [0, 1], the label, 0 or 1, last.
    epsilon : float
        Of each attribute, and of the randomized response of the label.
    repetitions : int
        Each with noise and folds of its own.

    Returns
    -------
    tuple of float
        The majority is that of the clean training labels, which the holder of an archive has not.
    """
    label = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=epsilon)
    found = []
    for seed in range(repetitions):
        noisy, parts = _noised(table, epsilon, seed)
        noisy[:, -1] = label.randomize(
            table[:, -1].astype(int), simulation(seed).child("labels")
        ).symbols
        found += [_right(table, noisy, np.setdiff1d(*each), each[1], epsilon) for each in parts]
    majority, model = np.mean(found, axis=0)
    return float(majority), float(model)


def _noised(table: Floats, epsilon: float, seed: int) -> tuple[Floats, list[tuple[Places, Places]]]:
    """Return the noised table, and all places beside those of each fold."""
    source = simulation(seed)
    law = ContinuousLaplace.for_epsilon(low=0.0, high=1.0, epsilon=epsilon)
    noisy = law.randomize(table.ravel(), source.child("noise")).reshape(table.shape)
    order = source.child("folds").permutation(len(table))
    return noisy, [(order, part) for part in np.array_split(order, _FOLDS)]


def _folds(table: Floats, epsilon: float, seed: int) -> list[tuple[float, ...]]:
    noisy, parts = _noised(table, epsilon, seed)
    return [_fold(table, noisy, np.setdiff1d(*each), each[1], epsilon) for each in parts]


def _right(
    table: Floats, noisy: Floats, kept: Places, tested: Places, epsilon: float
) -> tuple[float, float]:
    model = NoiseAwareClassifier(epsilon=epsilon, bounds=(0.0, 1.0), label_epsilon=epsilon)
    model.fit(noisy[kept, :-1], noisy[kept, -1].astype(int))
    rows, label = table[tested, :-1], table[tested, -1]
    majority = float(table[kept, -1].mean() > 1 / 2)
    return float(np.mean(label == majority)), float(np.mean(model.predict(rows) == label))


def _fold(
    table: Floats, noisy: Floats, kept: Places, tested: Places, epsilon: float
) -> tuple[float, ...]:
    model = NoiseAwareRegressor(epsilon=epsilon, bounds=(0.0, 1.0), target_bounds=(0.0, 1.0))
    model.fit(noisy[kept, :-1], noisy[kept, -1])
    rows, target = table[tested, :-1], table[tested, -1]
    low, high = model.predict_interval(rows, level=_LEVEL).T
    answers = (
        table[kept, -1].mean(),
        np.clip(noisy[kept, -1].mean(), 0.0, 1.0),
        model.model_.mean,
        model.predict(rows),
    )
    errors = [float(np.square(answer - target).mean()) for answer in answers]
    return (*errors, float(np.mean((low <= target) & (target <= high))))
