"""The train phase: from counts of reports to a classifier, whatever the form of the reports."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.collection._features import class_features, label_numbers, number_features
from supm.collection.account import make_statement
from supm.collection.counting import Counts, RowCounts
from supm.collection.interviewing import interview, label_count
from supm.collection.joint import JointInterview
from supm.collection.separate import SeparateInterview
from supm.learning import Learner, Predictor, WeightedCells
from supm.mechanisms import Tally, record_numbers
from supm.messages import Model, Study
from supm.messages.model import CELLS

__all__ = ["Trained", "publish", "train"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """A trained classifier with what is known about the people it was trained on.

    Parameters
    ----------
    study : Study
        The reduced study.
    predictor : Predictor
        What turns features into label numbers.
    cells : ndarray of float, optional
        The estimated share of people in each cell, where reports told cells.
    simulation : bool
        Whether any report came from a seed.
    """

    study: Study
    predictor: Predictor
    cells: NDArray[np.float64] | None
    simulation: bool


def train(study: Study, counts: Counts, learner: Learner) -> Trained:
    """Train on what the reports of the train phase add up to.

    Parameters
    ----------
    study : Study
        The reduced study.
    counts : Tally or RowCounts
        Made by `count`, or a sum of such. The cost of training depends on the number of cells and
        not on the number of people.
    learner : Learner
        What trains on weighted cells.

    Returns
    -------
    Trained

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import count, interview, plan
    >>> from supm.datasets import load_wdbc
    >>> from supm.learning import RadialSVM
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0, mode="faithful", attributes=["worst radius"])
    >>> asked = interview(study, "train")
    >>> reports = asked.randomize(asked.encode(wdbc.records()), simulation(1))
    >>> trained = train(study, count(asked, reports), RadialSVM(penalty=2.1))
    >>> publish(trained).answers
    array([0, 1])
    """
    if not counts.reports:
        raise ParameterError("counts", "of at least one report", 0, "Collect reports first.")
    asked, labels = interview(study, "train"), label_count(study)
    shares = None
    if isinstance(counts, RowCounts):
        cells = _from_rows(study, asked, counts)
    else:
        table = _table(asked, counts, labels)
        held = np.flatnonzero(table.any(axis=1))
        cells = WeightedCells.from_counts(places(study, held), table[held])
        shares = table.sum(axis=1) / table.sum()
    predictor = learner.fit(cells, classes=labels)
    return Trained(study=study, predictor=predictor, cells=shares, simulation=counts.simulation)


def publish(trained: Trained) -> Model:
    """Return the model as a table of labels, with its statement.

    Parameters
    ----------
    trained : Trained
        What `train` returned; its cells are at most 2^20.

    Returns
    -------
    Model
    """
    sizes = [each.size for each in trained.study.discretizers("train")]
    CELLS.check(math.prod(sizes))
    return Model(
        study=trained.study,
        answers=trained.predictor.predict(places(trained.study)),
        statement=make_statement(trained.study, simulation=trained.simulation),
    )


def places(study: Study, numbers: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return the features of cells of the chosen attributes: of those numbers, or of all."""
    discretizers = study.discretizers("train")
    sizes = tuple(each.size for each in discretizers)
    if numbers is None:
        numbers = np.arange(math.prod(sizes), dtype=np.int64)
    return class_features(record_numbers(numbers, sizes), discretizers)


def _table(asked: object, counts: Tally, labels: int) -> NDArray[np.float64]:
    """Return the weight of each cell and label; joint reports are debiased first."""
    if not isinstance(asked, JointInterview):
        return _checked(asked, counts, labels)
    shares = _on_simplex(asked.randomizer.estimate(counts).values)
    return (shares * counts.reports).reshape(-1, labels)


def _checked(asked: object, counts: Tally, labels: int) -> NDArray[np.float64]:
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


def _on_simplex(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest shares that are not negative and add up to 1."""
    falling = np.sort(shares)[::-1]
    above = (np.cumsum(falling) - 1.0) / np.arange(1, shares.size + 1)
    shift = above[np.flatnonzero(falling > above)[-1]]
    nearest: NDArray[np.float64] = np.maximum(shares - shift, 0.0)
    return nearest
