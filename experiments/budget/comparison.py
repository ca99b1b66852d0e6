"""Strict against faithful, and against answers that need no attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from experiments.budget.results import Results, Row
from experiments.budget.settings import FAITHFUL, GUARANTEES, MAJORITY, Scope
from experiments.supm.markdown import table

__all__ = ["Gap", "against_faithful", "best_faithful", "failures"]

_NONE: Final = "-"


class Gap(NamedTuple):
    """A difference of accuracies and its standard error."""

    size: float
    error: float

    @property
    def below(self) -> bool:
        """Whether it is more than one standard error below nothing."""
        return self.size < -self.error

    def __str__(self) -> str:
        """Points and their standard error, marked where below."""
        words = f"{100 * self.size:+.1f} ± {100 * self.error:.1f}"
        return f"**{words}**" if self.below else words


def best_faithful(results: Results, data: str, epsilon: float) -> Row | None:
    """Return the best of the papers' reductions at a budget, seen on the test folds."""
    found = [results.at(data, variant, epsilon) for variant in FAITHFUL]
    held = [row for row in found if row is not None]
    return max(held, key=lambda row: row.accuracy, default=None)


def against_faithful(results: Results, scope: Scope) -> str:
    """Return strict minus faithful, and strict minus majority, for all data sets."""
    names = (*scope.data, *scope.others)
    head = ("data", "majority", *(f"{epsilon:g}" for epsilon in GUARANTEES))
    parts = []
    for title, gap in (
        ("Strict minus the best faithful one", _over_faithful),
        ("Strict minus majority", _over_majority),
        ("Strict minus private majority", _over_private_majority),
    ):
        rows = [_gap_row(results, data, gap) for data in names]
        parts.append(f"{title}, in points:\n\n{table(head, rows)}")
    return "\n".join(parts)


def failures(results: Results, scope: Scope) -> list[str]:
    """Return a line for each setting in which strict is below faithful or majority."""
    lines = []
    for data in (*scope.data, *scope.others):
        for epsilon in GUARANTEES:
            lines.extend(_failure(results, data, epsilon))
    return lines


def _failure(results: Results, data: str, epsilon: float) -> list[str]:
    strict, other = results.at(data, "strict", epsilon), best_faithful(results, data, epsilon)
    found = {
        "the majority": _over_majority(results, data, epsilon),
        MAJORITY: _over_private_majority(results, data, epsilon),
        other.variant if other else "": _over_faithful(results, data, epsilon),
    }
    below = [f"{gap} to {name}" for name, gap in found.items() if gap and gap.below]
    if strict is None or not below:
        return []
    words = f"strict {100 * strict.accuracy:.1f}, majority {100 * strict.majority:.1f}"
    return [f"{data} at {epsilon:g} ({words}): {', '.join(below)}"]


def _gap_row(
    results: Results, data: str, gap: Callable[[Results, str, float], Gap | None]
) -> Sequence[str]:
    line = results.line(data, "strict")
    majority = f"{100 * line[0].majority:.1f}" if line else _NONE
    found = [gap(results, data, epsilon) for epsilon in GUARANTEES]
    return (data, majority, *(_NONE if each is None else str(each) for each in found))


def _over_faithful(results: Results, data: str, epsilon: float) -> Gap | None:
    return _between(results.at(data, "strict", epsilon), best_faithful(results, data, epsilon))


def _between(ours: Row | None, other: Row | None) -> Gap | None:
    if ours is None or other is None:
        return None
    return Gap(ours.accuracy - other.accuracy, math.hypot(ours.error, other.error))


def _over_private_majority(results: Results, data: str, epsilon: float) -> Gap | None:
    return _between(results.at(data, "strict", epsilon), results.at(data, MAJORITY, epsilon))


def _over_majority(results: Results, data: str, epsilon: float) -> Gap | None:
    strict = results.at(data, "strict", epsilon)
    return None if strict is None else Gap(strict.accuracy - strict.majority, strict.error)
