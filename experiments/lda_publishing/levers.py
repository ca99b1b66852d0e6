"""What was tried before the defaults were chosen: each choice alone, all others as they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from experiments.lda_publishing.data import encoded
from experiments.lda_publishing.settings import DELTA, Scope
from experiments.lda_publishing.work import Split, noisy_run
from experiments.supm.markdown import table
from numpy.typing import NDArray

from supm.federation.discriminant import Discriminant
from supm.federation.protocol import Circle
from supm.learning.directions import ClassMoments

__all__ = ["Lever", "encoding_table", "lever_table", "measure_levers"]

Floats = NDArray[np.float64]

_BUDGETS: Final = (0.05, 0.1, 0.4, 0.8)
_TASKS: Final = ("money", "salary", "education")
_ENCODED: Final = ("salary", "education")
_DEFAULT: Final = "defaults: ratio 1, share 0.7, 64 bins, lifted, positions"
_PLANS: Final[dict[str, dict[str, Any]]] = {
    _DEFAULT: {},
    "ratio 0.7": {"ratio": 0.7},
    "ratio 1.41": {"ratio": 2**0.5},
    "ratio 2": {"ratio": 2.0},
    "share 0.6": {"share": 0.6},
    "share 0.8": {"share": 0.8},
    "32 bins": {"bins": 32},
    "128 bins": {"bins": 128},
}
# Of the direction alone, with the threshold that is best in training.
_SPECTRA: Final = (
    "direction: lifted (default)",
    "direction: lifted to the edge",
    "direction: bare inverse",
    "direction: floor at half the edge",
    "direction: floor at the edge",
    "direction: ridge of the edge",
)
_WIDE: Final = "indicators"
_ENCODINGS: Final[dict[str, dict[str, Any]]] = {
    _WIDE: {"categories": "indicators"},
    "norm 0.8 of the longest": {"shrunk": 0.8},
}


@dataclass(frozen=True, kw_only=True)
class Lever:
    """One choice at one budget of one task: error, and excess over LDA without privacy."""

    choice: str
    task: str
    epsilon: float
    error: float
    excess: float
    spread: float


def measure_levers(scope: Scope) -> list[Lever]:
    """Measure all choices."""
    found: dict[tuple[str, str, float], list[tuple[float, float]]] = defaultdict(list)
    for task in (task for task in _TASKS if task in scope.tasks):
        for choice, error, base, epsilon in _choices(task, scope.levers):
            found[choice, task, epsilon].append((100 * error, 100 * (error - base)))
    return [
        Lever(
            choice=choice,
            task=task,
            epsilon=epsilon,
            error=float(np.mean(numbers, axis=0)[0]),
            excess=float(np.mean(numbers, axis=0)[1]),
            spread=float(np.std(numbers, axis=0)[1] / len(numbers) ** 0.5),
        )
        for (choice, task, epsilon), numbers in found.items()
    ]


def lever_table(levers: list[Lever]) -> str:
    """Return the table: a row for each choice, a column for each task and budget."""
    columns = list(dict.fromkeys((lever.task, lever.epsilon) for lever in levers))
    cells = {
        (lever.choice, lever.task, lever.epsilon): f"{lever.excess:.2f} ± {lever.spread:.2f}"
        for lever in levers
    }
    head = ("choice", *(f"{task} {epsilon:g}" for task, epsilon in columns))
    rows = [
        (choice, *(cells.get((choice, *column), "-") for column in columns))
        for choice in (*_PLANS, *_SPECTRA, *_ENCODINGS, *(f"{each}, {_WIDE}" for each in _SPECTRA))
    ]
    return table(head, rows)


def encoding_table(levers: list[Lever]) -> str:
    """Return errors, not differences, of the release with each encoding."""
    shown = (_DEFAULT, *_ENCODINGS)
    found = [lever for lever in levers if lever.choice in shown and lever.task in _ENCODED]
    rows = [
        (
            "positions" if lever.choice == _DEFAULT else lever.choice,
            lever.task,
            f"{lever.epsilon:g}",
            f"{lever.error - lever.excess:.1f}",
            f"{lever.error:.1f}",
        )
        for lever in sorted(found, key=lambda each: (each.task, each.epsilon))
    ]
    return table(("encoding", "task", "epsilon", "LDA without privacy", "release"), rows)


def _choices(task: str, repetitions: int) -> Iterator[tuple[str, float, float, float]]:
    splits = {"": encoded(task)[1]}
    if task in _ENCODED:
        splits |= {name: encoded(task, **how)[1] for name, how in _ENCODINGS.items()}
    for seed in range(repetitions):
        for name, rows in splits.items():
            split = Split(rows, seed)
            base = split.plain()["lda"]
            for epsilon in _BUDGETS:
                for choice, error in _errors(split, epsilon, name):
                    yield choice, error, base, epsilon


def _errors(split: Split, epsilon: float, encoding: str) -> Iterator[tuple[str, float]]:
    plans = {encoding: {}} if encoding else _PLANS
    for choice, how in plans.items():
        plan = Discriminant.for_budget(
            encoding=split.encoding, epsilon=epsilon, delta=DELTA, circle=Circle(parties=1), **how
        )
        outcome = noisy_run(plan, split, f"lever {choice} {epsilon}")
        yield choice, split.errors(outcome.predict(split.vectors[1]))
        if choice in (_DEFAULT, _WIDE):
            rows = "" if choice == _DEFAULT else f", {_WIDE}"
            for spectrum in _SPECTRA:
                yield spectrum + rows, split.along(_other(outcome.moments, spectrum))


def _other(moments: ClassMoments, spectrum: str) -> Floats:
    """Return the direction with another way to treat small eigenvalues."""
    values, vectors = np.linalg.eigh(moments.within)
    edge, lift = moments.edge, moments.lift
    kinds = (
        (values + np.sqrt(np.square(values) + 4 * lift**2)) / 2,
        (values + np.sqrt(np.square(values) + 4 * edge**2)) / 2,
        values,
        np.maximum(values, edge / 2),
        np.maximum(values, edge),
        np.maximum(values, 0.0) + edge,
    )
    treated = kinds[_SPECTRA.index(spectrum)]
    apart = vectors.T @ (moments.means[1] - moments.means[0])
    direction: Floats = vectors @ (apart / treated)
    return direction
