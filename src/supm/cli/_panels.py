"""The picture of the demonstration: what the aggregator learns, and what accuracy it buys."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from supm.cli._story import Story
from supm.collection.simulation_picture import Curve, draw_curve
from supm.reporting import legend_below

__all__ = ["draw_story"]

_COLOURS, _HATCHES = ("#56B4E9", "#E69F00"), ("", "////")
_BARS: Final = 36


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
    figure = Figure(figsize=(13.0, 5.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    _draw_scores(left.subplots(), story)
    draw_curve(right.subplots(), curve)
    for half in (left, right):
        legend_below(half, half.axes[0])
    mark = " (simulation, not private)" if story.simulation else ""
    figure.suptitle(f"Learning from people who keep their records{mark}")
    figure.savefig(path, dpi=130)


def _draw_scores(panel: Any, story: Story) -> None:  # noqa: ANN401  matplotlib ships no types
    edges = np.linspace(story.scores.min(), story.scores.max(), _BARS + 1)
    for label, name in enumerate(story.model.labels):
        scores = story.scores[story.labels == label]
        panel.hist(
            scores,
            edges,
            color=_COLOURS[label],
            hatch=_HATCHES[label],
            alpha=0.65,
            edgecolor="black",
            linewidth=0.5,
            label=f"{name} ({scores.size} people)",
        )
    panel.axvline(0.0, color="black", linestyle="--", label="where the model's answer changes")
    panel.set_xlabel(f"score on the owner's device (points for {story.model.labels[1]})")
    panel.set_ylabel("people")
    panel.set_title(
        f"The model that {story.people['train']} reports make at epsilon = "
        f"{story.study.epsilon:g}\n"
        f"each told {story.asked.sampled} of {story.study.keep} measures that "
        f"{story.people['reduce']} others chose, with noise"
    )
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)
