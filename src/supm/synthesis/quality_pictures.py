"""Pictures of a quality report: pairs, matrices, distributions and models, before and after."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from supm.reporting import Look, as_svg, tidy
from supm.synthesis.quality_columns import ColumnQuality
from supm.synthesis.quality_dependence import KNOWN, Dependence

if TYPE_CHECKING:
    from supm.synthesis.quality import Quality

MOST_PAIRS: Final = 24
"""How many pairs are drawn; the page's table has all."""

# Points along a matrix that its labels share.
_LABELS: Final = 170.0
_NUMBERED: Final = 12
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
_LONGEST: Final = 22
_COLOURS: Final = {"noisy": "red", "synthetic": "blue", "clean": "green", "": "grey"}


def pairs_picture(quality: Quality, look: Look) -> str:
    """Draw what is known of pairs of columns: estimates, reach of the noise, synthetic rows."""
    pairs = _shown_pairs(quality)
    size = (_WIDTH, 1.5 + 0.3 * len(pairs))

    def draw(figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        _draw_pairs(figure, quality, pairs, look)

    return as_svg(size, look, draw)


def matrices(quality: Quality, look: Look) -> str:
    """Draw the dependence of all pairs, before and after, as matrices."""
    panels = [
        ("noisy records, as they are", quality.noisy, None),
        ("what can be known", quality.estimate, ~quality.estimate.known),
        ("synthetic rows", quality.synthetic, None),
    ]
    if quality.clean is not None:
        panels.append(("clean records", quality.clean, None))
    columns = 2 if len(panels) == 4 else 3
    rows = math.ceil(len(panels) / columns)
    size = (_WIDTH, rows * (_WIDTH / columns - 0.1))

    def draw(figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        cells = figure.subplots(rows, columns, squeeze=False).ravel()
        for cell, (title, found, hidden) in zip(cells, panels, strict=True):
            shown = _draw_matrix(cell, found, hidden, look)
            cell.set_title(title)
        figure.colorbar(shown, ax=list(cells), shrink=0.6, pad=0.015, label="correlation")

    return as_svg(size, look, draw)


def models_picture(quality: Quality, look: Look) -> str:
    """Draw the errors of models beside always predicting the same."""
    report = quality.models
    if report is None:
        return ""
    known = [each for each in report.errors if each.known]
    size = (_WIDTH, 1.3 + 0.42 * len(known))

    def draw(figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        panel = figure.subplots()
        for place, each in enumerate(known):
            colour = getattr(look, _COLOURS[each.rows])
            panel.barh(place, max(each.error, 0.0), height=0.62, color=colour, alpha=0.85)
            panel.errorbar(each.error, place, xerr=each.standard_error, color=look.ink, capsize=3)
        panel.axvline(report.constant.error, color=look.grey, linestyle="--", linewidth=1.2)
        panel.set_yticks(range(len(known)), [each.name for each in known])
        panel.invert_yaxis()
        panel.set_xlim(left=0)
        panel.set_xlabel(f"{report.measure} (± 1 standard error; dashed: constant)")
        tidy(panel, look, axis="x")

    return as_svg(size, look, draw)


def _shown_pairs(quality: Quality) -> list[tuple[int, int]]:
    """Return the strongest pairs of either kind: known ones first, then those that are hidden."""
    order = quality.estimate.pairs()
    known = [pair for pair in order if quality.estimate.known[pair]]
    hidden = [pair for pair in order if not quality.estimate.known[pair]]
    most = max(MOST_PAIRS // 2, MOST_PAIRS - len(hidden))
    first = known[:most]
    return first + hidden[: MOST_PAIRS - len(first)]


def _draw_pairs(
    figure: Any,  # noqa: ANN401  matplotlib ships no types
    quality: Quality,
    pairs: list[tuple[int, int]],
    look: Look,
) -> None:
    panel = figure.subplots()
    found = quality.estimate
    for place, pair in enumerate(pairs):
        colour = look.blue if found.known[pair] else look.grey
        reach = np.clip(
            [found.strength[pair] + side * found.error[pair] for side in (-KNOWN, -1, 1, KNOWN)],
            -1.0,
            1.0,
        )
        panel.plot(reach[[0, 3]], [place] * 2, color=colour, linewidth=1.2, solid_capstyle="butt")
        panel.plot(reach[1:3], [place] * 2, color=colour, linewidth=4.5, solid_capstyle="butt")
        face = colour if found.known[pair] else look.paper
        panel.plot(
            found.strength[pair], place, "o", color=colour, markerfacecolor=face, markersize=6
        )
    _mark_tables(panel, quality, pairs, look)
    panel.axvline(0.0, color=look.ink, linewidth=0.8)
    names = [f"{_brief(found.names[i])}, {_brief(found.names[j])}" for i, j in pairs]
    panel.set_yticks(range(len(pairs)), names)
    panel.set_ylim(len(pairs) - 0.5, -0.5)
    panel.set_xlim(-1.03, 1.03)
    panel.set_xlabel("correlation (thick: ± 1 standard error, thin: ± 2)")
    tidy(panel, look, axis="x")
    _pairs_legend(figure, panel, quality, look)


def _mark_tables(panel: Any, quality: Quality, pairs: list[tuple[int, int]], look: Look) -> None:  # noqa: ANN401  the same
    places = np.arange(len(pairs))
    for found, mark, colour in (
        (quality.noisy, "x", look.red),
        (quality.synthetic, "D", look.ink),
        (quality.clean, "|", look.green),
    ):
        if found is not None:
            values = [found.strength[pair] for pair in pairs]
            size = {"x": 26, "D": 20, "|": 140}[mark]
            panel.scatter(values, places, size, color=colour, marker=mark, zorder=4, linewidth=1.6)


def _pairs_legend(figure: Any, panel: Any, quality: Quality, look: Look) -> None:  # noqa: ANN401  the same
    def sign(name: str, **style: Any) -> Any:  # noqa: ANN401  the same
        return panel.plot([], [], label=name, **style)[0]

    handles = [
        sign("estimate, known", color=look.blue, marker="o", linewidth=3),
        sign("estimate, not known", color=look.grey, marker="o", mfc=look.paper, linewidth=3),
        sign("synthetic rows", color=look.ink, marker="D", markersize=4.5, linestyle=""),
        sign("noisy records as they are", color=look.red, marker="x", linestyle=""),
    ]
    if quality.clean is not None:
        style = {"marker": "|", "markersize": 12, "markeredgewidth": 1.6, "linestyle": ""}
        handles.append(sign("clean records", color=look.green, **style))
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)


def _draw_matrix(panel: Any, found: Dependence, hidden: Any, look: Look) -> Any:  # noqa: ANN401  the same
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap  # noqa: PLC0415  drawn with

    colours = LinearSegmentedColormap.from_list("signed", [look.red, look.paper, look.blue])
    count = len(found.names)
    values = np.where(np.eye(count, dtype=bool), np.nan, found.strength)
    if hidden is not None:
        values = np.where(hidden, np.nan, values)
        panel.pcolormesh(np.where(hidden, 0.0, np.nan), cmap=ListedColormap([look.faint]))
    shown = panel.pcolormesh(
        values, cmap=colours, vmin=-1, vmax=1, edgecolors=look.faint, linewidth=0.5
    )
    for i, j in ((i, j) for i in range(count) for j in range(count) if i != j):
        unknown = hidden is not None and hidden[i, j]
        if unknown or count <= _NUMBERED:
            told = "?" if unknown else f"{found.strength[i, j]:.1f}".replace("-0.0", "0.0")
            colour = look.ink
            size = 7.5 if count <= _NUMBERED else 90 / count
            panel.text(j + 0.5, i + 0.5, told, ha="center", va="center", color=colour, size=size)
    ticks = np.arange(count) + 0.5
    names = [_brief(each) for each in found.names]
    size = min(8.0, _LABELS / count)
    panel.set_xticks(ticks, names, rotation=90, size=size)
    panel.set_yticks(ticks, names, size=size)
    panel.tick_params(length=0)
    panel.invert_yaxis()
    panel.set_aspect("equal")
    return shown


def columns_picture(quality: Quality, look: Look) -> str:
    """Draw the distributions of the columns, before and after."""
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

    return as_svg((_WIDTH, 0.7 + 2.1 * down), look, draw)


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
    return [_brief(column.name), *([", ".join(notes)] if notes else [])]


def _draw_bins(panel: Any, column: ColumnQuality, edges: Any, look: Look) -> None:  # noqa: ANN401  the same
    panel.stairs(
        column.synthetic, edges, fill=True, color=look.blue, alpha=0.45, label="synthetic rows"
    )
    panel.stairs(column.noisy, edges, color=look.red, linewidth=1.4, label="noisy records")
    if column.clean is not None:
        panel.stairs(column.clean, edges, color=look.green, linewidth=1.6, label="clean records")


def _draw_band(panel: Any, column: ColumnQuality, edges: Any, look: Look) -> None:  # noqa: ANN401  the same
    """Draw where the blurred truth lies, and above the panel how wide the blur is."""
    shape = column.shape
    if shape.blur <= _FARTHEST:
        style = {"color": look.grey, "alpha": 0.5, "fill": True, "zorder": 3}
        panel.stairs(shape.high, edges, baseline=shape.low, label=BAND, **style)
    start = edges[-1] - shape.blur * (edges[-1] - edges[0])
    above = panel.get_xaxis_transform()
    style = {"color": look.ink, "linewidth": 1.2, "marker": "|", "markersize": 5, "clip_on": False}
    panel.plot([start, edges[-1]], [1.0, 1.0], transform=above, label=BLUR, **style)


def _draw_classes(panel: Any, column: ColumnQuality, look: Look) -> None:  # noqa: ANN401  the same
    places = np.arange(len(column.labels))
    bars = [("synthetic rows", column.synthetic, look.blue, 0.45)]
    bars.append(("noisy records", column.noisy, look.red, 0.9))
    if column.clean is not None:
        bars.append(("clean records", column.clean, look.green, 0.9))
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
    names = [_brief(each) for each in column.labels]
    size = 8.0 if upright else 6.5
    panel.set_xticks(places, names, rotation=0 if upright else 90, size=size)


def _brief(name: str) -> str:
    """Cut a name short that would push the picture aside."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
