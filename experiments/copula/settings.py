"""What is measured: the settings of the paper's figures 2 and 5 to 11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from experiments.copula.made_up import MADE_UP

__all__ = [
    "EPSILONS",
    "FULL",
    "GROUPS",
    "JUDGED",
    "JUDGED_EPSILONS",
    "LEARNERS",
    "METHODS",
    "OTHERS",
    "QUICK",
    "VERSIONS",
    "Job",
    "Scope",
    "jobs_of",
]

EPSILONS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 8.0, 10.0)
LEARNERS: Final = ("tree", "kNN", "SVM", "NN")
METHODS: Final = {
    "constant": "the mean of the clean training target, which nobody has who holds noisy records",
    "middle": "always 0.5, the middle of the target's range: the answer of one who knows nothing",
    "noisy constant": "the mean of the noisy training target, cut to [0, 1]",
    "noisy data": "a default tree on the noisy records",
    "noisy data, leaf 5 %": "a tree whose leaves hold 5 % of the noisy records or more",
    "augmentation": "a default tree on five copies of the noisy records, shaken a little",
    "plain copula": "a default tree on samples of a Gaussian copula of the noisy records",
    "IDUE(R)": "a histogram of all attributes together, by symmetric unary encoding",
    "IDUE(O)": "the same by optimised unary encoding",
    "paper": "a default tree on samples of the noise-mitigated copula (`mode='faithful'`)",
    "strict copula": "a tree on samples of `mode='strict'`, its leaves as `leaf_size` says",
    "noise-aware": "`NoiseAwareRegressor` on the noisy records, no synthesis",
}
GROUPS: Final = ("baselines", "paper", "strict", "aware")
"""Methods that are run together, on all tables."""

JUDGED: Final = ("boston", "diabetes", "adult")
JUDGED_EPSILONS: Final = (1.0, 2.0, 5.0, 10.0)
"""Where ours is to be well below the paper's method."""

OTHERS: Final = ("noisy learners", "paper learners", "strict learners")
"""The same with kNN, SVM and NN, on real tables."""

VERSIONS: Final = {
    "baselines": 2,
    "paper": 2,
    "strict": 2,
    "aware": 2,
    "noisy learners": 2,
    "paper learners": 2,
    "strict learners": 2,
    "more rows": 2,
    "pairs": 2,
}
"""Raised when a group may answer otherwise than before: what an older one showed is forgotten."""


@dataclass(frozen=True, kw_only=True, order=True)
class Job:
    """Five folds of one repetition of one setting, with one group of methods.

    Parameters
    ----------
    repetition : int
        Which noise and folds.
    group : str
        One of `GROUPS` or `OTHERS`, or "more rows": the paper's method with all its rows.
    data : str
        Which table.
    records : int
        Its size; 0 for all records of a real one.
    epsilon : float
        The budget of each attribute.
    """

    repetition: int
    group: str
    data: str
    records: int
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much is measured.

    Parameters
    ----------
    name : str
        The scope.
    epsilons : tuple of float
        Budgets of one attribute.
    real : mapping of str to int
        Repetitions of each real table.
    learners : mapping of str to int
        Repetitions of kNN, SVM and NN on each real table.
    made_up : int
        Repetitions of the made-up tables.
    sizes : tuple of int
        Records of the made-up tables; the first is that of figure 5.
    samples : int
        Rows drawn from a copula.
    few : int
        Rows for kNN, SVM and NN, and rows of a made-up copula.
    more : int
        Rows of the paper: what it does with them is looked at in one repetition.
    pairs : int
        Repetitions of figures 2 and 11.
    """

    name: str
    epsilons: tuple[float, ...]
    real: dict[str, int]
    learners: dict[str, int]
    made_up: int
    sizes: tuple[int, ...]
    samples: int
    few: int
    more: int
    pairs: int
    distributions: tuple[str, ...] = tuple(MADE_UP)
    records: int = 0


FULL: Final = Scope(
    name="full",
    epsilons=EPSILONS,
    real={"boston": 10, "kung": 10, "diabetes": 10, "adult": 10},
    learners={"boston": 2, "kung": 2, "diabetes": 2, "adult": 1},
    made_up=2,
    sizes=(1000, 2000, 5000, 10_000),
    samples=20_000,
    few=5000,
    more=100_000,
    pairs=20,
)
QUICK: Final = Scope(
    name="quick",
    epsilons=(1.0, 10.0),
    real={"diabetes": 1},
    learners={"diabetes": 1},
    made_up=1,
    sizes=(200,),
    samples=1000,
    few=300,
    more=2000,
    pairs=1,
    distributions=("negative multinomial",),
    records=200,
)
_FIXED: Final = 1.0


def jobs_of(scope: Scope) -> list[Job]:
    """Return all jobs, first repetitions first, so that a stopped run has something of all."""
    jobs = [
        Job(repetition=each, group=group, data=data, records=scope.records, epsilon=epsilon)
        for group in GROUPS
        for data, times in scope.real.items()
        for each in range(times)
        for epsilon in scope.epsilons
    ]
    jobs += [
        Job(repetition=each, group=group, data=data, records=scope.records, epsilon=epsilon)
        for group in OTHERS
        for data, times in scope.learners.items()
        for each in range(times)
        for epsilon in scope.epsilons
    ]
    jobs += [
        Job(repetition=0, group="more rows", data=data, records=scope.records, epsilon=epsilon)
        for data in scope.real
        for epsilon in scope.epsilons
        if data in JUDGED and epsilon in JUDGED_EPSILONS
    ]
    return sorted(jobs + _made_up(scope), key=lambda job: job.repetition)


def _made_up(scope: Scope) -> list[Job]:
    """Return figure 5, and figure 6 at epsilon 1."""
    settings = [(scope.sizes[0], epsilon) for epsilon in scope.epsilons]
    settings += [(size, _FIXED) for size in scope.sizes[1:]]
    return [
        Job(repetition=each, group=group, data=data, records=records, epsilon=epsilon)
        for group in GROUPS
        for data in scope.distributions
        for each in range(scope.made_up)
        for records, epsilon in settings
    ]
