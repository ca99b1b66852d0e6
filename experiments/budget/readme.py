"""The README: the bars, the comparisons and what they show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.budget.bars import bars
from experiments.budget.comparison import against_faithful, failures
from experiments.budget.results import Results
from experiments.budget.sections import ablation, academic
from experiments.budget.settings import Scope, jobs_of
from experiments.budget.stage_tables import stages
from experiments.budget.stages import Stage
from experiments.budget.words import (
    ABLATION,
    ACADEMIC,
    BARS,
    COMPARISON,
    FAILURES,
    HEAD,
    PICTURES,
    STAGES,
)

__all__ = ["write_readme"]


def write_readme(
    results: Results, scope: Scope, staged: list[Stage], pictures: Sequence[Path], path: Path
) -> None:
    """Write the whole document."""
    parts = [
        HEAD,
        _scope(results, scope),
        BARS,
        bars(results),
        _pictures(pictures, path.parent),
        COMPARISON,
        against_faithful(results, scope),
        _failures(results, scope),
        ABLATION,
        ablation(results, scope),
        ACADEMIC,
        academic(results, scope),
        *((STAGES, stages(staged)) if staged else ()),
    ]
    path.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def _scope(results: Results, scope: Scope) -> str:
    seconds = sum(row.seconds for row in results.rows)
    planned = len(jobs_of(scope))
    words = (
        f"{len(results.rows)} of {planned} settings, processor time {seconds / 60:.1f} minutes. "
        "The piecewise reduction does not exist for unordered attributes.\n"
    )
    if scope.name == "full":
        return f"This is the full run: {words}"
    return f"**This is the {scope.name} run, a look and no measurement:** {words}"


def _failures(results: Results, scope: Scope) -> str:
    lines = failures(results, scope)
    if not lines:
        return "Strict is below neither in any setting.\n"
    listed = "\n".join(f"- {line}" for line in lines)
    return f"{FAILURES.format(count=len(lines))}\n{listed}\n"


def _pictures(pictures: Sequence[Path], folder: Path) -> str:
    shown = (f"![{path.stem}]({path.relative_to(folder).as_posix()})" for path in pictures)
    return PICTURES + "\n" + "\n\n".join(shown) + "\n"
