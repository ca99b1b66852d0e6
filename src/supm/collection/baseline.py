"""What the same learner makes of the data as they are: the line that no privacy can pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.learning import Learner, Metric, WeightedCells, average, folds, measure, score
from supm.owner.columns import labels_of, numbers_of
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema

# A kernel machine on raw records grows with the square of people, so it gets no more than these.
_MOST_PEOPLE: Final = 4_000
_REPEATED: Final = 2_000

_Predict: TypeAlias = Callable[[NDArray[np.float64]], NDArray[Any]]
_Fit: TypeAlias = Callable[[NDArray[np.float64], NDArray[Any]], _Predict]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What can be learned without privacy.

    Parameters
    ----------
    reached : Scores or Errors
        Means over the repetitions; errors of a straight line where the target is a number.
    people : int
        Of so many people, drawn at random where there are more.
    repeats : int
        How often the folds were drawn anew.
    """

    reached: Metric
    people: int
    repeats: int


def repetitions(rows: int, repeats: int) -> int:
    """Return how often the folds are drawn: once is enough where there are many people."""
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
    """Cross-validate on the raw records: a learner of labels, or least squares for a number."""
    truth: NDArray[Any]
    if schema.task == "continuous":
        rows, truth = np.arange(records.rows), numbers_of(records)
        fit: _Fit = _least_squares
        judge: Callable[..., Metric] = measure
    else:
        rows = source.child("people").permutation(records.rows)[:_MOST_PEOPLE]
        truth = labels_of(records)[rows]
        fit, judge = _fit_of(learner, weights, truth), score
    repeats, features = repetitions(records.rows, repeats), _matrix(schema, records, rows)
    found = []
    for number in range(repeats):
        parts = folds(len(rows), split, source.child(f"raw {number}"))
        found.append(judge(truth, _predicted(fit, features, truth, parts, progress)))
    return Baseline(reached=average(found), people=len(rows), repeats=repeats)


def _fit_of(learner: Learner, weights: NDArray[np.float64] | None, truth: NDArray[Any]) -> _Fit:
    counted = np.ones(int(truth.max()) + 1) if weights is None else weights

    def fit(features: NDArray[np.float64], labels: NDArray[np.int64]) -> _Predict:
        cells = WeightedCells(features=features, labels=labels, weights=counted[labels])
        return learner.fit(cells, classes=len(counted)).predict

    return fit


def _predicted(
    fit: _Fit,
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
