"""The pictures: accuracy against the budget for the data sets of the issue."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from experiments.budget.comparison import best_faithful
from experiments.budget.results import Results, Row
from experiments.budget.settings import ACADEMIC, GUARANTEES, Scope
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

__all__ = ["draw_all"]

_DPI: Final = 90
_OURS, _THEIRS, _DEVICE = "#0072b2", "#d55e00", "#009e73"
_COLOURS: Final = ("#d55e00", "#cc79a7", "#e69f00")
_RC: Final[dict[Any, Any]] = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_TITLES: Final = {"wdbc": "WDBC", "ionosphere": "Ionosphere", "musk2": "Musk 2", "adult": "Adult"}
# What the papers print: the budget at which an accuracy is reached with DR.Rand and with DR.PW.
_CLAIMS: Final = {
    "wdbc": ((22.4, 90.0), (27.4, 90.0)),
    "ionosphere": ((22.8, 85.0), (41.6, 85.0)),
    "musk2": ((20.4, 85.0), (27.0, 85.0)),
}
_TICKS: Final = (0.5, 1, 2, 4, 8, 16, 32)

Drawing = Callable[[Results, str, Axes], None]


def draw_all(results: Results, scope: Scope, folder: Path) -> list[Path]:
    """Draw into a folder and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings = {"budgets.png": _budgets, "academic.png": _academic}
    return [_save(results, scope, drawing, folder / name) for name, drawing in drawings.items()]


def _save(results: Results, scope: Scope, drawing: Drawing, path: Path) -> Path:
    columns = min(3, len(scope.data))
    rows = math.ceil(len(scope.data) / columns)
    with mpl.rc_context(_RC):
        canvas = Figure(figsize=(3.4 * columns, 2.9 * rows + 0.6), dpi=_DPI, layout="constrained")
        grid = canvas.subplots(rows, columns, squeeze=False)
        for data, axes in zip(scope.data, grid.flat, strict=False):
            drawing(results, data, axes)
            _finish(results, data, axes)
        # The first panel has every kind of mark.
        canvas.legend(
            *grid.flat[0].get_legend_handles_labels(),
            fontsize=8,
            loc="outside lower center",
            ncols=3,
            frameon=False,
        )
        canvas.savefig(path, metadata={"Software": None})
    return path


def _budgets(results: Results, data: str, axes: Axes) -> None:
    strict = results.line(data, "strict")
    _plot(axes, strict, "accuracy_sd", (_OURS, "strict, randomised answer"))
    _plot(axes, strict, "on_device_sd", (_DEVICE, "strict, on the device"))
    found = [best_faithful(results, data, epsilon) for epsilon in GUARANTEES]
    _plot(
        axes,
        [row for row in found if row is not None],
        "accuracy_sd",
        (_THEIRS, "faithful, best private reduction"),
    )
    for place, point in enumerate(_CLAIMS.get(data, ())):
        label = "" if place else "claimed in the papers"
        axes.scatter(*point, marker="*", s=60, color="0.1", zorder=3, label=label)


def _academic(results: Results, data: str, axes: Axes) -> None:
    shown = [(results.line(data, variant), variant) for variant in ACADEMIC]
    budgets = {row.epsilon for line, _ in shown for row in line}
    ours = [row for row in results.line(data, "strict") if row.epsilon in budgets]
    _plot(axes, ours, "on_device_sd", (_OURS, "ours"))
    for (line, variant), colour in zip(shown, _COLOURS, strict=True):
        label = f"{variant} ({_repetitions(line)} repetitions)"
        _plot(axes, line, "on_device_sd", (colour, label))


def _plot(axes: Axes, line: list[Row], spread: str, look: tuple[str, str]) -> None:
    """Draw the mean, and a band of one standard deviation over repetitions."""
    if not line:
        return
    colour, label = look
    budgets = np.array([row.epsilon for row in line])
    mean = 100 * np.array([getattr(row, spread.removesuffix("_sd")) for row in line])
    reach = 100 * np.array([getattr(row, spread) for row in line])
    axes.plot(budgets, mean, color=colour, linewidth=1.3, marker=".", markersize=4, label=label)
    axes.fill_between(budgets, mean - reach, mean + reach, color=colour, alpha=0.12, linewidth=0)


def _repetitions(line: list[Row]) -> str:
    found = sorted({row.repetitions for row in line}) or [0]
    return f"{found[0]}" if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _finish(results: Results, data: str, axes: Axes) -> None:
    line = results.line(data, "strict")
    if line:
        axes.axhline(
            100 * line[0].majority,
            color="0.5",
            linewidth=0.8,
            linestyle=":",
            label="majority class",
        )
    title = f"{_TITLES.get(data, data)}, {_repetitions(line)} repetitions"
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_xscale("log")
    axes.set_xticks(_TICKS)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("epsilon")
    axes.set_ylabel("accuracy (%)")
