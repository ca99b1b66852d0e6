"""What the same learner makes of the data as they are: the line that no privacy can pass."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.learning import Learner, WeightedCells, folds, score
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema

__all__ = ["Baseline", "without_privacy"]

# A kernel machine on raw records grows with the square of people, so it gets no more than these.
_MOST_PEOPLE: Final = 10_000
_REPEATED: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Accuracy without privacy.

    Parameters
    ----------
    accuracy : float
        Mean over the repetitions.
    people : int
        Of so many people, drawn at random where there are more.
    repeats : int
        How often the folds were drawn anew.
    """

    accuracy: float
    people: int
    repeats: int


def without_privacy(
    schema: Schema,
    records: Records,
    learner: Learner,
    source: RandomSource,
    *,
    split: int,
    repeats: int,
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
        Number of repetitions; one is enough where there are many people.

    Returns
    -------
    Baseline
    """
    drawn = source.child("people").permutation(records.rows)[:_MOST_PEOPLE]
    features = np.column_stack(
        [_features(each, records.columns[each.name][drawn]) for each in schema.attributes]
    )
    labels = np.asarray(records.target, dtype=np.int64)[drawn]
    count = repeats if len(drawn) <= _REPEATED else 1
    found = []
    for number in range(count):
        parts = folds(len(drawn), split, source.child(f"raw {number}"))
        found.append(_accuracy(features, labels, parts, learner))
    return Baseline(accuracy=statistics.fmean(found), people=len(drawn), repeats=count)


def _accuracy(
    features: NDArray[np.float64],
    labels: NDArray[np.int64],
    parts: tuple[NDArray[np.int64], ...],
    learner: Learner,
) -> float:
    predicted = np.empty_like(labels)
    classes = int(labels.max()) + 1
    for part in parts:
        others = np.setdiff1d(np.concatenate(parts), part)
        cells = WeightedCells(
            features=features[others], labels=labels[others], weights=np.ones(len(others))
        )
        predicted[part] = learner.fit(cells, classes=classes).predict(features[part])
    return score(labels, predicted).accuracy


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
