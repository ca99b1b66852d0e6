"""The picture: accuracy against the budget, one panel for each data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from experiments.federated_svm.results import Results
from experiments.federated_svm.settings import Scope
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

__all__ = ["draw"]

_RC: Final[dict[Any, Any]] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LINES: Final = {
    "strict": ("#0072b2", "-"),
    "strict, T = 4": ("#0072b2", "--"),
    "strict, one party": ("#56b4e9", ":"),
    "paper": ("#d55e00", "-"),
    "paper, split": ("#d55e00", "--"),
    "paper, one party": ("#e69f00", ":"),
}
_TITLES: Final = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10 (HOG)"}


def draw(results: Results, scope: Scope, folder: Path) -> Path:
    """Draw figure 3 into a folder and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "budgets.png"
    with mpl.rc_context(_RC):
        width = 3.4 * len(scope.data)
        canvas = Figure(figsize=(width, 3.6), dpi=90, layout="constrained")
        panels = canvas.subplots(1, len(scope.data), squeeze=False)[0]
        for data, axes in zip(scope.data, panels, strict=True):
            _panel(results, scope, data, axes)
        handles = panels[0].get_legend_handles_labels()
        canvas.legend(*handles, fontsize=8, loc="outside lower center", ncols=3, frameon=False)
        canvas.savefig(path, metadata={"Software": None})
    return path


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
