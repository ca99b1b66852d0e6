"""Simulated owners: each draws a group once, and gives the same answer to the same question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import check_kind
from supm.collection.counting import Counts, count
from supm.collection.features import Ints
from supm.collection.reduction import Reduction, reduce_study
from supm.collection.testing import answer_reports, asked_in_test
from supm.collection.training import Trained, train
from supm.learning import Learner, RadialSVM
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import interview
from supm.owner.owner import draw_groups
from supm.schema import Records


def run_in_process(
    study: Study,
    records: Records,
    source: RandomSource,
    *,
    learner: Learner | None = None,
    weights: Sequence[float] | str | None = None,
    reduction: Reduction | None = None,
) -> Trained:
    """Run the reduce and train phases with simulated owners, and return the model.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        The labelled records of the owners.
    source : RandomSource
        Where all randomness comes from.
    learner : Learner, optional
        What trains on cells; the papers' machine with C = 1 by default.
    weights : "balanced" or sequence of float, optional
        How much each label counts; see `train`.
    reduction : Reduction, optional
        Who chooses attributes, where that is not left to the study.

    Returns
    -------
    Trained
        `make_model` makes a model of it.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan, make_model
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0)
    >>> make_model(run_in_process(study, wdbc.records(), simulation(1))).rule
    Scorecard(attributes=30, outputs=2)
    """
    check_kind("records", records, Records)
    crowd = Crowd(study, records, check_source(source), reduction)
    everybody = [np.arange(records.rows)]
    return crowd.train(crowd.reduce(everybody), everybody, learner, weights)


class Crowd:
    """Simulated owners of a study.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        One record for each owner.
    source : RandomSource
        Where all randomness comes from.
    reduction : Reduction, optional
        Who chooses attributes, where that is not left to the study.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> crowd = Crowd(plan(wdbc.schema, epsilon=8.0), wdbc.records(), simulation(1))
    >>> crowd.people
    569
    """

    def __init__(
        self,
        study: Study,
        records: Records,
        source: RandomSource,
        reduction: Reduction | None = None,
    ) -> None:
        self.study = study
        self._reduction = reduction
        self._records = records
        self._source = source
        self._groups = draw_groups(study, records.rows, source.child("groups"))
        self._answers: dict[str, Reports] = {}
        self._counts: dict[tuple[str, int], Counts] = {}
        self._held: list[Ints] = []

    @property
    def people(self) -> int:
        """How many owners there are."""
        return self._records.rows

    def rows(self, rows: Ints) -> Records:
        """Return the records of some owners, without their targets."""
        return Records(
            attributes=self._records.attributes,
            columns={name: column[rows] for name, column in self._records.columns.items()},
            target=None,
            rows=len(rows),
        )

    def reduce(self, parts: Sequence[Ints]) -> Study:
        """Choose attributes from the reports of these people."""
        if self.study.attributes is not None:
            return self.study
        source = self._source.child("attributes")
        asked = self.study.question("reduce")
        counts = None if asked is None else self._counted(self.study, "reduce", parts)
        return reduce_study(self.study, counts, source, reduction=self._reduction)

    def train(
        self,
        reduced: Study,
        parts: Sequence[Ints],
        learner: Learner | None = None,
        weights: Sequence[float] | str | None = None,
    ) -> Trained:
        """Train on the reports of these people."""
        counts = self._counted(reduced, "train", parts)
        trains = RadialSVM() if learner is None else learner
        return train(reduced, counts, trains, weights=weights)

    def test(self, trained: Trained, rows: Ints) -> NDArray[Any]:
        """Answer the reports of these people."""
        question = trained.study.question("test")
        if question is None or question.form != "answer":
            told = self._reports(trained.study, "test")
            symbols = told.symbols[rows]
            return answer_reports(trained, Reports(symbols=symbols, simulation=told.simulation))
        # Each model is another question, and each person is asked about one of them.
        asked = asked_in_test(trained)
        source = self._source.child(f"test {trained.study.hash} {int(rows[0])}")
        return answer_reports(trained, asked.randomize(asked.encode(self.rows(rows)), source))

    def _counted(self, study: Study, phase: str, parts: Sequence[Ints]) -> Counts:
        """Add up what the parts of a crowd told; each part is counted once and remembered."""
        found = [self._count(study, phase, part) for part in parts]
        held = [each for each in found if each is not None]
        if not held:
            question = study.question(phase)
            hint = "More owners are needed, or a study without groups."
            group = 0 if question is None else question.group
            raise ParameterError("owners", f"at least one in group {group}", 0, hint)
        return reduce(add, held)

    def _count(self, study: Study, phase: str, part: Ints) -> Counts | None:
        question = study.question(phase)
        members = part[self._groups[part] == (0 if question is None else question.group)]
        if not members.size:
            return None
        key = f"{phase} {study.hash}", id(part)
        if key not in self._counts:
            told = self._reports(study, phase)
            reports = Reports(symbols=told.symbols[members], simulation=told.simulation)
            self._counts[key] = count(interview(study, phase), reports)
            self._held.append(part)  # while it is here, no other array has its number
        return self._counts[key]

    def _reports(self, study: Study, phase: str) -> Reports:
        key = f"{phase} {study.hash}"
        if key not in self._answers:
            asked = interview(study, phase)
            inputs: NDArray[Any] = asked.encode(self._records)
            self._answers[key] = asked.randomize(inputs, self._source.child(key))
        return self._answers[key]
