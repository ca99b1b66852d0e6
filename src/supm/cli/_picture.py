"""The picture of the demonstration. Colours are those of Okabe and Ito, told apart by everybody."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from supm.cli._demonstration import Demonstration, Result
from supm.privacy._sentences import greatest_factor

__all__ = ["draw"]

_TRUE, _REPORTED, _ESTIMATED = "#56B4E9", "#E69F00", "#009E73"
_WIDTH = 0.27
_COLUMNS = 3
_NAMES = (
    "true (shown because the data are public)",
    "reported: all that left the devices",
    "estimated from the reports",
)


def draw(demonstration: Demonstration, path: str) -> None:
    """Draw true shares, reports and estimates, one panel per budget.

    Parameters
    ----------
    demonstration : Demonstration
        What to draw.
    path : str
        Where to write it; the ending says in which format.
    """
    figure = _panels(demonstration)
    figure.savefig(path, dpi=150)


def _panels(demonstration: Demonstration) -> Figure:
    count = len(demonstration.results)
    columns = 2 if count == 4 else min(count, _COLUMNS)
    rows = -(-count // columns)
    figure = Figure(figsize=(0.6 + 4.4 * columns, 1.7 + 3.4 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for panel, result in zip(panels, demonstration.results, strict=False):
        _draw_panel(panel, demonstration, result)
    for unused in panels[count:]:
        unused.set_visible(False)
    _label(figure, panels, demonstration)
    return figure


def _draw_panel(panel: Any, demonstration: Demonstration, result: Result) -> None:  # noqa: ANN401  matplotlib ships no types
    places = np.arange(len(demonstration.labels))
    bars = {"width": _WIDTH, "edgecolor": "black", "linewidth": 0.6}
    true, told, found = _NAMES
    panel.bar(places - _WIDTH, demonstration.true, color=_TRUE, label=true, **bars)
    panel.bar(places, result.reported, color=_REPORTED, hatch="////", label=told, **bars)
    panel.bar(
        places + _WIDTH,
        result.estimated,
        yerr=(result.high - result.low) / 2,
        capsize=3,
        color=_ESTIMATED,
        label=f"{found}, {result.confidence:.0%} band",
        **bars,
    )
    panel.axhline(0.0, color="black", linewidth=0.8)
    epsilon = result.mechanism.epsilon
    panel.set_title(f"epsilon = {epsilon:.3g}\na factor of at most {greatest_factor(epsilon)}")
    panel.set_xticks(places, demonstration.labels, rotation=30, ha="right")
    panel.tick_params(labelbottom=True)
    panel.set_xlabel(f"{demonstration.attribute}, in {len(places)} public classes")
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)


def _label(figure: Figure, panels: Any, demonstration: Demonstration) -> None:  # noqa: ANN401  matplotlib ships no types
    figure.supylabel("share of the owners")
    mark = " (simulation, not private)" if demonstration.simulation else ""
    figure.suptitle(f"One report from each of {demonstration.owners} owners{mark}")
    handles, names = panels[0].get_legend_handles_labels()
    columns = min(len(demonstration.results), len(names))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
