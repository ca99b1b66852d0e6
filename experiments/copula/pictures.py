"""The pictures: figures 5 to 11 of the paper, with a second scale for the budget of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from experiments.copula.data import TITLES
from experiments.copula.pairs import clean_pair
from experiments.copula.results import Results, Summary
from experiments.copula.settings import LEARNERS, Scope
from experiments.copula.tables import attributes_of, ratio
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

__all__ = ["draw_all"]

_RC: Final[dict[Any, Any]] = {"font.size": 9, "axes.spines.right": False}
_LINES: Final = {
    "constant": ("black", "-"),
    "middle": ("black", "--"),
    "noisy constant": ("black", ":"),
    "noisy data": ("#999999", "-"),
    "augmentation": ("#999999", "--"),
    "plain copula": ("#999999", ":"),
    "IDUE(R)": ("#cc79a7", "-"),
    "IDUE(O)": ("#cc79a7", "--"),
    "paper": ("#d55e00", "-"),
    "strict copula": ("#009e73", "-"),
    "noise-aware": ("#0072b2", "-"),
}
_BARS: Final = ("paper", "strict copula", "noise-aware")
_LEARNERS: Final = dict(zip(LEARNERS, ("#d55e00", "#009e73", "#0072b2", "#cc79a7"), strict=True))

_TOP: Final = 2.0

Drawing = Callable[[Axes, str], None]


def draw_all(results: Results, scope: Scope, folder: Path) -> None:
    """Draw all figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    real, made_up, first = list(scope.real), list(scope.distributions), scope.sizes[0]

    def budgets(axes: Axes, data: str) -> None:
        _errors(axes, results, data, scope, scope.records if data in scope.real else first)

    _save(folder / "figure5.png", made_up, budgets)
    _save(folder / "figure6.png", made_up, lambda axes, data: _sizes(axes, results, data, scope))
    _save(folder / "figure7.png", made_up, lambda axes, data: _spreads(axes, results, data, scope))
    _save(folder / "figure8.png", real, budgets)
    squared, absolute = (
        partial(_ratios, results, scope, "mse"),
        partial(_ratios, results, scope, "mae"),
    )
    _save(folder / "figure9.png", real, squared)
    _save(folder / "figure10.png", real, absolute)
    _save(folder / "figure2.png", ["boston"], lambda axes, _: _cuts(axes, results, scope))
    _save(folder / "figure11.png", ["boston"], lambda axes, _: _correlations(axes, results, scope))


def _save(path: Path, panels: Sequence[str], drawing: Drawing) -> None:
    columns = 2 if len(panels) == 4 else len(panels)
    rows = -(-len(panels) // columns)
    width = 5.4 if len(panels) == 1 else 3.7 * columns
    with mpl.rc_context(_RC):
        canvas = Figure(figsize=(width, 3.1 * rows + 0.8), dpi=90, layout="constrained")
        grid = canvas.subplots(rows, columns, squeeze=False)
        for data, axes in zip(panels, grid.flat, strict=True):
            drawing(axes, data)
        handles = grid.flat[0].get_legend_handles_labels()
        canvas.legend(*handles, fontsize=8, loc="outside lower center", ncols=4, frameon=False)
        canvas.savefig(path, metadata={"Software": None})


def _errors(axes: Axes, results: Results, data: str, scope: Scope, records: int) -> None:
    for method in _LINES:
        found = [(each, results.at(data, method, each, records)) for each in scope.epsilons]
        _line(axes, method, found)
    _error_scale(axes)
    _budget_scales(axes, data, scope)


def _line(axes: Axes, method: str, found: Iterable[tuple[float, Summary | None]]) -> None:
    colour, style = _LINES[method]
    points = [(place, each.mse) for place, each in found if each]
    if points:
        axes.plot(*zip(*points, strict=True), style, color=colour, label=method, marker=".")


def _sizes(axes: Axes, results: Results, data: str, scope: Scope) -> None:
    for method in _LINES:
        found = [(size, results.at(data, method, 1.0, size)) for size in scope.sizes]
        _line(axes, method, found)
    _error_scale(axes)
    _size_scale(axes, data, scope)


def _error_scale(axes: Axes) -> None:
    axes.set_ylabel("mean squared error")
    axes.set_yscale("log")
    # A constant in the range is never wrong by more than 1: what lies above need not be told apart.
    axes.set_ylim(top=_TOP)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))


