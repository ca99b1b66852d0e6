"""The README: bars, claims, figures, parties, attack, choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.lda_publishing.attacks import Attack, attack_table
from experiments.lda_publishing.levers import Lever, encoding_table, lever_table
from experiments.lda_publishing.results import Results
from experiments.lda_publishing.settings import Scope
from experiments.lda_publishing.tables import bars, claims, figure_table, parties_table, plain_table
from experiments.lda_publishing.views import views_table
from experiments.lda_publishing.words import (
    ATTACKS,
    BARS,
    CLAIMS,
    ENCODINGS,
    FIGURES,
    HEAD,
    LEVERS,
    PARTIES,
    PLAIN,
    VIEWS,
)

__all__ = ["Findings", "write_readme"]

_THREE = 3


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that was measured."""

    results: Results
    attacks: list[Attack]
    levers: list[Lever]


def write_readme(found: Findings, scope: Scope, pictures: Sequence[Path], path: Path) -> None:
    """Write the whole document."""
    results = found.results
    first, second, third = (f"![{each.stem}](figures/{each.name})\n" for each in pictures)
    parts = [
        HEAD,
        _scope(results, scope),
        BARS,
        bars(results),
        CLAIMS,
        claims(results, scope, found.attacks),
        PLAIN,
        plain_table(results),
        FIGURES,
        first,
        "One table:\n",
        figure_table(results, scope, 1, 0),
        second,
        "Three parties, of whom nobody colludes:\n",
        figure_table(results, scope, _THREE, 0),
        "Three parties, of whom two may collude with the server:\n",
        figure_table(results, scope, _THREE, _THREE - 1),
        PARTIES,
        third,
        parties_table(results, scope),
        VIEWS,
        views_table(scope),
        ATTACKS,
        attack_table(found.attacks),
        LEVERS,
        lever_table(found.levers),
        ENCODINGS,
        encoding_table(found.levers),
    ]
    path.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def _scope(results: Results, scope: Scope) -> str:
    seconds = sum(row.seconds for row in results.rows)
    words = (
        f"{scope.repetitions} splits, {len(results.rows)} points, "
        f"processor time {seconds / 60:.1f} minutes.\n"
    )
    if scope.name == "full":
        return f"This is the full run: {words}"
    return f"**This is the {scope.name} run, a look and no measurement:** {words}"
