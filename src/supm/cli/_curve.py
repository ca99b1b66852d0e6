"""Accuracy against epsilon, between the line without privacy and that of the commonest class.

The colours are those of Okabe and Ito, which everybody can tell apart; line styles and marks differ
too, so that the picture can be read without colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["Curve", "draw", "draw_curve"]

_REPORTED, _DEVICE, _OPEN, _CONSTANT = "#0072B2", "#009E73", "#D55E00", "#666666"
# Budgets that span more than this factor are read better on a logarithmic axis.
_LINEAR: Final = 6.0
_MOST_TICKS: Final = 12


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What is drawn.

    Parameters
    ----------
    title : str
        Whose data, and how the figures came about.
    epsilons : tuple of float
        The budgets, rising.
    reported, spread : tuple of float
        Mean accuracy for each budget, and its standard deviation over the repetitions.
    device : tuple of float
        Mean accuracy where records are classified on their owner's device.
    majority : float
        Accuracy of always predicting the commonest class.
    without_privacy : float or None
        Accuracy of the same learner on the raw data, if it was measured.
    tested_on_device : bool
        Whether the study tests on the device, so that there is no line of reported records.
    budget : str
        What the axis of the budgets says.
    """

    title: str
    epsilons: tuple[float, ...]
    reported: tuple[float, ...]
    spread: tuple[float, ...]
    device: tuple[float, ...]
    majority: float
    without_privacy: float | None
    tested_on_device: bool
    budget: str


def draw(curve: Curve, path: str) -> None:
    """Draw accuracy against epsilon.

    Parameters
    ----------
    curve : Curve
        What to draw.
    path : str
        Where to write it; the ending says in which format.
    """
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    draw_curve(panel, curve)
    handles, names = panel.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=150)


def draw_curve(panel: Any, curve: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    """Draw accuracy against epsilon into a panel of a larger picture.

    Parameters
    ----------
    panel : Axes
        Where to draw.
    curve : Curve
        What to draw.
    """
    _draw_lines(panel, curve)
    _draw_budgets(panel, curve)
    _label(panel, curve)


def _draw_lines(panel: Any, curve: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    if curve.without_privacy is not None:
        panel.axhline(
            curve.without_privacy,
            color=_OPEN,
            linestyle="--",
            label=f"without privacy: {curve.without_privacy:.1%}",
        )
    panel.axhline(
        curve.majority,
        color=_CONSTANT,
        linestyle=":",
        label=f"always the commonest class: {curve.majority:.1%}",
    )


def _draw_budgets(panel: Any, curve: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    spread = curve.spread if curve.tested_on_device else None
    style = {"color": _DEVICE, "marker": "s", "linestyle": "-.", "capsize": 4}
    panel.errorbar(
        curve.epsilons, curve.device, yerr=spread, label="tested on the owner's device", **style
    )
    if not curve.tested_on_device:
        panel.errorbar(
            curve.epsilons,
            curve.reported,
            yerr=curve.spread,
            color=_REPORTED,
            marker="o",
            capsize=4,
            label="tested by a report (± 1 s.d.)",
        )


def _label(panel: Any, curve: Curve) -> None:  # noqa: ANN401  matplotlib ships no types
    low, high = curve.epsilons[0], curve.epsilons[-1]
    if high > _LINEAR * low:
        panel.set_xscale("log")
    if len(curve.epsilons) <= _MOST_TICKS:
        panel.set_xticks(curve.epsilons, [f"{each:g}" for each in curve.epsilons])
        panel.set_xticks([], minor=True)
    panel.set_xlabel(curve.budget)
    panel.set_ylabel("accuracy")
    panel.yaxis.set_major_formatter(lambda share, _place: f"{share:.0%}")
    panel.set_title(curve.title)
    panel.grid(alpha=0.3)
    panel.set_axisbelow(True)
