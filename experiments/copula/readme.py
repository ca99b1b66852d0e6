"""The README: goals, claims, figures as tables."""

from __future__ import annotations

from pathlib import Path

from experiments.copula import words
from experiments.copula.bars import (
    against_constant,
    against_paper,
    made_up_against_constant,
    with_more_rows,
)
from experiments.copula.claims import claims
from experiments.copula.results import Results
from experiments.copula.settings import METHODS, Scope, jobs_of
from experiments.copula.tables import budget_table, ratio_table, size_table

__all__ = ["write_readme"]


def write_readme(results: Results, scope: Scope, path: Path) -> None:
    """Write the whole document."""
    parts = [
        words.HEAD,
        _scope(results, scope),
        _methods(),
        words.BARS,
        against_paper(results, scope),
        with_more_rows(results, scope),
        words.CONSTANT,
        against_constant(results, scope),
        words.MADE_UP,
        made_up_against_constant(results, scope),
        words.CLAIMS,
        claims(results, scope),
        *_figures(results, scope),
    ]
    path.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def _figures(results: Results, scope: Scope) -> list[str]:
    first = scope.sizes[0]
    return [
        words.FIGURE8,
        _picture(8),
        *(budget_table(results, scope, data, scope.records) for data in scope.real),
        words.FIGURE5,
        _picture(5),
        *(budget_table(results, scope, data, first) for data in scope.distributions),
        words.FIGURE6,
        _picture(6),
        _picture(7),
        *(size_table(results, scope, data) for data in scope.distributions),
        words.FIGURE9.format(few=scope.few),
        _picture(9),
        _picture(10),
        *(ratio_table(results, scope, data) for data in scope.learners),
        words.CUTS.format(samples=scope.few, pairs=scope.pairs),
        _picture(2),
        _picture(11),
    ]


def _picture(number: int) -> str:
    return f"![figure {number}](figures/figure{number}.png)\n"


def _scope(results: Results, scope: Scope) -> str:
    done, wanted = len({row.job for row in results.rows}), len(jobs_of(scope))
    minutes = sum(row.seconds for row in results.rows) / 60
    said = (
        f"{done} of {wanted} jobs (five folds of a group of methods in a setting), processor time "
        f"{minutes:.1f} minutes on one core. The paper repeats 10 x 5 folds; here it is "
        f"{_times(scope.real)} for trees, {_times(scope.learners)} for the other learners, and "
        f"{scope.made_up} for the made-up tables. A copula gives {scope.samples:,} rows "
        f"({scope.few:,} of the made-up tables and for the other learners), not 100,000.\n"
    )
    if scope.name == "full":
        return f"This is the full run: {said}"
    return f"**This is the {scope.name} run, a look and no measurement:** {said}"


def _times(repetitions: dict[str, int]) -> str:
    return ", ".join(f"{times} ({data})" for data, times in repetitions.items())


def _methods() -> str:
    return "\n".join(f"- *{name}*: {said}." for name, said in METHODS.items()) + "\n"
