"""One repetition of cross-validation, in which everybody reports once and is tested once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import check_kind
from supm.collection._columns import labels_of
from supm.collection.counting import count
from supm.collection.groups import draw_groups
from supm.collection.interviewing import interview
from supm.collection.reduction import reduce_study
from supm.collection.testing import answer_on_device, answer_reports
from supm.collection.training import Trained, train
from supm.learning import Learner, RadialSVM, Scores, score
from supm.mechanisms import Reports
from supm.messages import Study
from supm.schema import Records

__all__ = ["Trial", "cross_validate", "run_in_process"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """What one repetition showed.

    Parameters
    ----------
    answered : Scores
        Of the answers to the reports of the test phase; on the device where nothing is reported.
    on_device : Scores
        Of the same models where the record does not leave its device.
    attributes : tuple of tuple of str
        The attributes that each fold's model was about.
    """

    answered: Scores
    on_device: Scores
    attributes: tuple[tuple[str, ...], ...]


def cross_validate(
    study: Study,
    records: Records,
    folds: Sequence[NDArray[np.int64]],
    source: RandomSource,
    *,
    learner: Learner | None = None,
    progress: Callable[[], object] | None = None,
) -> Trial:
    """Run a study once on people who are all simulated, and score what it answers.

    Everybody draws one report for each question, and all folds use the same. In faithful mode
    attributes are chosen once from everybody's reports, as the papers do, which sees the people who
    are tested; in strict mode from the reports of the training folds.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        Labelled records: public, or made up. They are scored against their true labels.
    folds : sequence of ndarray of int
        Row numbers of each fold; those in no fold take no part.
    source : RandomSource
        Where all randomness comes from.
    learner : Learner, optional
        What trains; the papers' machine with C = 1 by default.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    Trial

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> from supm.learning import folds
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0, mode="faithful", attributes=["worst radius"])
    >>> split = folds(wdbc.rows, 10, simulation(1))
    >>> trial = cross_validate(study, wdbc.records(), split, simulation(1))
    >>> trial.answered.accuracy > trial.answered.majority
    True
    """
    if len(folds) < 2:
        raise ParameterError("folds", "at least two sets of rows", len(folds))
    crowd = _Crowd(study, records, check_source(source))
    taking_part = np.sort(np.concatenate(folds))
    if (np.diff(taking_part) == 0).any():
        raise ParameterError("folds", "sets of rows without a row in common", "a row in two")
    truth = labels_of(records)
    told = np.zeros(records.rows, dtype=np.int64)
    kept = np.zeros(records.rows, dtype=np.int64)
    chosen = []
    shared = crowd.reduce(taking_part) if study.mode == "faithful" else None
    for fold in folds:
        others = np.setdiff1d(taking_part, fold)
        reduced = crowd.reduce(others) if shared is None else shared
        trained = crowd.train(reduced, others, RadialSVM() if learner is None else learner)
        kept[fold] = answer_on_device(trained, _rows(records, fold))
        told[fold] = crowd.test(trained, fold) if reduced.question("test") else kept[fold]
        chosen.append(reduced.attributes or ())
        if progress is not None:
            progress()
    return Trial(
        answered=score(truth[taking_part], told[taking_part]),
        on_device=score(truth[taking_part], kept[taking_part]),
        attributes=tuple(chosen),
    )


def run_in_process(
    study: Study, records: Records, source: RandomSource, *, learner: Learner | None = None
) -> Trained:
    """Run the reduce and train phases with simulated owners, and return the classifier.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        The labelled records of the owners.
    source : RandomSource
        Where all randomness comes from.
    learner : Learner, optional
        What trains; the papers' machine with C = 1 by default.

    Returns
    -------
    Trained
        `publish` makes a model of it.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan, publish
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0)
    >>> model = publish(run_in_process(study, wdbc.records(), simulation(1)))
    >>> len(model.study.attributes) == study.keep
    True
    """
    check_kind("records", records, Records)
    crowd = _Crowd(study, records, check_source(source))
    everybody = np.arange(records.rows)
    reduced = crowd.reduce(everybody)
    return crowd.train(reduced, everybody, RadialSVM() if learner is None else learner)


class _Crowd:
    """Simulated owners: each draws a group once, and gives the same answer to the same question."""

    def __init__(self, study: Study, records: Records, source: RandomSource) -> None:
        self._study = study
        self._records = records
        self._source = source
        self._groups = draw_groups(study, records.rows, source.child("groups"))
        self._answers: dict[str, Reports] = {}

    def reduce(self, rows: NDArray[np.int64]) -> Study:
        """Choose attributes from the reports of these people."""
        if self._study.attributes is not None:
            return self._study
        question, source = self._study.question("reduce"), self._source.child("attributes")
        if question is None:
            return reduce_study(self._study, None, source)
        asked = interview(self._study, "reduce")
        reports = self._reports(self._study, "reduce", self._members(rows, question.group))
        return reduce_study(self._study, count(asked, reports), source)

    def train(self, reduced: Study, rows: NDArray[np.int64], learner: Learner) -> Trained:
        """Train on the reports of these people."""
        question = reduced.question("train")
        members = self._members(rows, 0 if question is None else question.group)
        reports = self._reports(reduced, "train", members)
        return train(reduced, count(interview(reduced, "train"), reports), learner)

    def test(self, trained: Trained, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Answer the reports of these people."""
        return answer_reports(trained, self._reports(trained.study, "test", rows))

    def _members(self, rows: NDArray[np.int64], group: int) -> NDArray[np.int64]:
        members: NDArray[np.int64] = rows[self._groups[rows] == group]
        if not members.size:
            hint = "More owners are needed, or a study without groups."
            raise ParameterError("owners", f"at least one in group {group}", 0, hint)
        return members

    def _reports(self, study: Study, phase: str, rows: NDArray[np.int64]) -> Reports:
        key = f"{phase} {study.hash}"
        if key not in self._answers:
            asked = interview(study, phase)
            inputs: NDArray[Any] = asked.encode(self._records)
            self._answers[key] = asked.randomize(inputs, self._source.child(key))
        told = self._answers[key]
        return Reports(symbols=told.symbols[rows], simulation=told.simulation)


def _rows(records: Records, rows: NDArray[np.int64]) -> Records:
    return Records(
        attributes=records.attributes,
        columns={name: column[rows] for name, column in records.columns.items()},
        target=None,
        rows=len(rows),
    )
