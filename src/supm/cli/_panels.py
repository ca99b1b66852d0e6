"""The picture of the demonstration: what the aggregator learns, and what accuracy it buys."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from supm.cli._curve import Curve, draw_curve
from supm.cli._story import Story
from supm.mechanisms import record_numbers

__all__ = ["commonest", "draw_story", "name_of_cell"]

_TRUE, _TOLD, _ESTIMATED = "#56B4E9", "#E69F00", "#009E73"
_WIDTH: Final = 0.27
_SHOWN: Final = 8


def commonest(story: Story) -> list[int]:
    """Return the combinations of classes that most people hold, in order.

    Parameters
    ----------
    story : Story
        What happened.

    Returns
    -------
    list of int
        At most eight, the commonest first.
    """
    order = np.argsort(-story.true, kind="stable")[:_SHOWN]
    return [int(cell) for cell in order if story.true[cell] > 0]


def name_of_cell(story: Story, cell: int) -> str:
    """Return the classes that a combination stands for, counted from 1.

    Parameters
    ----------
    story : Story
        What happened.
    cell : int
        The number of the combination.

    Returns
    -------
    str
    """
    numbers = record_numbers(np.array([cell]), story.asked.sizes[:-1])[0]
    return " ".join(str(number + 1) for number in numbers)


def draw_story(story: Story, curve: Curve, path: str) -> None:
    """Draw both panels.

    Parameters
    ----------
    story : Story
        What happened with one budget.
    curve : Curve
        The accuracy of all of them.
    path : str
        Where to write the picture; the ending says in which format.
    """
    figure = Figure(figsize=(13.0, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    _draw_shares(left.subplots(), story)
    draw_curve(right.subplots(), curve)
    for half in (left, right):
        handles, names = half.axes[0].get_legend_handles_labels()
        half.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    mark = " (simulation, not private)" if story.simulation else ""
    figure.suptitle(f"Learning from people who keep their records{mark}")
    figure.savefig(path, dpi=130)


def _draw_shares(panel: Any, story: Story) -> None:  # noqa: ANN401  matplotlib ships no types
    cells = commonest(story)
    places = np.arange(len(cells))
    bars = {"width": _WIDTH, "edgecolor": "black", "linewidth": 0.6}
    panel.bar(
        places - _WIDTH,
        story.true[cells],
        color=_TRUE,
        label="true (the data are public)",
        **bars,
    )
    panel.bar(places, story.told[cells], color=_TOLD, hatch="////", label="in the reports", **bars)
    panel.bar(
        places + _WIDTH,
        story.estimated[cells],
        color=_ESTIMATED,
        label="estimated from the reports",
        **bars,
    )
    names = [name_of_cell(story, cell) for cell in cells]
    slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    panel.set_xticks(places, names, **(slanted if story.study.keep > 2 else {}))
    panel.set_xlabel("classes of " + _wrapped(story.study.attributes or ()))
    panel.set_ylabel("share of people")
    panel.yaxis.set_major_formatter(lambda share, _place: f"{share:.0%}")
    panel.set_title(
        f"What the aggregator learns at epsilon = {story.study.epsilon:g}\n"
        f"from {story.people['train']} reports, one from each training owner"
    )
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)


def _wrapped(names: tuple[str, ...]) -> str:
    """Break a list of names into lines of three."""
    lines = [", ".join(names[start : start + 3]) for start in range(0, len(names), 3)]
    return ",\n".join(lines)
