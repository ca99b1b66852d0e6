"""What is measured: the cells of the paper's figures 2 to 5 and of its Table 3."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Final, TypeAlias

__all__ = [
    "DATA",
    "EPSILONS",
    "FULL",
    "METHODS",
    "QUICK",
    "SHAPED",
    "SIZES",
    "USUAL",
    "Cell",
    "Scope",
    "Shape",
    "cells_of",
    "shapes_of",
]

DATA: Final = ("mnist", "fashion_mnist", "cifar10")
EPSILONS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
SIZES: Final = (
    (50, 100, 500, 1000, 2000),
    (100, 500, 1000, 5000, 10_000),
    (100, 1000, 5000, 8000, 10_000),
)
METHODS: Final = {
    "non-private": "PCA and Huber SVM (lambda 10^-4) on all records in one place, no noise",
    "non-private, softmax": "the same with softmax regression (lambda 10^-5), our default",
    "paper": "as printed: divided by N, by singular value, epsilon/2 for each of ten classes",
    "paper, split": "the same, budget split among classes, not divided by N, by eigenvalue",
    "paper, one party": "DPDR-DPML of one party, as printed",
    "paper, DPML": "the paper's machine of one party without components, as printed",
    "strict": "ours with softmax regression, nobody colludes (T = 0)",
    "strict, T = 4": "the same, all other parties may collude with the server",
    "strict, one party": "the same, one party alone, with the same budget",
    "strict, Huber": "ours (T = 0) with the paper's loss, so its support vector machine",
}
USUAL: Final = 20
"""Components, where nothing else is said."""
_DEFAULT: Final = (10_000,) * 5
_OURS: Final = ("strict", "strict, T = 4", "strict, one party")
_PAPER: Final = ("paper", "paper, split", "paper, one party")
SHAPED: Final = (
    *(("paper", 0.1), ("paper, split", 0.1), ("paper, one party", 0.1)),
    *product(_OURS, (0.1, 1.0)),
)
"""Methods and budgets of figures 2, 4 and 5, besides the one without privacy."""
Shape: TypeAlias = tuple[int, tuple[int, ...]]
"""How many components, and how many records each party has."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One point of a figure.

    Parameters
    ----------
    data, method : str
        Which images, and how they are learned from.
    epsilon : float
        The budget of all of it; delta is 10^-4.
    components : int
        The paper's k.
    sizes : tuple of int
        How many records each party has.
    repetitions : int
        How often it is run, each time with other records and other noise.
    """

    data: str
    method: str
    epsilon: float = 0.1
    components: int = USUAL
    sizes: tuple[int, ...] = _DEFAULT
    repetitions: int = 1


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much is measured."""

    name: str
    data: tuple[str, ...]
    epsilons: tuple[float, ...]
    components: tuple[int, ...]
    records: tuple[int, ...]
    sizes: tuple[tuple[int, ...], ...]
    repetitions: int
    default: tuple[int, ...] = _DEFAULT


FULL: Final = Scope(
    name="full",
    data=DATA,
    epsilons=EPSILONS,
    components=(5, 10, 50, 100),
    records=(100, 500, 1000, 5000),
    sizes=SIZES,
    repetitions=3,
)
QUICK: Final = Scope(
    name="quick",
    data=("mnist",),
    epsilons=(1.0,),
    components=(5,),
    records=(),
    sizes=(),
    repetitions=1,
    default=(200,) * 2,
)


def cells_of(scope: Scope) -> list[Cell]:
    """Return all cells: those of the bar first, and those of figure 3 before the others."""
    found: list[Cell] = []
    for part in (_budgets, _shapes):
        for data in scope.data:
            found += part(data, scope)
    return list(dict.fromkeys(found))


def shapes_of(scope: Scope) -> list[Shape]:
    """Return what is varied in figures 2, 4 and 5, the default not among it."""
    parties = len(scope.default)
    shapes = [(count, scope.default) for count in scope.components]
    shapes += [(USUAL, (records,) * parties) for records in scope.records]
    return shapes + [(USUAL, sizes) for sizes in scope.sizes]


def _budgets(data: str, scope: Scope) -> list[Cell]:
    """Return figure 3, and what Table 3 needs beside it."""
    shared: dict[str, Any] = {"data": data, "sizes": scope.default}
    cells = [Cell(method=each, **shared) for each in ("non-private", "non-private, softmax")]
    for method, epsilon in product((*_OURS, *_PAPER), scope.epsilons):
        repetitions = scope.repetitions if method in _OURS else 1
        cells.append(Cell(method=method, epsilon=epsilon, repetitions=repetitions, **shared))
    huber = [1.0] if 1.0 in scope.epsilons else []
    cells += [Cell(method="strict, Huber", epsilon=each, **shared) for each in huber]
    cells += [Cell(method="paper, DPML", epsilon=each, **shared) for each in scope.epsilons]
    return cells


def _shapes(data: str, scope: Scope) -> list[Cell]:
    """Return figures 2, 4 and 5: components, records, uneven parties."""
    cells = []
    for components, sizes in shapes_of(scope):
        shared: dict[str, Any] = {"data": data, "components": components, "sizes": sizes}
        cells.append(Cell(method="non-private", **shared))
        cells += [Cell(method=name, epsilon=epsilon, **shared) for name, epsilon in SHAPED]
    return cells
