"""What the same learner makes of the data as they are: the line that no privacy can pass."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.learning import Learner, WeightedCells, folds, score
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema

__all__ = [
    "Baseline",
    "NumberBaseline",
    "number_without_privacy",
    "repetitions",
    "without_privacy",
]

# A kernel machine on raw records grows with the square of people, so it gets no more than these.
_MOST_PEOPLE: Final = 4_000
_REPEATED: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What can be learned without privacy.

    Parameters
    ----------
    accuracy, balanced : float
        Mean over the repetitions; of the accuracy, and of its mean over the classes.
    people : int
        Of so many people, drawn at random where there are more.
    repeats : int
        How often the folds were drawn anew.
    """

    accuracy: float
    balanced: float
    people: int
    repeats: int


@dataclass(frozen=True, kw_only=True)
class NumberBaseline:
    """What a straight line learns without privacy, where the target is a number.

    Parameters
    ----------
    error : float
        Mean squared error, over the repetitions.
    people, repeats : int
        Of how many people, and how often the folds were drawn anew.
    """

    error: float
    people: int
    repeats: int


def repetitions(rows: int, repeats: int) -> int:
    """Return how often the folds are drawn: once is enough where there are many people.

    Parameters
    ----------
    rows : int
        How many people there are.
    repeats : int
        How often the study is simulated.

    Returns
    -------
    int
    """
    return repeats if rows <= _REPEATED else 1


def without_privacy(  # noqa: PLR0913  each is a choice of the user, given by name
    schema: Schema,
    records: Records,
    learner: Learner,
    source: RandomSource,
    *,
    split: int,
    repeats: int,
    progress: Callable[[], object],
    weights: NDArray[np.float64] | None = None,
) -> Baseline:
    """Cross-validate a learner on the raw records.

    Parameters
    ----------
    schema : Schema
        What the records are.
    records : Records
        Labelled records.
    learner : Learner
        What trains.
    source : RandomSource
        Where the folds come from.
    split : int
        Number of folds.
    repeats : int
        Number of repetitions, as `repetitions` gives it.
    progress : callable
        Called after each fold.
    weights : ndarray, optional
        How much each label counts; all alike by default.

    Returns
    -------
    Baseline
    """
    drawn = source.child("people").permutation(records.rows)[:_MOST_PEOPLE]
    labels = np.asarray(records.target, dtype=np.int64)[drawn]
    counted = np.ones(int(labels.max()) + 1) if weights is None else weights

    def fit(features: NDArray[np.float64], truth: NDArray[np.int64]) -> _Predict:
        cells = WeightedCells(features=features, labels=truth, weights=counted[truth])
        return learner.fit(cells, classes=len(counted)).predict

    found = []
    for number in range(repeats):
        parts = folds(len(drawn), split, source.child(f"raw {number}"))
        told = _predicted(fit, _matrix(schema, records, drawn), labels, parts, progress)
        found.append(score(labels, told))
    return Baseline(
        accuracy=statistics.fmean(each.accuracy for each in found),
        balanced=statistics.fmean(each.balanced_accuracy for each in found),
        people=len(drawn),
        repeats=repeats,
    )


def number_without_privacy(
    schema: Schema,
    records: Records,
    source: RandomSource,
    *,
    split: int,
    repeats: int,
    progress: Callable[[], object],
) -> NumberBaseline:
    """Cross-validate least squares on the raw records.

    Parameters
    ----------
    schema : Schema
        What the records are.
    records : Records
        Records with their targets.
    source : RandomSource
        Where the folds come from.
    split, repeats : int
        Number of folds, and of repetitions.
    progress : callable
        Called after each fold.

    Returns
    -------
    NumberBaseline
    """
    truth = np.asarray(records.target, dtype=np.float64)
    features = _matrix(schema, records, np.arange(records.rows))
    found = []
    for number in range(repeats):
        parts = folds(records.rows, split, source.child(f"raw {number}"))
        told = _predicted(_least_squares, features, truth, parts, progress)
        found.append(float(np.square(told - truth).mean()))
    return NumberBaseline(error=statistics.fmean(found), people=records.rows, repeats=repeats)


_Predict: TypeAlias = Callable[[NDArray[np.float64]], NDArray[Any]]


def _predicted(
    fit: Callable[[NDArray[np.float64], NDArray[Any]], _Predict],
    features: NDArray[np.float64],
    truth: NDArray[Any],
    parts: Sequence[NDArray[np.int64]],
    progress: Callable[[], object],
) -> NDArray[Any]:
    """Return what is predicted for each part by a fit to the others."""
    told = np.empty_like(truth)
    for part in parts:
        others = np.setdiff1d(np.concatenate(parts), part)
        told[part] = fit(features[others], truth[others])(features[part])
        progress()
    return told


def _least_squares(features: NDArray[np.float64], truth: NDArray[Any]) -> _Predict:
    centre = features.mean(axis=0)
    slopes = np.linalg.lstsq(features - centre, truth - truth.mean(), rcond=1e-8)[0]
    return lambda asked: truth.mean() + (asked - centre) @ slopes


def _matrix(schema: Schema, records: Records, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.column_stack(
        [_features(each, records.columns[each.name][rows]) for each in schema.attributes]
    )


def _features(attribute: Attribute, held: NDArray[Any]) -> NDArray[np.float64]:
    """Bring an attribute to [-1, 1], and one without order to one column for each value."""
    if isinstance(attribute, Categorical) and len(attribute.values) > 2:
        hot: NDArray[np.float64] = 2.0 * (held[:, np.newaxis] == np.arange(len(attribute.values)))
        return hot - 1.0
    if isinstance(attribute, Continuous):
        half = attribute.high / 2 - attribute.low / 2
        scaled = (held / 2 - attribute.low / 2) / half * 2 - 1
        known: NDArray[np.float64] = np.nan_to_num(scaled, nan=0.0)
        return known[:, np.newaxis]
    return _places(attribute, held)[:, np.newaxis]


def _places(attribute: Ordinal | Categorical, held: NDArray[Any]) -> NDArray[np.float64]:
    last = len(attribute.values) - 1
    return np.where(held <= last, 2.0 * held / last - 1.0, 0.0)
