"""All results in one file, a line for each setting and way of testing."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

import numpy as np
from experiments.supm.jobs import Job, Outcome
from experiments.supm.results import Results
from experiments.supm.schedule import entries_of

__all__ = ["COLUMNS", "write_results"]

COLUMNS: Final = (
    "data",
    "figure",
    "method",
    "reading",
    "folds",
    "bounds",
    "reduction",
    "train",
    "test",
    "K",
    "L",
    "epsilon",
    "repeats",
    "mean",
    "sd",
    "balanced",
    "on_device",
    "majority",
)


def write_results(results: Results, path: Path) -> int:
    """Write one row for each job and way of testing; return how many."""
    purposes: dict[tuple[Job, str], list[str]] = {}
    for entry in entries_of(results.scope):
        if entry.job in results.outcomes:
            told = purposes.setdefault((entry.job, entry.test), [])
            told.extend([entry.purpose] * (entry.purpose not in told))
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (job, test), told in purposes.items():
            writer.writerow(_row(job, test, " ".join(told), results.outcomes[job]))
    return len(purposes)


def _row(job: Job, test: str, purpose: str, outcome: Outcome) -> tuple[str, ...]:
    accuracy = outcome.accuracy(test)
    sizes = zip(*job.pairs, strict=True) if job.pairs else ((), ())
    keep, classes = (" ".join(str(each) for each in column) for column in sizes)
    method = job.method if job.shares == "label" else f"{job.method}, no label share"
    return (
        job.data,
        purpose,
        method,
        job.reading,
        job.folds,
        job.bounds,
        job.reduction,
        job.train or job.method,
        test,
        keep,
        classes,
        f"{job.epsilon:g}" if job.epsilon else "",
        str(job.repeats),
        f"{accuracy.mean():.2f}",
        f"{accuracy.std(ddof=min(1, len(accuracy) - 1)):.2f}",
        f"{outcome.balanced(test):.2f}",
        f"{100 * np.mean(outcome.device):.2f}",
        f"{100 * outcome.majority:.2f}",
    )
