"""Several budgets side by side, with the two lines between which they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supm._random import RandomSource
from supm.cli._baseline import Baseline, repetitions, without_privacy
from supm.cli._progress import Bar, bar
from supm.cli._study_options import notice_limits
from supm.collection import Simulation, simulate
from supm.learning import Learner
from supm.messages import Study
from supm.schema import Records

__all__ = ["Outcome", "measure"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What budgets buy.

    Parameters
    ----------
    people : int
        How many records there are.
    target : str
        What was predicted.
    majority : float
        Share of the commonest class.
    baseline : Baseline
        Accuracy without privacy.
    results : tuple of Simulation
        One for each budget.
    seeded : bool
        Whether the randomness came from a seed.
    """

    people: int
    target: str
    majority: float
    baseline: Baseline
    results: tuple[Simulation, ...]
    seeded: bool


def measure(
    studies: list[Study],
    records: Records,
    source: RandomSource,
    *,
    folds: int,
    repeats: int,
    learner: Learner,
) -> Outcome:
    """Simulate studies of one schema on the same people.

    Parameters
    ----------
    studies : list of Study
        One for each budget.
    records : Records
        Labelled records: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    folds, repeats : int
        How people are split, and how often.
    learner : Learner
        What trains.

    Returns
    -------
    Outcome
    """
    for study in studies:
        notice_limits(study)
    once = repetitions(records.rows, repeats)
    with bar(
        total=folds * (repeats * len(studies) + once), unit="folds", label="simulation"
    ) as shown:
        run = _Run(records, source, folds, learner, shown)
        results = tuple(run.simulated(study, repeats) for study in studies)
        baseline = run.compared(studies[0], once)
    counts = np.bincount(np.asarray(records.target, dtype=np.int64))
    return Outcome(
        people=records.rows,
        target=studies[0].schema.target.name,
        majority=float(counts.max() / records.rows),
        baseline=baseline,
        results=results,
        seeded=source.simulation,
    )


class _Run(NamedTuple):
    """What all budgets and the line without privacy have in common."""

    records: Records
    source: RandomSource
    folds: int
    learner: Learner
    shown: Bar

    def simulated(self, study: Study, repeats: int) -> Simulation:
        self.shown.label(f"epsilon {study.epsilon:g}")
        return simulate(
            study,
            self.records,
            source=self.source,
            folds=self.folds,
            repeats=repeats,
            learner=self.learner,
            progress=self.shown.step,
        )

    def compared(self, study: Study, repeats: int) -> Baseline:
        self.shown.label("without privacy")
        return without_privacy(
            study.schema,
            self.records,
            self.learner,
            self.source,
            split=self.folds,
            repeats=repeats,
            progress=self.shown.step,
        )
