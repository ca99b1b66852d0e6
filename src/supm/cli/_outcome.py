"""Several budgets side by side, with the two lines between which they lie."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError
from supm._random import RandomSource
from supm.cli._baseline import (
    Baseline,
    NumberBaseline,
    number_without_privacy,
    repetitions,
    without_privacy,
)
from supm.cli._progress import Bar, bar
from supm.cli._study_options import notice_limits
from supm.collection import NumberSimulation, Simulation, simulate, simulate_number
from supm.collection.training import label_weights
from supm.learning import Learner
from supm.messages import Study
from supm.schema import Records

__all__ = ["Evaluation", "NumberOutcome", "Outcome", "measure", "measure_number"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What accuracy budgets buy.

    Parameters
    ----------
    people : int
        How many records there are.
    target : str
        What was predicted.
    labels : int
        How many classes there are among them.
    majority : float
        Share of the commonest class.
    baseline : Baseline
        Accuracy without privacy.
    results : tuple of Simulation
        One for each study.
    seeded : bool
        Whether the randomness came from a seed.
    weights : "balanced" or tuple of float, optional
        How much each label counted.
    """

    people: int
    target: str
    labels: int
    majority: float
    baseline: Baseline
    results: tuple[Simulation, ...]
    seeded: bool
    weights: str | tuple[float, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class NumberOutcome:
    """How far budgets reduce the error of a number.

    Parameters
    ----------
    people : int
        How many records there are.
    target : str
        What was predicted.
    constant : float
        Mean squared error of always predicting the mean.
    baseline : NumberBaseline
        The error without privacy.
    results : tuple of NumberSimulation
        One for each study.
    seeded : bool
        Whether the randomness came from a seed.
    """

    people: int
    target: str
    constant: float
    baseline: NumberBaseline
    results: tuple[NumberSimulation, ...]
    seeded: bool


class Evaluation(NamedTuple):
    """How people are split, how often, what trains on cells, and how much each label counts."""

    folds: int
    repeats: int
    learner: Learner
    weights: str | tuple[float, ...] | None = None


def measure(
    studies: Sequence[Study], records: Records, source: RandomSource, how: Evaluation
) -> Outcome:
    """Simulate studies of one schema on the same people.

    Parameters
    ----------
    studies : sequence of Study
        One for each budget; their target has labels.
    records : Records
        Labelled records: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    how : Evaluation
        How people are split, and what trains.

    Returns
    -------
    Outcome
    """
    once, shares = repetitions(records.rows, how.repeats), _shares(records, studies[0].labels)
    with _shown(studies, how, once) as shown:
        run = _Run(records, source, how, shown)
        results = tuple(run.simulated(study) for study in studies)
        baseline = run.compared(studies[0], once)
    return Outcome(
        people=records.rows,
        target=studies[0].schema.target.name,
        labels=int((shares > 0).sum()),
        majority=float(shares.max()),
        baseline=baseline,
        results=results,
        seeded=source.simulation,
        weights=how.weights,
    )


def measure_number(
    studies: Sequence[Study], records: Records, source: RandomSource, how: Evaluation
) -> NumberOutcome:
    """Simulate studies of one number on the same people.

    Parameters
    ----------
    studies : sequence of Study
        One for each budget; their target is a number.
    records : Records
        Records with their targets: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    how : Evaluation
        How people are split.

    Returns
    -------
    NumberOutcome
    """
    constant = float(np.var(np.asarray(records.target, dtype=np.float64)))
    if constant == 0:
        message = "the target is the same number in all records; there is nothing to learn."
        raise RecordError(message)
    once = repetitions(records.rows, how.repeats)
    with _shown(studies, how, once) as shown:
        run = _Run(records, source, how, shown)
        results = tuple(run.simulated_number(study) for study in studies)
        baseline = run.compared_number(studies[0], once)
    return NumberOutcome(
        people=records.rows,
        target=studies[0].schema.target.name,
        constant=constant,
        baseline=baseline,
        results=results,
        seeded=source.simulation,
    )


def _shown(studies: Sequence[Study], how: Evaluation, once: int) -> AbstractContextManager[Bar]:
    for study in studies:
        notice_limits(study)
    total = how.folds * (how.repeats * len(studies) + once)
    return bar(total=total, unit="folds", label="simulation")


def _shares(records: Records, labels: int) -> NDArray[np.float64]:
    counts = np.bincount(np.asarray(records.target, dtype=np.int64), minlength=labels)
    shares: NDArray[np.float64] = counts / records.rows
    return shares


class _Run(NamedTuple):
    """What all budgets and the line without privacy have in common."""

    records: Records
    source: RandomSource
    how: Evaluation
    shown: Bar

    def simulated(self, study: Study) -> Simulation:
        self.shown.label(f"epsilon {study.epsilon:g}")
        return simulate(
            study,
            self.records,
            source=self.source,
            folds=self.how.folds,
            repeats=self.how.repeats,
            learner=self.how.learner,
            weights=self.how.weights,
            progress=self.shown.step,
        )

    def simulated_number(self, study: Study) -> NumberSimulation:
        self.shown.label(f"epsilon {study.epsilon:g}")
        return simulate_number(
            study,
            self.records,
            source=self.source,
            folds=self.how.folds,
            repeats=self.how.repeats,
            progress=self.shown.step,
        )

    def compared(self, study: Study, repeats: int) -> Baseline:
        self.shown.label("without privacy")
        shares = _shares(self.records, study.labels)
        return without_privacy(
            study.schema,
            self.records,
            self.how.learner,
            self.source,
            split=self.how.folds,
            repeats=repeats,
            progress=self.shown.step,
            weights=label_weights(study, self.how.weights, shares),
        )

    def compared_number(self, study: Study, repeats: int) -> NumberBaseline:
        self.shown.label("without privacy")
        return number_without_privacy(
            study.schema,
            self.records,
            self.source,
            split=self.how.folds,
            repeats=repeats,
            progress=self.shown.step,
        )
