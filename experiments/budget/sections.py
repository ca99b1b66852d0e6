"""The tables of the ablation and of the academic baselines."""

from __future__ import annotations

import math
from typing import Final

from experiments.budget.comparison import Gap
from experiments.budget.results import Results, Row
from experiments.budget.settings import (
    ABLATED,
    ABLATIONS,
    ACADEMIC,
    ACADEMIC_BUDGETS,
    COMPARED,
    Scope,
)
from experiments.supm.markdown import table

__all__ = ["ablation", "academic"]

_NONE: Final = "-"


def ablation(results: Results, scope: Scope) -> str:
    """Return what is left when a part is taken away: answered, and on the device in brackets."""
    rows = []
    for data in (each for each in ABLATED if each in scope.data):
        for epsilon in (each for each in COMPARED if each in scope.budgets):
            found = [results.at(data, variant, epsilon) for variant in ("strict", *ABLATIONS)]
            rows.append((data, f"{epsilon:g}", *(_both(row) for row in found)))
    return table(("data", "epsilon", "full", *ABLATIONS), rows)


def _both(row: Row | None) -> str:
    return _NONE if row is None else f"{100 * row.accuracy:.1f} ({100 * row.on_device:.1f})"


def academic(results: Results, scope: Scope) -> str:
    """Return on-device accuracies beside those of the academic baselines."""
    rows = []
    for data in scope.data:
        for epsilon in (each for each in ACADEMIC_BUDGETS if each in scope.budgets):
            ours = results.at(data, "strict", epsilon)
            theirs = [results.at(data, variant, epsilon) for variant in ACADEMIC]
            cells = [_device(row) for row in (ours, *theirs)]
            rows.append((data, f"{epsilon:g}", *cells, _over_best(ours, theirs)))
    head = ("data", "epsilon", "ours", *ACADEMIC, "ours minus the best of them")
    return table(head, rows)


def _device(row: Row | None) -> str:
    return _NONE if row is None else f"{100 * row.on_device:.1f} ± {100 * row.on_device_sd:.1f}"


def _over_best(ours: Row | None, theirs: list[Row | None]) -> str:
    best = max((row for row in theirs if row), key=lambda row: row.on_device, default=None)
    if ours is None or best is None:
        return _NONE
    error = math.hypot(ours.on_device_error, best.on_device_error)
    return str(Gap(ours.on_device - best.on_device, error))