def _spreads(axes: Axes, results: Results, data: str, scope: Scope) -> None:
    for place, method in enumerate(_BARS):
        found = [(size, results.at(data, method, 1.0, size)) for size in scope.sizes]
        known = [(size * (1 + 0.04 * (place - 1)), each) for size, each in found if each]
        heights, spreads = [each.mse for _, each in known], [each.sd for _, each in known]
        style: dict[str, Any] = {"color": _LINES[method][0], "marker": ".", "capsize": 3}
        axes.errorbar([size for size, _ in known], heights, spreads, label=method, **style)
    constants = [(size, results.at(data, "constant", 1.0, size)) for size in scope.sizes]
    _line(axes, "constant", constants)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("mean squared error")
    _size_scale(axes, data, scope)


def _size_scale(axes: Axes, data: str, scope: Scope) -> None:
    total = attributes_of(data)
    axes.set_xscale("log")
    axes.set_xticks(scope.sizes, [f"{size:,}" for size in scope.sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("records")
    axes.spines["top"].set_visible(False)
    axes.set_title(f"{TITLES[data]}\nepsilon 1 per attribute, {total} per record", fontsize=9)


def _budget_scales(axes: Axes, data: str, scope: Scope) -> None:
    """Put the budget of an attribute below and that of a record above."""
    total = attributes_of(data)
    axes.set_xscale("log")
    scale = (lambda x: np.multiply(x, total), lambda x: np.divide(x, total))
    above = axes.secondary_xaxis("top", functions=scale)
    for axis in (axes.xaxis, above.xaxis):
        axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("epsilon per attribute")
    above.set_xlabel(f"{TITLES[data]}: epsilon per record")
    axes.set_xlim(min(scope.epsilons) * 0.8, max(scope.epsilons) * 1.25)


def _ratios(results: Results, scope: Scope, part: str, axes: Axes, data: str) -> None:
    for learner, colour in _LEARNERS.items():
        found = [
            (epsilon, ratio(results, data, epsilon, learner, part, scope.records))
            for epsilon in scope.epsilons
        ]
        points = [(epsilon, value) for epsilon, value in found if value is not None]
        if points:
            axes.plot(*zip(*points, strict=True), color=colour, label=learner, marker=".")
    axes.axhline(0, color="black", lw=0.8)
    # Below -1 there is nothing; far above 1 only the sign matters.
    axes.set_yscale("symlog", linthresh=1.0, linscale=1.5)
    axes.set_ylim(-1.05, None)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axes.set_ylabel(f"increase of the {part.upper()}")
    _budget_scales(axes, data, scope)


def _cuts(axes: Axes, results: Results, scope: Scope) -> None:
    for place, method in enumerate(("noisy data", "paper", "strict copula")):
        for epsilon in scope.epsilons:
            cuts = [pair.split for pair in results.pair(method, epsilon)]
            where = np.full(len(cuts), epsilon * (0.88 + 0.12 * place))
            label = method if epsilon == scope.epsilons[0] else None
            axes.plot(where, cuts, ".", color=_LINES[method][0], label=label, ms=4)
    axes.axhline(clean_pair().split, color="black", lw=0.8, label="clean records")
    axes.set_ylabel("crime rate at the best cut")
    axes.set_yscale("symlog", linthresh=10)
    axes.set_yticks([-1000, -100, -10, 0, 10, 100, 1000])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    _budget_scales(axes, "boston", scope)


def _correlations(axes: Axes, results: Results, scope: Scope) -> None:
    for method in ("noisy data", "paper", "strict copula"):
        found = {each: results.pair(method, each) for each in scope.epsilons}
        known = {key: [pair.correlation for pair in pairs] for key, pairs in found.items() if pairs}
        middle, spread = [np.mean(each) for each in known.values()], [*map(np.std, known.values())]
        style: dict[str, Any] = {"color": _LINES[method][0], "marker": ".", "capsize": 3}
        axes.errorbar(list(known), middle, spread, label=method, **style)
    axes.axhline(clean_pair().correlation, color="black", lw=0.8, label="clean records")
    axes.set_ylabel("correlation of crime and price")
    _budget_scales(axes, "boston", scope)
