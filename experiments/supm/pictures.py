"""The figures: accuracy against the budget, always with the two lines that need no privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias

import matplotlib as mpl
import numpy as np
from experiments.supm.results import Line, Results, figure_of, shared_budgets
from experiments.supm.schedule import reading_of
from experiments.supm.settings import Curve, Data, Figure
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

__all__ = ["draw_all"]

_SIZE: Final = (6.4, 4.6)
_DPI: Final = 80
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_RC: Final[dict[Any, Any]] = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
# What paper 000 calls ODP, ODA and PW, paper 001 calls WALDP, WA and PM.
_WORDS: Final = {
    "000": {"odp": "ODP", "oda": "ODA", "pw": "PW", "wa": "WA", "rand": "Rand", "waldp": "WALDP"},
    "001": {"odp": "WALDP", "oda": "WA", "pw": "PM", "wa": "WA", "rand": "Rand", "waldp": "WALDP"},
}
# The printed points: an accuracy that a reduction reaches at a budget.
_POINTS: Final = {
    "wdbc": {"wa": (10.0, 90.29), "pw": (27.4, 90.0), "rand": (22.4, 90.0)},
    "ionosphere": {"wa": (10.2, 85.0), "pw": (41.6, 85.0), "rand": (22.8, 85.0)},
    "musk2": {"wa": (12.6, 85.0), "pw": (27.0, 85.0), "rand": (20.4, 85.0)},
}
_CROSSINGS: Final[dict[str, tuple[float, ...]]] = {"wdbc": (21.4,), "ionosphere": (13.0, 36.0)}
Drawing: TypeAlias = Callable[[Results, Data, Axes], None]


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw every figure of the scope into a folder and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [_printed(results, figure, folder) for figure in results.scope.figures]
    for data in results.scope.data:
        for name, drawing in _EXTRA.items():
            if name != "grouped" or data.grouped:
                made.append(_save(results, data, drawing, folder / f"{data.name}-{name}.png"))
    return made


def _printed(results: Results, figure: Figure, folder: Path) -> Path:
    def drawing(found: Results, data: Data, axes: Axes) -> None:
        kinds = {"sizes": _sizes, "reductions": _reductions, "phases": _phases}
        kinds[figure.kind](found, data, figure, axes)
        axes.set_title(f"Paper {figure.paper}, figure {figure.number}: {data.title}", loc="left")

    data = next(each for each in results.scope.data if each.name == figure.data)
    return _save(results, data, drawing, folder / f"figure-{figure.name}.png")


def _save(results: Results, data: Data, drawing: Drawing, path: Path) -> Path:
    with mpl.rc_context(_RC):
        canvas = Canvas(figsize=_SIZE, dpi=_DPI, layout="constrained")
        axes = canvas.add_subplot()
        drawing(results, data, axes)
        _references(results, data, axes)
        axes.set_xlabel("privacy budget epsilon")
        axes.set_ylabel(axes.get_ylabel() or f"accuracy (%), mean of {data.repeats} repetitions")
        if axes.get_legend_handles_labels()[0]:
            canvas.legend(fontsize=7, loc="outside lower center", ncols=2, frameon=False)
        canvas.savefig(path, metadata={"Software": None})
    return path


def _references(results: Results, data: Data, axes: Axes) -> None:
    raw, majority = results.baseline(data.name), results.majority(data.name)
    if len(raw):
        label = f"no noise, {raw.mean[0]:.1f}"
        axes.axhline(raw.mean[0], color="0.2", linewidth=0.8, linestyle="--", label=label)
    if majority is not None:
        label = f"majority class, {majority:.1f}"
        axes.axhline(majority, color="0.5", linewidth=0.8, linestyle=":", label=label)


def _plot(axes: Axes, line: Line, label: str, place: int, **style: Any) -> None:  # noqa: ANN401  matplotlib's own words
    """Draw the mean, and a band of one standard deviation over repetitions."""
    if not len(line):
        return
    colour = _COLOURS[place % len(_COLOURS)]
    given = {"linewidth": 1.3, "marker": ".", "markersize": 4, **style}
    axes.plot(line.epsilon, line.mean, color=colour, label=label, **given)
    low, high = line.mean - line.sd, line.mean + line.sd
    axes.fill_between(line.epsilon, low, high, color=colour, alpha=0.1, linewidth=0)


def _star(axes: Axes, point: tuple[float, float], label: str, colour: str) -> None:
    axes.scatter(*point, marker="*", s=70, color=colour, zorder=3, label=label)


def _pairs(pairs: Iterable[tuple[int, int]]) -> str:
    return " ".join(f"({keep},{classes})" for keep, classes in pairs)


def _sizes(results: Results, data: Data, figure: Figure, axes: Axes) -> None:
    curve = figure.curves[0]
    for place, pair in enumerate(curve.pairs):
        _plot(axes, results.line(data, curve, pair), f"(K, L) = {pair}", place)
    for crossing in _CROSSINGS.get(data.name, ()):
        label = f"printed crossing, {crossing:g}"
        axes.axvline(crossing, color="0.6", linewidth=0.8, linestyle="-.", label=label)


def _reductions(results: Results, data: Data, figure: Figure, axes: Axes) -> None:
    words = _WORDS[figure.paper]
    for place, curve in enumerate(figure.curves):
        label = f"DR.{words[curve.reduction]} {_pairs(curve.pairs)}"
        if reading_of(curve.reduction):
            twice = results.best(data, curve, reading="twice")
            _plot(axes, twice, f"{label}, 2 epsilon in total", place, linestyle="--")
        _plot(axes, results.best(data, curve), label, place)
        printed = f"DR.{words[curve.reduction]}, printed"
        _star(axes, _POINTS[data.name][curve.reduction], printed, _COLOURS[place])
    _plot(axes, results.noisy(data.name), f"{words['pw']} on all attributes", len(figure.curves))


def _phases(results: Results, data: Data, figure: Figure, axes: Axes) -> None:
    words = _WORDS[figure.paper]
    for place, curve in enumerate(figure.curves):
        label = f"({words[curve.train]}, {words[curve.test]}) {_pairs(curve.pairs)}"
        _plot(axes, results.best(data, curve), label, place)


def _reduction_curves(data: Data) -> Iterable[tuple[int, Curve, str]]:
    for place, curve in enumerate(figure_of(data.name, "reductions").curves):
        yield place, curve, f"DR.{_WORDS['000'][curve.reduction]}"


def _chosen(results: Results, data: Data, axes: Axes) -> None:
    for place, curve, word in _reduction_curves(data):
        best = results.best(data, curve).only(data.coarse)
        _plot(axes, best, f"{word}, best seen on the test folds", place, linestyle="--")
        _plot(axes, results.chosen(data, curve), f"{word}, chosen by inner folds", place)
    axes.set_title(f"{data.title}: who chooses (K, L)?", loc="left")


def _draws(results: Results, data: Data, axes: Axes) -> None:
    """Each repetition of DR.Rand: one draw of attributes each, and the printed point."""
    for place, curve, word in _reduction_curves(data):
        line = results.best(data, curve).only(data.grid)
        if curve.reduction != "rand" or not len(line):
            continue
        colour = _COLOURS[place]
        drawn = axes.plot(line.epsilon, line.values, color="0.8", linewidth=0.6, antialiased=False)
        drawn[0].set_label("each draw")
        label = f"{word}, mean of {line.repeats} draws of attributes"
        axes.plot(line.epsilon, line.mean, color=colour, marker=".", label=label)
        _star(axes, _POINTS[data.name]["rand"], "printed", "black")
    axes.set_title(f"{data.title}: DR.Rand depends on which attributes are drawn", loc="left")


def _searched(results: Results, data: Data, axes: Axes) -> None:
    """One line for each K, at its best L by the mean over repetitions."""
    sizes = sorted({keep for keep, _ in results.scope.searched})
    for place, keep in enumerate(sizes):
        pairs = tuple(pair for pair in results.scope.searched if pair[0] == keep)
        curve = Curve(reduction="rand", pairs=pairs)
        lines = [results.line(data, curve, p, repeats=data.search_repeats) for p in pairs]
        budgets = shared_budgets(lines)
        if budgets:
            top = np.max([line.only(budgets).mean for line in lines], axis=0)
            colour = mpl.colormaps["viridis"](place / max(1, len(sizes) - 1))
            axes.plot(budgets, top, color=colour, marker=".", label=f"K = {keep}, best L")
    axes.set_ylabel(f"accuracy (%), mean of {data.search_repeats} repetitions")
    axes.set_title(f"{data.title}: all (K, L), DR.Rand", loc="left")


def _grouped(results: Results, data: Data, axes: Axes) -> None:
    for place, curve, word in _reduction_curves(data):
        best = results.best(data, curve).only(data.coarse)
        _plot(axes, best, f"{word}, rows at random", place, linestyle="--")
        by_group = results.best(data, curve, folds="grouped")
        _plot(axes, by_group, f"{word}, whole molecules", place)
    raw = results.baseline(data.name, folds="grouped")
    if len(raw):
        label = f"no noise, whole molecules, {raw.mean[0]:.1f}"
        axes.axhline(raw.mean[0], color="0.2", linewidth=0.8, linestyle="-.", label=label)
    axes.set_title(f"{data.title}: folds of rows and folds of molecules", loc="left")


_EXTRA: Final[dict[str, Drawing]] = {
    "draws": _draws,
    "chosen": _chosen,
    "searched": _searched,
    "grouped": _grouped,
}
