"""The academic baselines and how they are measured: on the device, by cross-validation."""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from experiments.budget.data import take
from experiments.budget.gradient_svm import GradientSVM
from experiments.budget.model_averaging import ModelAveraging
from experiments.budget.naive_bayes import NaiveBayes
from numpy.typing import NDArray

from supm import RandomSource
from supm.learning import Scores, score
from supm.learning import folds as split
from supm.schema import Records, Schema

__all__ = ["BASELINES", "Baseline", "Model", "on_device_accuracy"]


class Model(Protocol):
    """What a baseline publishes; owners apply it to their own records."""

    def predict(self, records: Records) -> NDArray[np.int64]:
        """Return a label number for each record."""
        ...


class Baseline(Protocol):
    """A method that trains on one report of each owner, with the whole budget."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def fit(self, schema: Schema, records: Records, epsilon: float, source: RandomSource) -> Model:
        """Ask every owner once and publish a model."""
        ...


BASELINES: Final[tuple[Baseline, ...]] = (NaiveBayes(), ModelAveraging(), GradientSVM())
"""The three methods of the papers, with the settings that did best over the six data sets."""


def on_device_accuracy(
    baseline: Baseline,
    schema: Schema,
    records: Records,
    epsilon: float,
    *,
    folds: int,
    source: RandomSource,
) -> Scores:
    """Return the scores of one repetition of cross-validation.

    Parameters
    ----------
    baseline : Baseline
        The method.
    schema : Schema
        What is public about the records.
    records : Records
        Everybody's records, with labels.
    epsilon : float
        What each owner's one report may cost.
    folds : int
        How many folds; each is tested on the model of the others.
    source : RandomSource
        Where folds and noise come from.

    Returns
    -------
    Scores
        Test records are not randomised: each owner applies the published model at home.

    Examples
    --------
    >>> from supm import simulation
    >>> from experiments.budget.data import load
    >>> schema, records = load("wine")
    >>> found = on_device_accuracy(
    ...     NaiveBayes(), schema, records, 8.0, folds=10, source=simulation(1)
    ... )
    >>> found.accuracy > found.majority
    True
    """
    parts = split(records.rows, folds, source.child("folds"))
    told = np.zeros(records.rows, dtype=np.int64)
    for place, part in enumerate(parts):
        others = np.concatenate([each for other, each in enumerate(parts) if other != place])
        noise = source.child(f"{baseline.name} {epsilon} {place}")
        model = baseline.fit(schema, take(records, others), epsilon, noise)
        told[part] = model.predict(take(records, part))
    return score(np.asarray(records.target), told)
