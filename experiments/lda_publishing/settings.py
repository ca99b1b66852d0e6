"""What is run: tasks, budgets, parties, variants, repetitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from experiments.lda_publishing.data import TASKS

__all__ = [
    "BUDGETS",
    "DELTA",
    "FULL",
    "PLAIN",
    "QUICK",
    "RIVAL",
    "VARIANTS",
    "Scope",
    "Setting",
    "settings_of",
]

BUDGETS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The customary grid; the paper does not print its own."""

DELTA: Final = 0.001
"""The paper's."""

PLAIN: Final = ("majority", "svm", "lda", "lda of unit rows")
"""Without privacy."""

RIVAL: Final = "PrivBayes, SVM on made-up rows"
"""With noise, by another package."""

VARIANTS: Final = (
    "faithful",
    "faithful global",
    "direction, their threshold",
    "direction only",
    "release",
    "release, made-up pairs",
)
"""With noise, as `experiments.lda_publishing.work` says."""

_FIGURE_2: Final = ("money", "outside", "salary", "education")
_FIGURE_3: Final = ("salary", "education")
_PARTIES: Final = (2, 4, 6, 8, 10)
_THREE: Final = 3
_FIXED: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One point of a figure.

    Parameters
    ----------
    epsilon : float
        The budget, at delta 0.001.
    parties : int
        How many hold a part of the records.
    colluders : int
        How many of these may work with the server, in the strict protocol.
    """

    epsilon: float
    parties: int = 1
    colluders: int = 0


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much is run.

    Parameters
    ----------
    name : str
        "full" or "quick".
    tasks : tuple of str
        The panels.
    budgets : tuple of float
        Of figures 1 and 2.
    parties : tuple of int
        Of figure 3.
    repetitions : int
        Splits into 80 % for training and 20 % for testing, each with noise of its own.
    levers : int
        Repetitions of the table of choices.
    rivals : int
        Repetitions of PrivBayes, which takes minutes where ours takes seconds.
    """

    name: str
    tasks: tuple[str, ...]
    budgets: tuple[float, ...]
    parties: tuple[int, ...]
    repetitions: int
    levers: int
    rivals: int


FULL: Final = Scope(
    name="full", tasks=TASKS, budgets=BUDGETS, parties=_PARTIES, repetitions=50, levers=20, rivals=3
)
"""Everything."""

QUICK: Final = Scope(
    name="quick",
    tasks=("money", "salary"),
    budgets=(0.1, 0.8),
    parties=(2,),
    repetitions=2,
    levers=1,
    rivals=0,
)
"""A look, in seconds."""


def settings_of(scope: Scope, task: str) -> list[Setting]:
    """Return the points that figures 1 to 3 have for a task.

    Examples
    --------
    >>> settings_of(QUICK, "money")[:2]
    [Setting(epsilon=0.1, parties=1, colluders=0), Setting(epsilon=0.8, parties=1, colluders=0)]
    """
    return list(dict.fromkeys(_points(scope, task)))


def _points(scope: Scope, task: str) -> Iterator[Setting]:
    for epsilon in scope.budgets:
        yield Setting(epsilon=epsilon)
    if task in _FIGURE_2:
        for epsilon in scope.budgets:
            yield from _trusts(epsilon, _THREE)
    if task in _FIGURE_3:
        for parties in scope.parties:
            yield from _trusts(_FIXED, parties)


def _trusts(epsilon: float, parties: int) -> Iterator[Setting]:
    for colluders in (0, parties - 1):
        yield Setting(epsilon=epsilon, parties=parties, colluders=colluders)
