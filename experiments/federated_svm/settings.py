"""What is measured: the cells of the paper's figures 2 to 5 and of its Table 3."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

__all__ = ["DATA", "EPSILONS", "FULL", "METHODS", "QUICK", "SIZES", "Cell", "Scope", "cells_of"]

DATA: Final = ("mnist", "fashion_mnist", "cifar10")
EPSILONS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
SIZES: Final = (
    (50, 100, 500, 1000, 2000),
    (100, 500, 1000, 5000, 10_000),
    (100, 1000, 5000, 8000, 10_000),
)
METHODS: Final = {
    "non-private": "PCA and Huber SVM on all records in one place, no noise",
    "paper": "as printed: divided by N, by singular value, epsilon/2 for each of ten classes",
    "paper, split": "the same, budget split among classes, not divided by N, by eigenvalue",
    "paper, one party": "DPDR-DPML of one party, as printed",
    "paper, DPML": "the paper's machine of one party without components, as printed",
    "strict": "ours, nobody colludes (T = 0)",
    "strict, T = 4": "ours, all other parties may collude with the server",
    "strict, one party": "ours, one party alone, with the same budget",
    "strict, Huber": "ours (T = 0) with the paper's loss",
}
_DEFAULT: Final = (10_000,) * 5
_OURS: Final = ("strict", "strict, T = 4", "strict, one party")
_PAPER: Final = ("paper", "paper, split", "paper, one party")


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
    components: int = 20
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
    """Return all cells, those of the bar first; CIFAR-10, which is slow, has fewer."""
    found: list[Cell] = []
    for data in scope.data:
        found += _budgets(data, scope, scope.repetitions if data == "mnist" else 1)
    for data in scope.data:
        found += _shapes(data, scope) if data != "cifar10" else []
    return list(dict.fromkeys(found))


def _budgets(data: str, scope: Scope, times: int) -> list[Cell]:
    """Return figure 3, and what Table 3 needs beside it."""
    shared = {"data": data, "sizes": scope.default}
    cells = [Cell(method="non-private", **shared)]  # type: ignore[arg-type]  # data and sizes
    for method, epsilon in product((*_OURS, *_PAPER), scope.epsilons):
        repetitions = times if method in _OURS else 1
        cells.append(Cell(method=method, epsilon=epsilon, repetitions=repetitions, **shared))  # type: ignore[arg-type]  # data and sizes
    huber = [1.0] if 1.0 in scope.epsilons else []
    cells += [Cell(method="strict, Huber", epsilon=each, **shared) for each in huber]  # type: ignore[arg-type]  # data and sizes
    if data == "mnist":
        cells.append(Cell(method="paper, DPML", epsilon=scope.epsilons[-1], **shared))  # type: ignore[arg-type]  # data and sizes
    return cells


def _shapes(data: str, scope: Scope) -> list[Cell]:
    """Return figures 2, 4 and 5: components, records, uneven parties."""
    parties = len(scope.default)
    usual = 20
    shapes = [(count, scope.default) for count in scope.components]
    shapes += [(usual, (records,) * parties) for records in scope.records]
    shapes += [(usual, sizes) for sizes in scope.sizes]
    varied: list[dict[str, object]] = [{"components": k, "sizes": sizes} for k, sizes in shapes]
    cells = [Cell(data=data, method="non-private", **each) for each in varied]  # type: ignore[arg-type]  # fields of a cell
    for each, epsilon in product(varied, (0.1, 1.0)):
        methods = ("paper", "paper, split", "strict") if epsilon < 1 else ("strict",)
        cells += [Cell(data=data, method=name, epsilon=epsilon, **each) for name in methods]  # type: ignore[arg-type]  # fields of a cell
    return cells
