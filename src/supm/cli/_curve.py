"""What budgets buy: lines that rise with epsilon, between levels that do not depend on it.

The colours are those of Okabe and Ito, which everybody can tell apart; line styles and marks differ
too, so that the picture can be read without colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["Curve", "Kind", "Level", "Line", "add_legend", "draw", "draw_curve"]

Kind: TypeAlias = Literal["answered", "device", "papers", "limit", "open", "constant"]

_STYLES: Final[dict[str, dict[str, Any]]] = {
    "answered": {"color": "#0072B2", "marker": "o", "linestyle": "-", "zorder": 4},
    "device": {"color": "#009E73", "marker": "s", "linestyle": "-.", "zorder": 3},
    "papers": {"color": "#CC79A7", "marker": "^", "linestyle": (0, (5, 1)), "zorder": 2.5},
    "limit": {"color": "#0072B2", "linestyle": "-", "linewidth": 0.8, "alpha": 0.7},
    "open": {"color": "#D55E00", "linestyle": "--"},
    "constant": {"color": "#666666", "linestyle": ":"},
}
# Budgets that span more than this factor are read better on a logarithmic axis.
_LINEAR: Final = 6.0
_MOST_TICKS: Final = 12


@dataclass(frozen=True, kw_only=True)
class Line:
    """Something that depends on the budget.

    Parameters
    ----------
    name : str
        What the legend says.
    kind : str
        Which style it has.
    places, values : tuple of float
        Budgets, rising, and what is reached with each.
    spread : tuple of float, optional
        Its standard deviation over the repetitions.
    """

    name: str
    kind: Kind
    places: tuple[float, ...]
    values: tuple[float, ...]
    spread: tuple[float, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Level:
    """Something that does not depend on the budget.

    Parameters
    ----------
    name : str
        What the legend says.
    kind : str
        Which style it has.
    value : float
        Where it is.
    """

    name: str
    kind: Kind
    value: float


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What is drawn.

    Parameters
    ----------
    title : str
        Whose data, and how the figures came about.
    epsilons : tuple of float
        The budgets, rising.
    lines : tuple of Line
        What depends on the budget.
    levels : tuple of Level
        What does not.
    budget, measure : str
        What the two axes say.
    """

    title: str
    epsilons: tuple[float, ...]
    lines: tuple[Line, ...]
    levels: tuple[Level, ...]
    budget: str
    measure: str


def draw(curve: Curve, path: str) -> None:
    """Draw what budgets buy.

    Parameters
    ----------
    curve : Curve
        What to draw.
    path : str
        Where to write it; the ending says in which format.
    """
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    draw_curve(panel, curve)
    add_legend(figure, panel)
    figure.savefig(path, dpi=150)


def draw_curve(panel: Any, curve: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    """Draw what budgets buy into a panel of a larger picture.

    Parameters
    ----------
    panel : Axes
        Where to draw.
    curve : Curve
        What to draw.
    """
    for line in curve.lines:
        _draw_line(panel, line)
    for level in curve.levels:
        panel.axhline(level.value, label=level.name, **_STYLES[level.kind])
    _label(panel, curve)


def add_legend(figure: Any, panel: Any) -> None:  # noqa: ANN401  matplotlib ships no types
    """Put the legend of a panel under it.

    Parameters
    ----------
    figure : Figure or SubFigure
        What the panel is in.
    panel : Axes
        What has the legend.
    """
    named = list(zip(*panel.get_legend_handles_labels(), strict=True))
    # What has bars of error comes last, though it matters most.
    named.sort(key=lambda each: not isinstance(each[0], tuple))
    handles, names = zip(*named, strict=True)
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)


def _draw_line(panel: Any, line: Line) -> None:  # noqa: ANN401  matplotlib ships no types
    style = _STYLES[line.kind]
    if line.spread is None:
        panel.plot(line.places, line.values, label=line.name, **style)
    else:
        panel.errorbar(
            line.places, line.values, yerr=line.spread, label=line.name, capsize=4, **style
        )


def _label(panel: Any, curve: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    low, high = curve.epsilons[0], curve.epsilons[-1]
    if high > _LINEAR * low:
        panel.set_xscale("log")
    if len(curve.epsilons) <= _MOST_TICKS:
        panel.set_xticks(curve.epsilons, [f"{each:g}" for each in curve.epsilons])
        panel.set_xticks([], minor=True)
    panel.set_xlabel(curve.budget)
    panel.set_ylabel(curve.measure)
    panel.yaxis.set_major_formatter(lambda share, _place: f"{share:.0%}")
    panel.set_title(curve.title)
    panel.grid(alpha=0.3)
    panel.set_axisbelow(True)
