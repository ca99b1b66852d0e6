"""Pictures of a quality report: pairs, matrices and models, before and after."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap

from supm.cli._synthesis_looks import Look, brief, drawn_as_svg, tidy
from supm.synthesis.quality import Quality
from supm.synthesis.quality_dependence import KNOWN, Dependence

__all__ = [
    "MOST_PAIRS",
    "matrices",
    "models_picture",
    "pairs_picture",
]

MOST_PAIRS: Final = 24
"""How many pairs are drawn; the page's table has all."""

# Points along a matrix that its labels share.
_LABELS: Final = 170.0
_NUMBERED: Final = 12
_WIDTH: Final = 10.4


def pairs_picture(quality: Quality, look: Look) -> str:
    """Draw what is known of pairs of columns: estimate, how far the noise reaches, synthetic rows.

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
    pairs = _shown_pairs(quality)
    size = (_WIDTH, 1.5 + 0.3 * len(pairs))

    def draw(figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        _draw_pairs(figure, quality, pairs, look)

    return drawn_as_svg(size, look, draw)


def matrices(quality: Quality, look: Look) -> str:
    """Draw the dependence of all pairs, before and after, as matrices.

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

    return drawn_as_svg(size, look, draw)


def models_picture(quality: Quality, look: Look) -> str:
    """Draw the errors of models beside always predicting the same.

    Parameters
    ----------
    quality : Quality
        The report, which has models.
    look : Look
        For a light or a dark page.

    Returns
    -------
    str
        SVG.
    """
    report = quality.models
    if report is None:
        return ""
    known = [each for each in report.errors if each.known]
    size = (_WIDTH, 1.3 + 0.42 * len(known))

    def draw(figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        panel = figure.subplots()
        for place, each in enumerate(known):
            colour = getattr(look, each.rows) if each.rows else look.unknown
            panel.barh(place, max(each.error, 0.0), height=0.62, color=colour, alpha=0.85)
            panel.errorbar(each.error, place, xerr=each.standard_error, color=look.ink, capsize=3)
        panel.axvline(report.constant.error, color=look.unknown, linestyle="--", linewidth=1.2)
        panel.set_yticks(range(len(known)), [each.name for each in known])
        panel.invert_yaxis()
        panel.set_xlim(left=0)
        panel.set_xlabel(f"{report.measure} (± 1 standard error; dashed: constant)")
        tidy(panel, look, axis="x")

    return drawn_as_svg(size, look, draw)


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
        colour = look.synthetic if found.known[pair] else look.unknown
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
    names = [f"{brief(found.names[i])}, {brief(found.names[j])}" for i, j in pairs]
    panel.set_yticks(range(len(pairs)), names)
    panel.set_ylim(len(pairs) - 0.5, -0.5)
    panel.set_xlim(-1.03, 1.03)
    panel.set_xlabel("correlation (thick: ± 1 standard error, thin: ± 2)")
    tidy(panel, look, axis="x")
    _pairs_legend(figure, panel, quality, look)


def _mark_tables(panel: Any, quality: Quality, pairs: list[tuple[int, int]], look: Look) -> None:  # noqa: ANN401  the same
    places = np.arange(len(pairs))
    for found, mark, colour in (
        (quality.noisy, "x", look.noisy),
        (quality.synthetic, "D", look.ink),
        (quality.clean, "|", look.clean),
    ):
        if found is not None:
            values = [found.strength[pair] for pair in pairs]
            size = {"x": 26, "D": 20, "|": 140}[mark]
            panel.scatter(values, places, size, color=colour, marker=mark, zorder=4, linewidth=1.6)


def _pairs_legend(figure: Any, panel: Any, quality: Quality, look: Look) -> None:  # noqa: ANN401  the same
    def sign(name: str, **style: Any) -> Any:  # noqa: ANN401  the same
        return panel.plot([], [], label=name, **style)[0]

    handles = [
        sign("estimate, known", color=look.synthetic, marker="o", linewidth=3),
        sign("estimate, not known", color=look.unknown, marker="o", mfc=look.paper, linewidth=3),
        sign("synthetic rows", color=look.ink, marker="D", markersize=4.5, linestyle=""),
        sign("noisy records as they are", color=look.noisy, marker="x", linestyle=""),
    ]
    if quality.clean is not None:
        style = {"marker": "|", "markersize": 12, "markeredgewidth": 1.6, "linestyle": ""}
        handles.append(sign("clean records", color=look.clean, **style))
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)


def _draw_matrix(panel: Any, found: Dependence, hidden: Any, look: Look) -> Any:  # noqa: ANN401  the same
    colours = LinearSegmentedColormap.from_list("signed", [look.noisy, look.paper, look.synthetic])
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
    names = [brief(each) for each in found.names]
    size = min(8.0, _LABELS / count)
    panel.set_xticks(ticks, names, rotation=90, size=size)
    panel.set_yticks(ticks, names, size=size)
    panel.tick_params(length=0)
    panel.invert_yaxis()
    panel.set_aspect("equal")
    return shown
