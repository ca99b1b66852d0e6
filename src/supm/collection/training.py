"""The train phase: from counts of reports to a classifier, whatever the form of the reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from supm._errors import ParameterError
from supm._validation import Reals, suggestion
from supm.collection.cards import Card, label_card, moments_of, number_card
from supm.collection.counting import Counts, RowCounts
from supm.collection.features import Floats, Ints, class_features, label_numbers, number_features
from supm.collection.spending import make_statement
from supm.learning import Learner, Predictor, WeightedCells
from supm.mechanisms import Tally, record_numbers
from supm.messages import CellAnswers, Model, Rule, Study
from supm.messages.rules import CELLS
from supm.owner import JointInterview, SampledInterview, SeparateInterview, interview
from supm.schema import Continuous, Schema

_WEIGHT: Final = Reals("a label's weight", 1e-6, 1e6)


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """A trained model with what is known about the people it was trained on.

    Parameters
    ----------
    study : Study
        The reduced study.
    predictor : Predictor or Card
        What turns features into label numbers, or a scorecard with its statistics.
    weights : ndarray
        How much each label counts.
    simulation : bool
        Whether any report came from a seed.
    cells : ndarray of float, optional
        The estimated share of people in each cell (row) with each label (column), where reports
        told cells.
    """

    study: Study
    predictor: Predictor | Card
    weights: Floats
    simulation: bool
    cells: Floats | None = None

    def form(self, phase: str) -> str | None:
        """Return what leaves an owner in a phase; None where nothing does."""
        question = self.study.question(phase)
        return None if question is None else question.form

    @cached_property
    def rule(self) -> Rule:
        """What may be published: the card, or the label of each cell."""
        if isinstance(self.predictor, Card):
            return self.predictor.rule
        CELLS.check(math.prod(each.size for each in self.study.discretizers("train")))
        return CellAnswers(answers=self.predictor.predict(places(self.study)))

    @cached_property
    def answers(self) -> Floats | None:
        """How often each label (column) gets each answer (row), where that can be estimated."""
        if isinstance(self.predictor, Card):
            return self.predictor.answers
        if self.cells is None:
            return None
        found = np.zeros((self.study.labels, self.study.labels))
        np.add.at(found, self.predictor.predict(places(self.study)), self.cells)
        return found


def train(
    study: Study, counts: Counts, learner: Learner, *, weights: Sequence[float] | str | None = None
) -> Trained:
    """Train on what the reports of the train phase add up to.

    Parameters
    ----------
    study : Study
        The reduced study.
    counts : Tally or RowCounts
        Made by `count`, or a sum of such. The cost of training depends on the number of cells and
        not on the number of people.
    learner : Learner
        What trains on weighted cells. Where each report told a few attributes there are no cells,
        and a scorecard is made instead.
    weights : "balanced" or sequence of float, optional
        How much each label counts; all alike by default. "balanced" makes rare labels count as much
        as common ones, by their estimated shares.

    Returns
    -------
    Trained

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import count, plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> from supm.learning import RadialSVM
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0)
    >>> asked = interview(study, "train")
    >>> reports = asked.randomize(asked.encode(wdbc.records()), simulation(1))
    >>> train(study, count(asked, reports), RadialSVM()).rule
    Scorecard(attributes=30, outputs=2)
    """
    if not counts.reports:
        raise ParameterError("counts", "of at least one report", 0, "Collect reports first.")
    asked = interview(study, "train")
    if isinstance(asked, SampledInterview):
        return _from_moments(study, asked, counts, weights)
    if isinstance(counts, RowCounts):
        cells, shares = _from_rows(study, asked, counts), None
    else:
        table = _table(asked, counts, study.labels)
        held = np.flatnonzero(table.any(axis=1))
        cells = WeightedCells.from_counts(places(study, held), table[held])
        shares = table / table.sum()
    told = np.bincount(cells.labels, weights=cells.weights, minlength=study.labels)
    counted = label_weights(study, weights, told / told.sum())
    weighted = replace(cells, weights=cells.weights * counted[cells.labels])
    return Trained(
        study=study,
        predictor=learner.fit(weighted, classes=study.labels),
        weights=counted,
        cells=shares,
        simulation=counts.simulation,
    )


def _from_moments(
    study: Study, asked: SampledInterview, counts: Counts, weights: Sequence[float] | str | None
) -> Trained:
    moments = moments_of(asked, counts)
    counted = label_weights(study, weights, moments.shares)
    card = number_card(moments) if study.numeric else label_card(moments, counted)
    return Trained(study=study, predictor=card, weights=counted, simulation=counts.simulation)


def weights_in_order(
    weights: Mapping[str, float] | Sequence[float] | str | None, schema: Schema
) -> Sequence[float] | str | None:
    """Return weights in the order of the labels; 1 for those that are not named."""
    if weights is None:
        return None
    if isinstance(schema.target, Continuous):
        raise ParameterError("weights", "left out where the target is a number", "weights")
    if isinstance(weights, str) or not isinstance(weights, Mapping):
        return weights
    labels = [str(value) for value in schema.target.values]
    for name in weights:
        if name not in labels:
            hint = suggestion(name, labels)
            raise ParameterError("weights", "about classes of the target", name, hint)
    return tuple(weights.get(label, 1.0) for label in labels)


def label_weights(study: Study, weights: Sequence[float] | str | None, shares: Floats) -> Floats:
    """Return how much each label counts, one on average."""
    labels = study.labels
    if weights is None:
        return np.ones(labels)
    if study.numeric:
        raise ParameterError("weights", "left out where the target is a number", "weights")
    if isinstance(weights, str):
        if weights != "balanced":
            raise ParameterError("weights", "balanced, or a number for each label", weights)
        counted = 1.0 / np.maximum(shares, 1e-3)
    else:
        if not isinstance(weights, Sequence | np.ndarray):
            raise ParameterError("weights", "balanced, or a number for each label", type(weights))
        counted = np.array([_WEIGHT.check(each) for each in weights])
        if counted.size != labels:
            raise ParameterError("weights", f"{labels} numbers, one for each label", counted.size)
    return np.asarray(counted / counted.mean())


def make_model(trained: Trained) -> Model:
    """Return the model as plain numbers, with its statement.

    Parameters
    ----------
    trained : Trained
        What `train` returned; its cells are at most 2^20.

    Returns
    -------
    Model
    """
    return Model(
        study=trained.study,
        rule=trained.rule,
        statement=make_statement(trained.study, simulation=trained.simulation),
    )


def places(study: Study, numbers: Ints | None = None) -> Floats:
    """Return the features of cells of the chosen attributes: of those numbers, or of all."""
    discretizers = study.discretizers("train")
    sizes = tuple(each.size for each in discretizers)
    if numbers is None:
        numbers = np.arange(math.prod(sizes), dtype=np.int64)
    return class_features(record_numbers(numbers, sizes), discretizers)


def _table(asked: object, counts: Tally, labels: int) -> Floats:
    """Return the weight of each cell and label; joint reports are debiased first."""
    if not isinstance(asked, JointInterview):
        return _checked(asked, counts, labels)
    shares = _on_simplex(asked.randomizer.estimate(counts).values)
    return (shares * counts.reports).reshape(-1, labels)


def _checked(asked: object, counts: Tally, labels: int) -> Floats:
    columns = asked.columns if isinstance(asked, SeparateInterview) else ()
    cells = math.prod(column.randomizer.outcomes for column in columns)
    if counts.counts.shape != (cells, labels):
        raise ParameterError("counts", "those of the train phase", counts.counts.shape)
    return counts.counts.astype(np.float64)


def _from_rows(study: Study, asked: object, counts: RowCounts) -> WeightedCells:
    if not isinstance(asked, SeparateInterview) or counts.rows.shape[1] != asked.width:
        raise ParameterError("counts", "those of the train phase", type(counts).__name__)
    told, label = counts.rows[:, :-1], label_numbers(counts.rows[:, -1], asked.label)
    question = study.question("train")
    if question is not None and question.form in ("pw", "raw"):
        features = number_features(told, asked.columns)
    else:
        features = class_features(told, study.discretizers("train"))
    return WeightedCells(features=features, labels=label, weights=counts.counts.astype(np.float64))


def _on_simplex(shares: Floats) -> Floats:
    """Return the nearest shares that are not negative and add up to 1."""
    falling = np.sort(shares)[::-1]
    above = (np.cumsum(falling) - 1.0) / np.arange(1, shares.size + 1)
    shift = above[np.flatnonzero(falling > above)[-1]]
    return np.asarray(np.maximum(shares - shift, 0.0))
