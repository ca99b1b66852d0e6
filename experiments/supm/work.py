"""Jobs are done here: one repetition after another, two processes at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import cast

import sklearn
from experiments.supm.baselines import clean_label_trial, learner_of
from experiments.supm.jobs import Job, Outcome
from experiments.supm.settings import DATA
from experiments.supm.studies import source_of, split, study_of, table_of
from experiments.supm.trials import run_trial

from supm.collection import cross_validate
from supm.learning import Scores

__all__ = ["do", "do_all"]


def do(job: Job) -> Outcome:
    """Do all repetitions of a job."""
    start = time.process_time()
    # Thousands of fits, each with the same parameters: no need to check these every time.
    with sklearn.config_context(skip_parameter_validation=True):
        found = [_repeat(job, number) for number in range(job.repeats)]
    answered, device = zip(*found, strict=True)
    return Outcome(
        answered=tuple(each.accuracy for each in answered),
        answered_balanced=tuple(each.balanced_accuracy for each in answered),
        device=tuple(each.accuracy for each in device),
        device_balanced=tuple(each.balanced_accuracy for each in device),
        majority=sum(each.majority for each in answered) / len(answered),
        seconds=round(time.process_time() - start, 3),
    )


def do_all(jobs: list[Job], workers: int) -> Iterator[tuple[Job, Outcome]]:
    """Do jobs in processes; yield each when it is finished."""
    if workers == 1:
        yield from ((job, do(job)) for job in jobs)
        return
    # Each process is one thread of linear algebra, so that processes do not wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(max_workers=workers) as pool:
        waiting = {pool.submit(do, job): job for job in jobs}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _repeat(job: Job, number: int) -> tuple[Scores, Scores]:
    table, source = table_of(job.data, job.bounds), source_of(job, number)
    folds = split(job, table, source.child("folds"))
    penalty = DATA[job.data].penalty
    learner = learner_of(penalty, job.reading if job.method == "raw" else "largest")
    draws = source.child("reports")
    if job.method in ("supm", "nested"):
        return run_trial(job, table, folds, draws, learner)
    if (job.method, job.reading) == ("pw", "attributes"):
        found = clean_label_trial(table, job.epsilon, folds, draws, learner)
        return found, found
    study = study_of(job, (0, 0), table.schema)
    trial = cross_validate(study, table.records, folds, draws, learner=learner)
    return cast("tuple[Scores, Scores]", (trial.answered, trial.on_device))
