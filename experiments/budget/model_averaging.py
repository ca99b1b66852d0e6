"""Model reversal and model averaging, after Qin and Bai (JMLR 2026).

From the paper's abstract: weak classifiers are trained on noised records; noised binary feedback
says how good each is; those that are worse than a coin are reversed; all are averaged with weights
that grow with the utility found. The details are our reading, not the authors' text:

- a weak classifier knows a few attributes, drawn at random and published. Its owners report which
  side of the middle each is on, with the label, as one symbol by randomized response. With the
  budget split over attributes and label, accuracies on WDBC were lower by .02 to .2;
- the weak classifier is linear: least squares on the noised records, both labels weighed alike;
- half of the owners train, the other half evaluate: one classifier each, one bit each;
- the weight is log(r / (1 - r)) of the estimated accuracy r, negative where the classifier is
  reversed, and 0 where r is within a quarter of a standard error of one half;
- with more than two labels there is one problem for each against the rest, every owner takes part
  in one of them, reversal is per classifier, and the label of the highest averaged score is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from experiments.budget.data import features, label_count, widths
from numpy.typing import NDArray

from supm import RandomSource
from supm._validation import Integers
from supm.mechanisms import GeneralizedRandomizedResponse, JointReport
from supm.schema import Records, Schema

__all__ = ["AveragedModel", "ModelAveraging", "feedback", "question"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_MOST_ATTRIBUTES: Final = 8
_MOST_MODELS: Final = 100
_LEAST_MODELS: Final = 5
_CUTOFF: Final = 0.25
_RIDGE: Final = 0.1


def question(*, attributes: int, epsilon: float) -> JointReport:
    """Return what randomises a training record: sides of a few attributes, and the label.

    As many attributes are asked for as leave at most e^epsilon cells, from 1 to 8.

    Examples
    --------
    >>> question(attributes=30, epsilon=4.0).sizes
    (2, 2, 2, 2, 2)
    """
    allowed = math.floor(epsilon / math.log(2)) - 1
    sizes = (2,) * (1 + min(attributes, _MOST_ATTRIBUTES, max(1, allowed)))
    randomizer = GeneralizedRandomizedResponse.for_epsilon(size=2 ** len(sizes), epsilon=epsilon)
    return JointReport(sizes=sizes, randomizer=randomizer)


def feedback(*, epsilon: float) -> GeneralizedRandomizedResponse:
    """Return what randomises an evaluation: 1 if the classifier was right, else 0.

    Examples
    --------
    >>> feedback(epsilon=2.0).size
    2
    """
    return GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragedModel:
    """What the aggregator publishes: the weighted sum of its weak classifiers, which is linear.

    Parameters
    ----------
    weights : ndarray of float, shape (problems, columns + 1)
        For each problem, what each side of a column and the constant add to its score.
    """

    weights: Floats

    def predict(self, records: Records) -> NDArray[np.int64]:
        """Return the label with the highest score."""
        scores = _signs(features(records)) @ self.weights.T
        if len(self.weights) == 1:
            return np.asarray(scores[:, 0] > 0, dtype=np.int64)
        return np.asarray(scores.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class ModelAveraging:
    """Weak classifiers of noised records, reversed and averaged by noised feedback.

    Parameters
    ----------
    people : int, default 30
        How many owners there are for one weak classifier, half to train and half to evaluate it.
        There are 5 to 100 classifiers for a problem all the same.

    Notes
    -----
    **Guarantee.** epsilon-LDP for a training record: its owner trains or evaluates, once, with the
    whole budget. Which of the two, and which classifier, does not depend on the record.

    References
    ----------
    C. Qin, Y. Bai, Classification under local differential privacy with model reversal and model
    averaging, JMLR 27(5) (2026).

    Examples
    --------
    >>> from supm import simulation
    >>> from experiments.budget.data import load
    >>> schema, records = load("wine")
    >>> ModelAveraging().fit(schema, records, 8.0, simulation(1)).weights.shape
    (3, 14)
    """

    people: int = 30

    def __post_init__(self) -> None:
        Integers("people", 2, 1 << 20).check(self.people)

    @property
    def name(self) -> str:
        """What tables call it."""
        return "model averaging"

    def fit(
        self, schema: Schema, records: Records, epsilon: float, source: RandomSource
    ) -> AveragedModel:
        """Ask every owner once, to train or to evaluate, and publish the averages."""
        table = _signs(features(records))
        labels, count = np.asarray(records.target), label_count(schema)
        wanted = (1,) if count == 2 else tuple(range(count))
        teams = np.array_split(source.permutation(records.rows), len(wanted))
        ensemble = _Ensemble(
            asked=question(attributes=len(schema.attributes), epsilon=epsilon),
            told=feedback(epsilon=epsilon),
            widths=widths(schema.attributes),
        )
        sums = [
            ensemble.average(table[team], labels[team] == label, self._models(len(team)), source)
            for label, team in zip(wanted, teams, strict=True)
        ]
        return AveragedModel(weights=np.array(sums))

    def _models(self, people: int) -> int:
        return max(1, min(_MOST_MODELS, max(_LEAST_MODELS, people // self.people), people // 2))


@dataclass(frozen=True, kw_only=True)
class _Ensemble:
    """How the classifiers of one problem come about.

    Parameters
    ----------
    asked : JointReport
        What a training record is randomised by.
    told : GeneralizedRandomizedResponse
        What an evaluation is randomised by.
    widths : tuple of int
        Columns of each attribute.
    """

    asked: JointReport
    told: GeneralizedRandomizedResponse
    widths: tuple[int, ...]

    def average(
        self, table: Floats, positive: NDArray[np.bool_], models: int, source: RandomSource
    ) -> Floats:
        """Return the weighted sum of the classifiers, the owners being in random order already."""
        groups = np.array_split(np.arange(len(table)), 2 * models)
        total = np.zeros(table.shape[1])
        for trainers, judges in zip(groups[:models], groups[models:], strict=True):
            classifier = self._train(table[trainers], positive[trainers], source)
            right = (table[judges] @ classifier > 0) == positive[judges]
            total += self._weight(right, source) * classifier
        return total

    def _train(self, table: Floats, positive: NDArray[np.bool_], source: RandomSource) -> Floats:
        """Return a linear classifier of length 1 on columns that are drawn at random."""
        columns = self._columns(source)
        held = np.column_stack((table[:, columns] > 0, positive)).astype(np.int64)
        told = self.asked.records(self.asked.randomize(held, source).symbols)
        classifier = np.zeros(table.shape[1])
        classifier[[*columns, -1]] = _least_squares(np.where(told > 0, 1.0, -1.0))
        length = float(np.linalg.norm(classifier))
        return classifier / length if length else classifier

    def _columns(self, source: RandomSource) -> Rows:
        """Draw distinct attributes and one column of each."""
        starts = np.cumsum((0, *self.widths))
        drawn = source.permutation(len(self.widths))[: len(self.asked.sizes) - 1]
        inside = [int(source.below(self.widths[place], 1)[0]) for place in drawn]
        return np.asarray(starts[drawn] + inside, dtype=np.int64)

    def _weight(self, right: NDArray[np.bool_], source: RandomSource) -> float:
        """Return the log-odds of the accuracy, negative to reverse, 0 near one half."""
        reports = self.told.randomize(right.astype(np.int64), source)
        share = float(np.clip(self.told.estimate(self.told.tally(reports)).values[1], 0.0, 1.0))
        people = len(right)
        accuracy = (share * people + 1.0) / (people + 2.0)
        error = math.sqrt(self.told.variance(0.5, people) + 0.25 / people)
        if abs(accuracy - 0.5) < _CUTOFF * error:
            return 0.0
        return math.log(accuracy / (1.0 - accuracy))


def _least_squares(told: Floats) -> Floats:
    """Fit the last column by the others and a constant, both of its values weighed alike."""
    places, signs = np.column_stack((told[:, :-1], np.ones(len(told)))), told[:, -1]
    ups = float((signs > 0).mean())
    amounts = np.where(signs > 0, 0.5 / max(ups, 1e-9), 0.5 / max(1.0 - ups, 1e-9))
    weighted = places * amounts[:, np.newaxis]
    ridge = np.full(places.shape[1], max(1.0, _RIDGE * len(told)))
    ridge[-1] = 1e-3
    return np.asarray(np.linalg.solve(weighted.T @ places + np.diag(ridge), weighted.T @ signs))


def _signs(table: Floats) -> Floats:
    """Return the side of the middle that each number is on, and a constant."""
    return np.column_stack((np.where(table > 0, 1.0, -1.0), np.ones(len(table))))
