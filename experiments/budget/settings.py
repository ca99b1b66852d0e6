"""What is run: data sets, budgets, variants, repetitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from experiments.budget.baselines import BASELINES
from experiments.budget.data import NAMES
from experiments.budget.made_up import OTHERS

__all__ = [
    "ABLATED",
    "ABLATIONS",
    "ACADEMIC",
    "ACADEMIC_BUDGETS",
    "COMPARED",
    "FAITHFUL",
    "FULL",
    "GUARANTEES",
    "MAJORITY",
    "QUICK",
    "Job",
    "Scope",
    "jobs_of",
]

GUARANTEES: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Where strict is held against faithful."""

ACADEMIC_BUDGETS: Final = (1.0, 2.0, 4.0, 8.0)
"""Where we are held against other methods."""

FAITHFUL: Final = ("faithful pw", "faithful waldp", "faithful rand")
"""The papers' protocol with its private reductions, and with the one that asks nobody."""

MAJORITY: Final = "private majority"
"""The constant answer that budget and people allow."""

ABLATED: Final = ("wdbc", "ionosphere", "adult", "digits")
"""Data sets of the ablation."""

ABLATIONS: Final = ("split budget", "other stages", "cells", "at their word", "not debiased")
"""The strict study with one part taken away."""

COMPARED: Final = (2.0, 4.0, 8.0)
"""Budgets of the ablation."""

ACADEMIC: Final = tuple(each.name for each in BASELINES)
"""The academic baselines."""

_BARS: Final = (0.5, 1.0, 2.0, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 16.0)
_MORE: Final = {"wdbc": (3.2, 3.4, 3.6), "ionosphere": (7.0, 9.0)}
_FEWER: Final = {"large": 5, "adult": 10, "musk2": 10, "nltcs": 10, "wide": 10}
_BAR: Final = {("adult", 2.0), ("musk2", 8.0)}


@dataclass(frozen=True, kw_only=True, order=True)
class Job:
    """One setting, repeated.

    Parameters
    ----------
    data : str
        Name of the data set.
    epsilon : float
        What each training owner, and each test owner, spends at most.
    variant : str
        "strict" is the planner's own choice; the others are as `experiments.budget.variants` says.
    repetitions : int
        How often folds and reports are drawn anew.
    """

    data: str
    epsilon: float
    variant: str
    repetitions: int


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much is run.

    Parameters
    ----------
    name : str
        "full" or "quick".
    data, others : tuple of str
        The six data sets, and those that the issue does not name.
    repetitions, academic : int
        Of our studies, and of the academic baselines.
    budgets : tuple of float
        Where strict is run; all others only at those of their own that are among these.
    stages : int
        Repetitions of each made-up population in the table of stages.
    """

    name: str
    data: tuple[str, ...]
    others: tuple[str, ...]
    repetitions: int
    academic: int
    budgets: tuple[float, ...]
    stages: int


FULL: Final = Scope(
    name="full", data=NAMES, others=OTHERS, repetitions=20, academic=5, budgets=_BARS, stages=1
)
"""Everything."""

QUICK: Final = Scope(
    name="quick",
    data=("wdbc", "wine"),
    others=(),
    repetitions=2,
    academic=1,
    budgets=(2.0, 8.0),
    stages=0,
)
"""A look, in seconds."""


def jobs_of(scope: Scope) -> list[Job]:
    """Return what is to be run, the most wanted first.

    Examples
    --------
    >>> jobs_of(QUICK)[0]
    Job(data='wdbc', epsilon=2.0, variant='strict', repetitions=2)
    """
    found = [*_bars(scope), *_against_faithful(scope), *_academic(scope), *_ablation(scope)]
    return list(dict.fromkeys(found))


def _job(scope: Scope, data: str, epsilon: float, variant: str) -> Job:
    repetitions = min(scope.repetitions, _FEWER.get(data, scope.repetitions))
    if variant.startswith("strict") and (data, epsilon) in _BAR:
        repetitions = scope.repetitions
    if variant in ACADEMIC:
        repetitions = scope.academic
    return Job(data=data, epsilon=epsilon, variant=variant, repetitions=repetitions)


def _bars(scope: Scope) -> Iterator[Job]:
    for data in scope.data:
        more = _MORE.get(data, ()) if scope.name == "full" else ()
        for epsilon in sorted({*scope.budgets, *more}):
            yield _job(scope, data, epsilon, "strict")
    if "musk2" in scope.data:
        yield _job(scope, "musk2", 8.0, "strict balanced")


def _against_faithful(scope: Scope) -> Iterator[Job]:
    for data in (*scope.data, *scope.others):
        for epsilon in _shared(scope, GUARANTEES):
            for variant in ("strict", *FAITHFUL, MAJORITY):
                yield _job(scope, data, epsilon, variant)


def _academic(scope: Scope) -> Iterator[Job]:
    for data in scope.data:
        for epsilon in _shared(scope, ACADEMIC_BUDGETS):
            for variant in ACADEMIC:
                yield _job(scope, data, epsilon, variant)


def _ablation(scope: Scope) -> Iterator[Job]:
    for data in (each for each in ABLATED if each in scope.data):
        for epsilon in _shared(scope, COMPARED):
            for variant in ABLATIONS:
                yield _job(scope, data, epsilon, variant)


def _shared(scope: Scope, budgets: tuple[float, ...]) -> list[float]:
    return [epsilon for epsilon in budgets if epsilon in scope.budgets]
