"""Measure one job: five folds, every method of its group."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from experiments.copula.baselines import BASELINES
from experiments.copula.learners import learn
from experiments.copula.noising import Fold, folds
from experiments.copula.results import Row
from experiments.copula.settings import LEARNERS, OTHERS, VERSIONS, Job, Scope
from experiments.copula.synthesis import aware_answers, paper_rows, strict_answers, strict_rows
from numpy.typing import NDArray

__all__ = ["measure"]

Floats = NDArray[np.float64]
Answer = tuple[str, str, Floats]
"""A method, a learner, and what they answer to the test records."""


def measure(job: Job, scope: Scope) -> list[Row]:
    """Return one row for each method and learner: means over the folds."""
    shown: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    samples = _samples(job, scope)
    for fold in folds(job):
        start = time.process_time()
        for method, learner, answers in _MAKERS[job.group](fold, samples):
            gaps = answers - fold.test[:, -1]
            spent, start = time.process_time() - start, time.process_time()
            errors = float(np.mean(gaps**2)), float(np.mean(np.abs(gaps))), spent
            shown.setdefault((method, learner), []).append(errors)
    return [_row(job, *key, errors) for key, errors in shown.items()]


def _samples(job: Job, scope: Scope) -> int:
    if job.group == "more rows":
        return scope.more
    large = job.data in scope.real and job.group not in OTHERS
    return scope.samples if large else scope.few


def _row(job: Job, method: str, learner: str, errors: list[tuple[float, float, float]]) -> Row:
    mse, mae, _ = np.mean(errors, axis=0)
    return Row(
        data=job.data,
        records=job.records,
        epsilon=job.epsilon,
        repetition=job.repetition,
        group=job.group,
        method=method,
        learner=learner,
        mse=float(mse),
        mae=float(mae),
        seconds=sum(error[2] for error in errors),
        version=VERSIONS[job.group],
    )


def _baselines(fold: Fold, samples: int) -> Iterator[Answer]:
    for name, answers in BASELINES.items():
        yield name, "tree", answers(fold, samples)


def _paper(fold: Fold, samples: int) -> Iterator[Answer]:
    yield "paper", "tree", learn("tree", paper_rows(fold, samples), fold.inputs)


def _more_rows(fold: Fold, samples: int) -> Iterator[Answer]:
    yield "paper, more rows", "tree", learn("tree", paper_rows(fold, samples), fold.inputs)


def _strict(fold: Fold, samples: int) -> Iterator[Answer]:
    yield "strict copula", "tree", strict_answers(fold, samples)


def _aware(fold: Fold, _samples: int) -> Iterator[Answer]:
    yield "noise-aware", "tree", aware_answers(fold)


def _noisy_learners(fold: Fold, samples: int) -> Iterator[Answer]:
    yield from _others("noisy data", fold.noisy[:samples], fold)


def _paper_learners(fold: Fold, samples: int) -> Iterator[Answer]:
    yield from _others("paper", paper_rows(fold, samples), fold)


def _strict_learners(fold: Fold, samples: int) -> Iterator[Answer]:
    yield from _others("strict copula", strict_rows(fold, samples), fold)


def _others(method: str, rows: Floats, fold: Fold) -> Iterator[Answer]:
    """Yield the answers of kNN, SVM and NN; those of trees are in the other groups."""
    for name in LEARNERS[1:]:
        yield method, name, learn(name, rows, fold.inputs)


_MAKERS: Final[dict[str, Callable[[Fold, int], Iterator[Answer]]]] = {
    "baselines": _baselines,
    "paper": _paper,
    "more rows": _more_rows,
    "strict": _strict,
    "aware": _aware,
    "noisy learners": _noisy_learners,
    "paper learners": _paper_learners,
    "strict learners": _strict_learners,
}
