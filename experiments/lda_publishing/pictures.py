"""The pictures: the paper's figures 1, 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from experiments.lda_publishing.data import TITLES
from experiments.lda_publishing.results import Results, Row
from experiments.lda_publishing.settings import RIVAL, Scope
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

__all__ = ["draw_all"]

_DPI: Final = 90
_RC: Final[dict[Any, Any]] = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_THREE: Final = 3
_FIXED: Final = 0.2
_FIGURE_2: Final = ("money", "outside", "salary", "education")
_FIGURE_3: Final = ("salary", "education")


@dataclass(frozen=True)
class _Line:
    variant: str
    label: str
    colour: str
    style: str = "-"
    all_but_one: bool = False


_ALONE: Final = (
    _Line("faithful", "faithful: scores as they are", "#d55e00"),
    _Line("direction, their threshold", "strict direction, threshold as in the paper", "#56b4e9"),
    _Line("direction only", "strict direction and moments", "#0072b2"),
    _Line("release", "strict release", "#009e73"),
    _Line("release, made-up pairs", "learned from made-up pairs", "#009e73", ":"),
    _Line(RIVAL, "PrivBayes (dpmm)", "#cc79a7", "--"),
)
_TOGETHER: Final = (
    _Line("faithful", "faithful", "#d55e00"),
    _Line("faithful global", "faithful, global means", "#e69f00"),
    _Line("release", "strict release, nobody colludes", "#009e73"),
    _Line("release", "strict release, all but one collude", "#cc79a7", "-", all_but_one=True),
)


def draw_all(results: Results, scope: Scope, folder: Path) -> list[Path]:
    """Draw into a folder and return the files."""
    folder.mkdir(parents=True, exist_ok=True)

    def parties(tasks: Sequence[str]) -> list[str]:
        return [task for task in tasks if task in scope.tasks]

    def one(task: str, axes: Axes) -> None:
        points = [(epsilon, epsilon, 1) for epsilon in scope.budgets]
        _panel(results, task, axes, _ALONE, points)
        _budgets(axes, scope)

    def three(task: str, axes: Axes) -> None:
        points = [(epsilon, epsilon, _THREE) for epsilon in scope.budgets]
        _panel(results, task, axes, _TOGETHER, points)
        _budgets(axes, scope)

    def many(task: str, axes: Axes) -> None:
        points = [(float(count), _FIXED, count) for count in scope.parties]
        _panel(results, task, axes, _TOGETHER, points)
        axes.set_xlabel("parties")

    return [
        _save(parties(scope.tasks), one, folder / "figure1.png"),
        _save(parties(_FIGURE_2), three, folder / "figure2.png"),
        _save(parties(_FIGURE_3), many, folder / "figure3.png"),
    ]


def _save(tasks: list[str], panel: Callable[[str, Axes], None], path: Path) -> Path:
    columns = min(3 if len(tasks) != 4 else 2, len(tasks))
    rows = math.ceil(len(tasks) / columns)
    with mpl.rc_context(_RC):
        canvas = Figure(figsize=(3.6 * columns, 2.7 * rows + 0.8), dpi=_DPI, layout="constrained")
        grid = canvas.subplots(rows, columns, squeeze=False)
        for task, axes in zip(tasks, grid.flat, strict=False):
            panel(task, axes)
            axes.set_title(TITLES[task], loc="left", fontsize=9)
        canvas.legend(
            *grid.flat[0].get_legend_handles_labels(),
            fontsize=8,
            loc="outside lower center",
            ncols=2,
            frameon=False,
        )
        canvas.savefig(path, metadata={"Software": None})
    return path


def _panel(
    results: Results,
    task: str,
    axes: Axes,
    lines: Sequence[_Line],
    points: Sequence[tuple[float, float, int]],
) -> None:
    for line in lines:
        found = [(x, _row(results, task, line, epsilon, parties)) for x, epsilon, parties in points]
        shown = [(x, 100 * row.error, 100 * row.error_sd) for x, row in found if row is not None]
        if shown:
            places, means, spreads = zip(*shown, strict=True)
            low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
            high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
            axes.plot(places, means, line.style, color=line.colour, marker=".", label=line.label)
            axes.fill_between(places, low, high, color=line.colour, alpha=0.1, linewidth=0)
    for variant, style in (("majority", ":"), ("lda", "--"), ("svm", "-.")):
        plain = results.plain(task, variant)
        if plain is not None:
            words = {
                "majority": "majority class",
                "lda": "LDA, no privacy",
                "svm": "linear SVM, no privacy",
            }
            axes.axhline(
                100 * plain.error, color="0.4", linewidth=0.9, linestyle=style, label=words[variant]
            )
    axes.set_ylabel("misclassified (%)")


def _row(results: Results, task: str, line: _Line, epsilon: float, parties: int) -> Row | None:
    colluders = parties - 1 if line.all_but_one else 0
    return results.at(task, line.variant, epsilon, parties, colluders)


def _budgets(axes: Axes, scope: Scope) -> None:
    axes.set_xscale("log")
    axes.set_xticks(scope.budgets)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("epsilon (delta 0.001)")
