"""What the figures compare with: no noise at all, and the piecewise mechanism on everything.

Readings of gamma = 1 / ((m - 1) Var(D)): the "largest" variance of an attribute, as the text says;
the variance of "overall" all entries of the table, as scikit-learn computes it by default; the
"mean" of the attributes' variances. Readings of PW: on "all" attributes and the label, which is the
only one that protects a record; on the "attributes" alone, with labels as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.supm.studies import Table
from numpy.typing import NDArray
from sklearn.svm import SVC

from supm import RandomSource
from supm.learning import AnyClassifier, Learner, Predictor, RadialSVM, Scores, WeightedCells, score
from supm.mechanisms import Piecewise
from supm.schema import Continuous

__all__ = ["MeanVarianceSVM", "clean_label_trial", "learner_of"]


@dataclass(frozen=True, kw_only=True)
class MeanVarianceSVM:
    """The papers' machine with gamma by the mean variance.

    Parameters
    ----------
    penalty : float
        The constant C.
    """

    penalty: float

    def fit(self, cells: WeightedCells, *, classes: int) -> Predictor:
        """Train by scikit-learn."""
        gamma = 1.0 / (cells.features.shape[1] * float(cells.variances.mean()))
        machine = AnyClassifier(estimator=SVC(C=self.penalty, gamma=gamma))
        return machine.fit(cells, classes=classes)


def learner_of(penalty: float, reading: str = "largest") -> Learner:
    """Return the machine with one reading of gamma."""
    if reading == "overall":
        return AnyClassifier(estimator=SVC(C=penalty, gamma="scale"))
    if reading == "mean":
        return MeanVarianceSVM(penalty=penalty)
    return RadialSVM(penalty=penalty)


def clean_label_trial(
    table: Table,
    epsilon: float,
    folds: tuple[NDArray[np.int64], ...],
    source: RandomSource,
    learner: Learner,
) -> Scores:
    """Randomise every attribute with an equal share, train on labels as they are."""
    held = scaled(table)
    noise = Piecewise.for_epsilon(low=-1, high=1, epsilon=epsilon / held.shape[1])
    told = noise.decode(noise.randomize(held.ravel(), source)).reshape(held.shape)
    found = [np.empty(0, dtype=np.int64)]
    for place, fold in enumerate(folds):
        rows = np.concatenate([other for each, other in enumerate(folds) if each != place])
        cells = WeightedCells(
            features=told[rows], labels=table.labels[rows], weights=np.ones(len(rows))
        )
        found.append(learner.fit(cells, classes=2).predict(told[fold]))
    return score(table.labels[np.concatenate(folds)], np.concatenate(found))


def scaled(table: Table) -> NDArray[np.float64]:
    """Return all attributes on [-1, 1]."""
    columns = []
    for attribute in table.schema.attributes:
        held = table.records.columns[attribute.name].astype(np.float64)
        low, high = 0.0, 1.0
        if isinstance(attribute, Continuous):
            low, high = attribute.low, attribute.high
        columns.append(2 * (held - low) / (high - low) - 1)
    return np.stack(columns, axis=1)
