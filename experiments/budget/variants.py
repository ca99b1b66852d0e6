"""What a variant is, and how one is measured.

- strict: `plan` with schema, budget and number of owners, and nothing else.
- strict balanced: the same, with every label counting alike.
- faithful pw, waldp, rand: the papers' protocol at the same guarantee: what a training owner spends
  on the choice of attributes and on training adds up to the budget.
- split budget: attributes by a private ranking, then each attribute and the label randomised on its
  own with a part of the budget, in training and in test.
- other stages: one stage where the planner has two, and two where it has one.
- cells: attributes by a private ranking, one joint report of all of them, a machine on the cells.
- private majority: everybody sends the label, nothing else; the commonest one told is the answer.
- at their word, not debiased: see `experiments.budget.ablations`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any, Final, cast

import numpy as np
import sklearn
from experiments.budget.ablations import AtTheirWord, NotDebiased, follow, private_majority
from experiments.budget.baselines import BASELINES, on_device_accuracy
from experiments.budget.data import label_count
from experiments.budget.made_up import table_of
from experiments.budget.results import Row
from experiments.budget.settings import ACADEMIC, MAJORITY, Job
from numpy.typing import NDArray

from supm import ParameterError, RandomSource, simulation
from supm.collection import cross_validate, plan
from supm.learning import Scores
from supm.learning import folds as split
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.messages import Study
from supm.schema import Records, Schema

__all__ = ["measure", "study_of", "two_stages"]

_SEED: Final = 4
_FOLDS: Final = 10
_WISHES: Final[dict[str, dict[str, Any]]] = {
    "faithful pw": {"mode": "faithful", "reduce": "pw"},
    "faithful waldp": {"mode": "faithful", "reduce": "waldp"},
    "faithful rand": {"mode": "faithful", "reduce": "rand"},
    "split budget": {"reduce": "rank", "train": "odp", "test": "odp"},
    "cells": {"reduce": "rank", "train": "joint"},
}
_OWNERS: Final = {"at their word": AtTheirWord, "not debiased": NotDebiased}

Folds = Sequence[NDArray[np.int64]]
Trial = tuple[Scores | None, Scores]


def measure(job: Job) -> Row | None:
    """Repeat a job; None where the papers have no such protocol for such attributes."""
    schema, records = table_of(job.data)
    try:
        trial = _trial(job, schema, records)
    except ParameterError:
        if job.variant != "faithful pw":
            raise
        return None  # the piecewise mechanism needs numbers
    started = time.process_time()
    found = []
    # Thousands of fits, each with the same parameters: no need to check these every time.
    with sklearn.config_context(skip_parameter_validation=True):
        for number in range(job.repetitions):
            source = simulation(_SEED).child(f"{job.data} {job.epsilon} {number}")
            parts = split(records.rows, _FOLDS, source.child("folds"))
            found.append(trial(parts, source))
    return _summary(job, found, time.process_time() - started)


def study_of(schema: Schema, variant: str, epsilon: float, owners: int) -> Study:
    """Return the study of a variant."""
    if variant != "other stages":
        return plan(schema, epsilon=epsilon, owners=owners, **_WISHES.get(variant, {}))
    if plan(schema, epsilon=epsilon, owners=owners).reduction == "regroup":
        return plan(schema, epsilon=epsilon)
    return two_stages(schema, epsilon=epsilon, owners=owners)


def two_stages(schema: Schema, *, epsilon: float, owners: int) -> Study:
    """Return the study of two stages, with as many classes as the planner would look at."""
    classes = 8 if epsilon >= 4.0 else 4
    return plan(schema, epsilon=epsilon, owners=owners, reduce="regroup", classes=classes)


def _trial(job: Job, schema: Schema, records: Records) -> Callable[[Folds, RandomSource], Trial]:
    if job.variant in ACADEMIC:
        baseline = next(each for each in BASELINES if each.name == job.variant)
        return lambda parts, source: (
            None,
            on_device_accuracy(
                baseline, schema, records, job.epsilon, folds=len(parts), source=source
            ),
        )
    if job.variant == MAJORITY:
        return _told_majority(job.epsilon, label_count(schema), np.asarray(records.target))
    study = study_of(schema, job.variant, job.epsilon, records.rows)
    if job.variant in _OWNERS:
        owners = _OWNERS[job.variant]
        return lambda parts, source: follow(owners, study, records, parts, source)
    weights = "balanced" if job.variant == "strict balanced" else None

    def validated(parts: Folds, source: RandomSource) -> Trial:
        trial = cross_validate(study, records, parts, source, weights=weights)
        return cast("tuple[Scores, Scores]", (trial.answered, trial.on_device))

    return validated


def _told_majority(
    epsilon: float, labels: int, truth: NDArray[np.int64]
) -> Callable[[Folds, RandomSource], Trial]:
    randomizer = GeneralizedRandomizedResponse.for_epsilon(size=labels, epsilon=epsilon)

    def answered(parts: Folds, source: RandomSource) -> Trial:
        found = private_majority(truth, parts, randomizer, source.child("labels"))
        return found, found

    return answered


def _summary(job: Job, found: list[Trial], seconds: float) -> Row:
    told = [answered for answered, _ in found if answered is not None]
    kept = [device for _, device in found]
    return Row(
        data=job.data,
        epsilon=job.epsilon,
        variant=job.variant,
        repetitions=job.repetitions,
        accuracy=_mean([each.accuracy for each in told]),
        accuracy_sd=_spread([each.accuracy for each in told]),
        balanced=_mean([each.balanced_accuracy for each in told]),
        on_device=_mean([each.accuracy for each in kept]),
        on_device_sd=_spread([each.accuracy for each in kept]),
        on_device_balanced=_mean([each.balanced_accuracy for each in kept]),
        majority=kept[0].majority,
        seconds=seconds,
    )


def _mean(values: list[float]) -> float:
    return fmean(values) if values else float("nan")


def _spread(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else (0.0 if values else float("nan"))
