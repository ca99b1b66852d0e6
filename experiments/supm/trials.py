"""One repetition: everybody reports once, ten folds use the same reports.

This is `supm.collection.cross_validate` in faithful mode: given the same names of draws, the two
agree report for report, and a test holds them against each other. It is written out here because a
nested choice of (K, L) needs the reports of several (K, L) at hand, and because a few hundred
distinct answers are faster to train on than a table of all cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from experiments.supm.jobs import Job
from experiments.supm.studies import Table, study_of
from numpy.typing import NDArray

from supm import RandomSource
from supm.collection import (
    RowCounts,
    Trained,
    answer_on_device,
    answer_reports,
    count,
    reduce_study,
    train,
)
from supm.learning import Learner, Scores, score
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import interview
from supm.schema import Records

__all__ = ["run_trial", "settings_of"]

_INNER: Final = 3
Rows = NDArray[np.int64]


def settings_of(study: Study) -> str:
    """Name the draws of a study by its budget and size: the same in all versions of the package."""
    return f"{study.epsilon} {study.keep} {study.classes}"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Draws:
    """Everybody's answers.

    Parameters
    ----------
    table : Table
        The people.
    source : RandomSource
        Where the noise comes from.
    name : callable
        What the draws of a study are called; a name fixes them.
    """

    table: Table
    source: RandomSource
    name: Callable[[Study], str]

    def answers(self, study: Study, phase: str) -> NDArray[np.int64]:
        asked = interview(study, phase)
        inputs = asked.encode(self.table.records)
        drawn = asked.randomize(inputs, self.source.child(f"{phase} {self.name(study)}"))
        return np.asarray(drawn.symbols, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Candidate:
    """One (K, L) with everybody's reports, drawn once.

    Parameters
    ----------
    study : Study
        With its attributes chosen.
    told, asked : ndarray of int
        Reports of the train phase, and of the test phase.
    """

    study: Study
    told: NDArray[np.int64]
    asked: NDArray[np.int64]

    @classmethod
    def collect(cls, study: Study, part: Rows, draws: _Draws) -> _Candidate:
        """Choose attributes from the reports of those who take part, then draw the reports."""
        counts = None
        if study.question("reduce") is not None:
            told = draws.answers(study, "reduce")[part]
            counts = count(interview(study, "reduce"), _reports(told))
        study = reduce_study(study, counts, draws.source.child("attributes"))
        return cls(
            study=study, told=draws.answers(study, "train"), asked=draws.answers(study, "test")
        )

    def train(self, rows: Rows, learner: Learner) -> Trained:
        """Train on the reports of some people."""
        return train(self.study, RowCounts.of(self.told[rows], simulation=True), learner)

    def inner_score(self, rows: Rows, learner: Learner) -> float:
        """Return the share of noisy labels that inner folds predict from noisy classes.

        That is all that an aggregator sees.
        """
        right = 0
        for fold in np.array_split(rows, _INNER):
            trained = self.train(np.setdiff1d(rows, fold, assume_unique=True), learner)
            found = answer_reports(trained, _reports(self.told[fold, :-1]))
            right += int((found == self.told[fold, -1]).sum())
        return right / len(rows)


def run_trial(
    job: Job,
    table: Table,
    folds: tuple[Rows, ...],
    source: RandomSource,
    learner: Learner,
    name: Callable[[Study], str] = settings_of,
) -> tuple[Scores, Scores]:
    """Return the scores of reported test records, and of those that stay at home.

    With one (K, L) there is nothing to choose. With several, each outer fold takes the one that
    inner folds of the training reports prefer. In deployment reports for several (K, L) would have
    to be collected, and owners would pay for each; here each has the whole budget, so that only the
    effect of choosing is measured.
    """
    part = np.concatenate(folds)
    draws = _Draws(table=table, source=source, name=name)
    candidates = [
        _Candidate.collect(study_of(job, pair, table.schema), part, draws) for pair in job.pairs
    ]
    told, kept = np.zeros_like(table.labels), np.zeros_like(table.labels)
    for place, fold in enumerate(folds):
        rows = np.concatenate([other for each, other in enumerate(folds) if each != place])
        chosen = _choose(candidates, rows, learner)
        trained = chosen.train(rows, learner)
        told[fold] = answer_reports(trained, _reports(chosen.asked[fold]))
        kept[fold] = answer_on_device(trained, _only(table.records, fold))
    truth = table.labels[part]
    return score(truth, told[part]), score(truth, kept[part])


def _choose(candidates: list[_Candidate], rows: Rows, learner: Learner) -> _Candidate:
    if len(candidates) == 1:
        return candidates[0]
    scores = [candidate.inner_score(rows, learner) for candidate in candidates]
    return candidates[int(np.argmax(scores))]


def _reports(symbols: NDArray[np.int64]) -> Reports:
    return Reports(symbols=symbols, simulation=True)


def _only(records: Records, rows: Rows) -> Records:
    return Records(
        attributes=records.attributes,
        columns={name: column[rows] for name, column in records.columns.items()},
        target=None,
        rows=len(rows),
    )
