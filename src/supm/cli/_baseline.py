"""What the same learner makes of the data as they are: the line that no privacy can pass."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.learning import Learner, WeightedCells, folds, score
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema

__all__ = ["Baseline", "repetitions", "without_privacy"]

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

    Returns
    -------
    Baseline
    """
    drawn = source.child("people").permutation(records.rows)[:_MOST_PEOPLE]
    features = np.column_stack(
        [_features(each, records.columns[each.name][drawn]) for each in schema.attributes]
    )
    labels = np.asarray(records.target, dtype=np.int64)[drawn]
    found = []
    for number in range(repeats):
        parts = folds(len(drawn), split, source.child(f"raw {number}"))
        predicted = np.empty_like(labels)
        for part in parts:
            others = np.setdiff1d(np.concatenate(parts), part)
            predicted[part] = _trained(features, labels, others, learner)(features[part])
            progress()
        found.append(score(labels, predicted).accuracy)
    return Baseline(accuracy=statistics.fmean(found), people=len(drawn), repeats=repeats)


def _trained(
    features: NDArray[np.float64],
    labels: NDArray[np.int64],
    rows: NDArray[np.int64],
    learner: Learner,
) -> Callable[[NDArray[np.float64]], NDArray[np.int64]]:
    """Train on some rows, and return what predicts."""
    cells = WeightedCells(features=features[rows], labels=labels[rows], weights=np.ones(len(rows)))
    return learner.fit(cells, classes=int(labels.max()) + 1).predict


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
