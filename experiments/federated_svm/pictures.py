"""The pictures: accuracy against the budget, and against what is varied beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from experiments.federated_svm.results import Results, Row
from experiments.federated_svm.settings import USUAL, Scope, Shape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

__all__ = ["draw_budgets", "draw_shapes"]

_RC: Final[dict[Any, Any]] = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_OURS: Final = {
    "strict": ("#0072b2", "-"),
    "strict, T = 4": ("#0072b2", "--"),
    "strict, one party": ("#56b4e9", ":"),
}
_LINES: Final = _OURS | {
    "paper": ("#d55e00", "-"),
    "paper, split": ("#d55e00", "--"),
    "paper, one party": ("#e69f00", ":"),
    "paper, DPML": ("#cc79a7", "-"),
}
_TITLES: Final = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10 (HOG)"}


def draw_budgets(results: Results, scope: Scope, folder: Path) -> Path:
    """Draw figure 3 into a folder and return the file."""
    with mpl.rc_context(_RC):
        canvas, panels = _canvas(len(scope.data), 1)
        for data, axes in zip(scope.data, panels[0], strict=True):
            _panel(results, scope, data, axes)
        return _saved(canvas, panels[0][0], folder / "budgets.png")


def draw_shapes(results: Results, scope: Scope, folder: Path) -> Path:
    """Draw figures 2, 4 and 5 at epsilon 1 into a folder and return the file."""
    with mpl.rc_context(_RC):
        canvas, panels = _canvas(len(scope.data), 3)
        for data, column in zip(scope.data, panels.T, strict=True):
            for axes, (label, shapes) in zip(column, _varied(scope), strict=True):
                _vary(axes, results, data, shapes)
                axes.set_xlabel(label)
            column[0].set_title(_TITLES[data])
        return _saved(canvas, panels[0][0], folder / "shapes.png")


def _canvas(across: int, down: int) -> tuple[Figure, Any]:
    size = (3.4 * across, 0.8 + 2.8 * down)
    canvas = Figure(figsize=size, dpi=90, layout="constrained")
    return canvas, canvas.subplots(down, across, squeeze=False)


def _saved(canvas: Figure, named: Axes, path: Path) -> Path:
    """Write a picture whose legend is that of one of its panels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handles = named.get_legend_handles_labels()
    canvas.legend(*handles, fontsize=8, loc="outside lower center", ncols=3, frameon=False)
    canvas.savefig(path, metadata={"Software": None})
    return path


def _varied(scope: Scope) -> list[tuple[str, dict[str, Shape]]]:
    """Return the axis of each of the three figures, and its points by name."""
    parties = len(scope.default)
    counts = sorted({*scope.components, USUAL})
    records = sorted({*scope.records, scope.default[0]})
    return [
        ("components", {str(each): (each, scope.default) for each in counts}),
        ("records of each party", {str(each): (USUAL, (each,) * parties) for each in records}),
        (
            "records of uneven parties",
            {"\n".join(map(str, each)): (USUAL, each) for each in (*scope.sizes, scope.default)},
        ),
    ]


def _vary(axes: Axes, results: Results, data: str, shapes: dict[str, Shape]) -> None:
    for method, (colour, style) in {**_OURS, "non-private": ("black", "-")}.items():
        points = [
            (place, 100 * row.accuracy)
            for place, (components, sizes) in enumerate(shapes.values())
            if (row := _at(results, data, method, components, sizes))
        ]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=colour, label=method, marker=".")
    axes.set_xticks(range(len(shapes)), list(shapes))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("accuracy of ten classes, %")


def _at(
    results: Results, data: str, method: str, components: int, sizes: tuple[int, ...]
) -> Row | None:
    budget = {} if method == "non-private" else {"epsilon": 1.0}
    return results.at(data, method, components=components, sizes=sizes, **budget)


def _panel(results: Results, scope: Scope, data: str, axes: Axes) -> None:
    for method, (colour, style) in _LINES.items():
        rows = [
            results.at(data, method, epsilon=epsilon, components=20, sizes=scope.default)
            for epsilon in scope.epsilons
        ]
        points = [(row.cell.epsilon, 100 * row.accuracy) for row in rows if row]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=colour, label=method, marker=".")
    plain = results.at(data, "non-private", components=20, sizes=scope.default)
    if plain:
        axes.axhline(100 * plain.accuracy, color="black", lw=0.8, label="non-private")
        axes.axhline(100 * plain.majority, color="grey", lw=0.8, ls=":", label="commonest class")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(_TITLES[data])
    axes.set_xlabel("epsilon")
    axes.set_ylabel("accuracy of ten classes, %")
