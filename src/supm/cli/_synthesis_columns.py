"""The picture of distributions in a quality report: before and after, and what can be known."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from supm.cli._synthesis_looks import Look, brief, drawn_as_svg, tidy
from supm.synthesis.quality import Quality
from supm.synthesis.quality_columns import ColumnQuality

__all__ = ["BAND", "BLUR", "MOST_COLUMNS", "SHARES", "columns_picture"]

MOST_COLUMNS: Final = 16
"""How many columns are drawn; the page's table has all."""
BAND: Final = "the truth, blurred, lies here"
BLUR: Final = "width of the blur"
SHARES: Final = "the true share lies here"
"""What the legend calls the marks of what can be known."""

_MOST_LABELS: Final = 16
# Letters that stand beside each other under a picture of one column.
_ACROSS_LABELS: Final = 24
_ACROSS: Final = 4
_WIDTH: Final = 10.4
_BEYOND: Final = 0.005
# A distribution that is blurred farther than this is flat, whatever it was.
_FARTHEST: Final = 0.5


def columns_picture(quality: Quality, look: Look) -> str:
    """Draw the distributions of the columns, before and after.

    Parameters
    ----------
    quality : Quality
        The report.
    look : Look
        For a light or a dark page.

    Returns
    -------
    str
        SVG.
    """
    shown = quality.columns[:MOST_COLUMNS]
    across = min(_ACROSS, len(shown))
    down = math.ceil(len(shown) / across)

    def draw(figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        cells = figure.subplots(down, across, squeeze=False).ravel()
        for cell, column in zip(cells, shown, strict=False):
            _draw_column(cell, column, look)
        for cell in cells[len(shown) :]:
            cell.set_axis_off()
        named = _legend(cells)
        figure.legend(
            named.values(), named.keys(), loc="outside upper center", ncols=3, frameon=False
        )

    return drawn_as_svg((_WIDTH, 0.7 + 2.1 * down), look, draw)


def _legend(cells: Any) -> dict[str, Any]:  # noqa: ANN401  matplotlib ships no types
    """Return what is drawn in any of the panels, once each."""
    named: dict[str, Any] = {}
    for cell in cells:
        handles, names = cell.get_legend_handles_labels()
        named |= dict(zip(names, handles, strict=True))
    return named


def _draw_column(panel: Any, column: ColumnQuality, look: Look) -> None:  # noqa: ANN401  the same
    if column.edges is None:
        _draw_classes(panel, column, look)
    else:
        _draw_bins(panel, column, column.edges, look)
        _draw_band(panel, column, column.edges, look)
        panel.locator_params(axis="x", nbins=4)
    panel.set_title("\n".join(_title(column)), size=9)
    panel.set_yticks([])
    tidy(panel, look, axis="y")


def _title(column: ColumnQuality) -> list[str]:
    notes = [] if column.shape.known else ["shape not known"]
    if column.beyond > _BEYOND:
        out = f"{column.beyond:.0%} out of range"
        notes.append(out if notes else f"{column.beyond:.0%} of reports out of range")
    return [brief(column.name), *([", ".join(notes)] if notes else [])]


def _draw_bins(panel: Any, column: ColumnQuality, edges: Any, look: Look) -> None:  # noqa: ANN401  the same
    panel.stairs(
        column.synthetic,
        edges,
        fill=True,
        color=look.synthetic,
        alpha=0.45,
        label="synthetic rows",
    )
    panel.stairs(column.noisy, edges, color=look.noisy, linewidth=1.4, label="noisy records")
    if column.clean is not None:
        panel.stairs(column.clean, edges, color=look.clean, linewidth=1.6, label="clean records")


def _draw_band(panel: Any, column: ColumnQuality, edges: Any, look: Look) -> None:  # noqa: ANN401  the same
    """Draw where the blurred truth lies, and above the panel how wide the blur is."""
    shape = column.shape
    if shape.blur <= _FARTHEST:
        style = {"color": look.unknown, "alpha": 0.5, "fill": True, "zorder": 3}
        panel.stairs(shape.high, edges, baseline=shape.low, label=BAND, **style)
    start = edges[-1] - shape.blur * (edges[-1] - edges[0])
    above = panel.get_xaxis_transform()
    style = {"color": look.ink, "linewidth": 1.2, "marker": "|", "markersize": 5, "clip_on": False}
    panel.plot([start, edges[-1]], [1.0, 1.0], transform=above, label=BLUR, **style)


def _draw_classes(panel: Any, column: ColumnQuality, look: Look) -> None:  # noqa: ANN401  the same
    places = np.arange(len(column.labels))
    bars = [("synthetic rows", column.synthetic, look.synthetic, 0.45)]
    bars.append(("noisy records", column.noisy, look.noisy, 0.9))
    if column.clean is not None:
        bars.append(("clean records", column.clean, look.clean, 0.9))
    width = 0.8 / len(bars)
    for place, (name, shares, colour, alpha) in enumerate(bars):
        offset = (place - (len(bars) - 1) / 2) * width
        panel.bar(places + offset, shares, width, color=colour, alpha=alpha, label=name)
    middle = (column.shape.low + column.shape.high) / 2
    reach = (column.shape.high - column.shape.low) / 2
    style = {"color": look.ink, "linewidth": 1.4, "capsize": 3, "linestyle": ""}
    panel.errorbar(places, middle, yerr=reach, label=SHARES, **style)
    if len(column.labels) > _MOST_LABELS:
        panel.set_xticks([])
        panel.set_xlabel(f"{len(column.labels)} classes, in the order of the schema", size=8)
        return
    upright = len(column.labels) <= 2 or sum(map(len, column.labels)) <= _ACROSS_LABELS
    names = [brief(each) for each in column.labels]
    size = 8.0 if upright else 6.5
    panel.set_xticks(places, names, rotation=0 if upright else 90, size=size)
