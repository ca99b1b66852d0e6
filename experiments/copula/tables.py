"""The figures as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from experiments.copula.data import REAL, TITLES, names_of
from experiments.copula.made_up import ATTRIBUTES
from experiments.copula.results import Results, Summary
from experiments.copula.settings import LEARNERS, METHODS, Scope

__all__ = ["attributes_of", "budget_table", "grid", "number", "ratio", "ratio_table", "size_table"]

_GREATEST: Final = 1000.0


def attributes_of(data: str) -> int:
    """Return how many attributes a table has, the target among them."""
    return len(names_of(data)) if data in REAL else ATTRIBUTES


def grid(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def number(value: float) -> str:
    """Return an error in few characters."""
    if value >= _GREATEST:
        return f"{value:.1e}".replace("e+0", "e")
    return f"{value:.4f}" if value < 1 else f"{value:.3g}"


def budget_table(results: Results, scope: Scope, data: str, records: int) -> str:
    """Return the errors of all methods at all budgets, the budget of a record in the second row."""
    total = attributes_of(data)
    heads = ["epsilon per attribute", *(f"{epsilon:g}" for epsilon in scope.epsilons)]
    body = [["epsilon per record", *(f"{total * epsilon:g}" for epsilon in scope.epsilons)]]
    for method in METHODS:
        found = [results.at(data, method, epsilon, records) for epsilon in scope.epsilons]
        body.append([method, *map(_both, found)])
    times = _repetitions([results.at(data, "paper", each, records) for each in scope.epsilons])
    return f"### {TITLES[data]} ({total} attributes, {times} x 5 folds)\n\n{grid(heads, body)}"


def size_table(results: Results, scope: Scope, data: str) -> str:
    """Return the errors at epsilon 1 with ever more records."""
    heads = ["records", *(f"{size:,}" for size in scope.sizes)]
    body = []
    for method in METHODS:
        found = [results.at(data, method, 1.0, size) for size in scope.sizes]
        body.append([method, *map(_spread, found)])
    times = _repetitions([results.at(data, "paper", 1.0, size) for size in scope.sizes])
    return f"### {TITLES[data]} ({times} x 5 folds)\n\n{grid(heads, body)}"


def ratio(
    results: Results, data: str, epsilon: float, learner: str, part: str, records: int = 0
) -> float | None:
    """Return by how much the paper's rows raise an error of a learner; None if not measured."""
    before = results.at(data, "noisy data", epsilon, records, learner)
    after = results.at(data, "paper", epsilon, records, learner)
    if before is None or after is None:
        return None
    return float((getattr(after, part) - getattr(before, part)) / getattr(before, part))


def ratio_table(results: Results, scope: Scope, data: str) -> str:
    """Return the increase of both errors for each learner, and the squared errors behind it."""
    heads = ["epsilon per attribute", *(f"{epsilon:g}" for epsilon in scope.epsilons)]
    body = []
    for learner in LEARNERS:
        for part in ("mse", "mae"):
            found = [
                ratio(results, data, epsilon, learner, part, scope.records)
                for epsilon in scope.epsilons
            ]
            cells = ["-" if value is None else f"{value:+.2f}" for value in found]
            body.append([f"{learner}, increase of the {part.upper()}", *cells])
        for method in ("noisy data", "paper", "strict copula"):
            summaries = [
                results.at(data, method, epsilon, scope.records, learner)
                for epsilon in scope.epsilons
            ]
            cells = [number(each.mse) if each else "-" for each in summaries]
            body.append([f"{learner}, MSE, {method}", *cells])
    others = [results.at(data, "paper", each, scope.records, "kNN") for each in scope.epsilons]
    return f"### {TITLES[data]} ({_repetitions(others)} x 5 folds)\n\n{grid(heads, body)}"


def _both(found: Summary | None) -> str:
    return f"{number(found.mse)} / {number(found.mae)}" if found else "-"


def _spread(found: Summary | None) -> str:
    return f"{number(found.mse)} ± {number(found.sd)}" if found else "-"


def _repetitions(found: Iterable[Summary | None]) -> str:
    times = sorted({each.repetitions for each in found if each})
    return " to ".join(map(str, dict.fromkeys((times[0], times[-1])))) if times else "0"
