"""A quality report as one page: what can be known, in words, in pictures and as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.reporting import (
    Look,
    Table,
    card,
    counted,
    cut_short,
    details,
    figure,
    heat_map,
    legend_above,
    page,
    panels_in,
    tidy,
)
from supm.synthesis.quality import Quality, capital
from supm.synthesis.quality_columns import ColumnQuality, DistributionShape
from supm.synthesis.quality_dependence import KNOWN, Dependence
from supm.synthesis.quality_models import ModelReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PAIRS: Final = 24
"""How many pairs are drawn; the page's table has all."""
MOST_COLUMNS: Final = 16
"""How many columns are drawn; the page's table has all."""
BAND: Final = "the truth, blurred, lies here"
BLUR: Final = "width of the blur"
SHARES: Final = "the true share lies here"
"""What the legend calls the marks of what can be known."""

_WIDTH: Final = 10.4
_ACROSS: Final = 4
_BEYOND: Final = 0.005
# A distribution that is blurred farther than this is flat, whatever it was.
_FARTHEST: Final = 0.5
_MOST_LABELS: Final = 16
# Letters that stand beside each other under a picture of one column.
_ACROSS_LABELS: Final = 24
_COLOURS: Final = {"noisy": "red", "synthetic": "blue", "clean": "green", "": "grey"}


def quality_page(quality: Quality, *, name: str, made: str) -> str:
    """Return the report as HTML that needs nothing else, for an archive of a name."""
    parts = [
        *_head(quality, name),
        *_unknown(quality),
        *_dependence(quality),
        *_columns(quality),
        *_models(quality),
        f"<footer><p>{escape(made)}</p></footer>",
    ]
    return page(f"Synthetic rows from {name}", parts)


def _head(quality: Quality, name: str) -> Iterator[str]:
    yield f"<h1>Synthetic rows from {escape(name)}</h1>"
    yield (
        f'<p class="lead">{quality.synthetic_rows:,} rows made from {quality.rows:,} noised '
        f"records of {counted(len(quality.schema.columns), 'column')}.</p>"
    )
    cards = [
        (f"{quality.schema.epsilon:.3g}", "epsilon that each record had spent, all cells together"),
        ("0", "epsilon that synthesis and this report spend"),
    ]
    if quality.all_pairs:
        known = f"{quality.known_pairs} of {quality.all_pairs}"
        cards.append((known, "pairs of columns known to depend on each other"))
    if quality.models is not None and quality.models.telling and quality.models.best.error >= 0:
        ratio = quality.models.best.error / quality.models.constant.error
        kind = "balanced" if quality.models.span is None else "mean squared"
        words = f"of the constant's {kind} error: {quality.models.best.name}"
        cards.append((f"{ratio:.0%}", words))
    yield '<div class="cards">'
    yield from (card(*each) for each in cards)
    yield "</div>"
    yield f"<p>{escape(quality.spent)}</p>"


def _unknown(quality: Quality) -> Iterator[str]:
    if quality.sentences:
        yield "<h2>What can and cannot be known</h2>"
        yield '<div class="unknown">'
        yield from (f"<p>{escape(each)}</p>" for each in quality.sentences)
        yield "</div>"
    if not quality.all_pairs:
        return
    yield figure(
        partial(_draw_pairs, quality),
        name="Chart of pairs of columns",
        alt=_pairs_in_words(quality),
        caption="Where the bar reaches zero, the noise hides whether two columns depend on each "
        "other at all. What the synthetic rows have there is a guess, drawn towards the others."
        f"{_of_pairs(quality)}",
    )
    yield details(
        f"All {quality.all_pairs} pairs, in words",
        (f"<p>{escape(capital(each))}.</p>" for each in quality.estimate.sentences()),
    )


def _of_pairs(quality: Quality) -> str:
    some = f" The strongest {MOST_PAIRS} of {quality.all_pairs} pairs, known ones and others."
    return some if quality.all_pairs > MOST_PAIRS else ""


def _pairs_in_words(quality: Quality) -> str:
    strongest = "; ".join(quality.estimate.sentences()[:3])
    return (
        "For each pair of columns the estimated correlation with one and two standard errors, and "
        f"the correlation of the synthetic rows. {capital(strongest)}."
    )


def _draw_pairs(quality: Quality, canvas: Figure, look: Look) -> None:
    """Draw what is known of pairs of columns: estimates, reach of the noise, synthetic rows."""
    pairs = quality.estimate.strongest(MOST_PAIRS)
    names = [cut_short(each) for each in quality.estimate.names]
    canvas.set_size_inches(_WIDTH, 1.5 + 0.3 * len(pairs))
    panel = canvas.subplots()
    for place, pair in enumerate(pairs):
        _draw_estimate(panel, place, quality.estimate, pair, look)
    _mark_tables(panel, quality, pairs, look)
    panel.axvline(0.0, color=look.ink, linewidth=0.8)
    panel.set_yticks(range(len(pairs)), [f"{names[i]}, {names[j]}" for i, j in pairs])
    panel.set_ylim(len(pairs) - 0.5, -0.5)
    panel.set_xlim(-1.03, 1.03)
    signed = all(quality.estimate.signed[pair] for pair in pairs)
    measure = "correlation" if signed else "correlation, or Cramér's V where there is no order"
    panel.set_xlabel(f"{measure} (thick: ± 1 standard error, thin: ± 2)")
    tidy(panel, look, axis="x")
    _name_marks(panel, quality, look)
    legend_above(canvas, [panel])


def _draw_estimate(
    panel: Axes, place: int, found: Dependence, pair: tuple[int, int], look: Look
) -> None:
    """Draw an estimate as a dot on a thick line, one standard error long, on a thin one."""
    middle, error, known = found.strength[pair], found.error[pair], found.known[pair]
    colour = look.blue if known else look.grey
    # Without an order there is no direction: Cramér's V is never below zero.
    least = -1.0 if found.signed[pair] else 0.0
    for reach, width in ((KNOWN, 1.2), (1.0, 4.5)):
        ends = np.clip([middle - reach * error, middle + reach * error], least, 1.0)
        panel.plot(ends, [place] * 2, color=colour, linewidth=width, solid_capstyle="butt")
    face = colour if known else look.paper
    panel.plot(middle, place, "o", color=colour, markerfacecolor=face, markersize=6)


def _mark_tables(panel: Axes, quality: Quality, pairs: list[tuple[int, int]], look: Look) -> None:
    for found, mark, colour, size in (
        (quality.noisy, "x", look.red, 26),
        (quality.synthetic, "D", look.ink, 20),
        (quality.clean, "|", look.green, 140),
    ):
        if found is not None:
            values = [found.strength[pair] for pair in pairs]
            places = range(len(pairs))
            panel.scatter(values, places, size, color=colour, marker=mark, zorder=4, linewidth=1.6)


def _name_marks(panel: Axes, quality: Quality, look: Look) -> None:
    """Draw nothing with every kind of mark, for the legend."""
    panel.plot([], [], "o-", label="estimate, known", color=look.blue, linewidth=3)
    style: dict[str, Any] = {"color": look.grey, "markerfacecolor": look.paper, "linewidth": 3}
    panel.plot([], [], "o-", label="estimate, not known", **style)
    panel.plot([], [], "D", label="synthetic rows", color=look.ink, markersize=4.5)
    panel.plot([], [], "x", label="noisy records as they are", color=look.red)
    if quality.clean is not None:
        panel.plot([], [], "|", label="clean records", color=look.green, ms=12, mew=1.6)


def _dependence(quality: Quality) -> Iterator[str]:
    if not quality.all_pairs:
        return
    yield "<h2>Dependence, before and after</h2>"
    yield (
        f"<p>In {quality.agreeing_pairs} of {quality.all_pairs} pairs the synthetic rows are "
        "within two standard errors of what can be known.</p>"
    )
    errors = quality.dependence_errors
    if errors is not None:
        yield (
            f"<p>Mean distance from the clean records' correlations: {errors[0]:.3f} before, "
            f"{errors[1]:.3f} after.</p>"
        )
    yield figure(
        partial(_draw_matrices, quality),
        name="Matrices of correlations",
        alt="Matrices of correlations of all pairs of columns: of the noisy records as they are, "
        "of what can be known, and of the synthetic rows. The table of pairs has the same figures.",
        caption="Noise makes every correlation of the noisy records too weak. A question mark is a "
        "pair of which it is not known whether it depends.",
    )
    yield details("The same as a table", [quality.pair_table().to_html()])


def _draw_matrices(quality: Quality, canvas: Figure, look: Look) -> None:
    """Draw the dependence of all pairs, before and after, as matrices."""
    tables = {
        "noisy records, as they are": quality.noisy,
        "what can be known": quality.estimate,
        "synthetic rows": quality.synthetic,
    }
    if quality.clean is not None:
        tables["clean records"] = quality.clean
    # Three stand in a row, and four in a square.
    across, height = (3, _WIDTH / 3 - 0.1) if quality.clean is None else (2, _WIDTH - 0.2)
    canvas.set_size_inches(_WIDTH, height)
    panels = panels_in(canvas, len(tables), across)
    for panel, (title, found) in zip(panels, tables.items(), strict=True):
        hidden = ~found.known & (found is quality.estimate)
        shown = heat_map(panel, found.names, found.strength, hidden, look)
        panel.set_title(title)
    canvas.colorbar(shown, ax=panels, shrink=0.6, pad=0.015, label="correlation")


def _columns(quality: Quality) -> Iterator[str]:
    yield "<h2>Distributions, before and after</h2>"
    yield figure(
        partial(_draw_columns, quality),
        name="Charts of distributions",
        alt="Histograms of each column: of the synthetic rows, of the noisy records, many of which "
        "lie out of the possible range, and a band for what can be known. "
        f"{_of_shapes(quality)} The table of columns has the figures.",
        caption=_of_columns(quality),
    )
    yield details("The same as a table", [each.to_html() for each in quality.tables()])


def _of_columns(quality: Quality) -> str:
    count = len(quality.columns)
    some = f" The first {MOST_COLUMNS} of {count}." if count > MOST_COLUMNS else ""
    return (
        f"Within the public bounds of each column; each has a scale of its own.{some}"
        f"{_of_bands(quality)} {_of_shapes(quality)}"
    )


def _of_bands(quality: Quality) -> str:
    parts = []
    if any(each.edges is not None for each in quality.columns):
        parts.append(
            " The grey band is where the true histogram lies, by two standard errors, once it is "
            "blurred over the width of the line above the chart. What is finer than that line the "
            "noise hides: peaks and gaps of the synthetic rows that are narrower may come from it."
        )
    if any(each.edges is None for each in quality.columns):
        parts.append(" The upright lines are the true shares of classes, by two standard errors.")
    return "".join(parts)


def _of_shapes(quality: Quality) -> str:
    return quality.of_shapes or "The shapes of all columns are known, as far as the bands tell."


def _draw_columns(quality: Quality, canvas: Figure, look: Look) -> None:
    """Draw the distributions of the columns, before and after."""
    shown = quality.columns[:MOST_COLUMNS]
    canvas.set_size_inches(_WIDTH, 0.7 + 2.1 * math.ceil(len(shown) / _ACROSS))
    panels = panels_in(canvas, len(shown), _ACROSS)
    for panel, column in zip(panels, shown, strict=True):
        _draw_column(panel, column, look)
    legend_above(canvas, panels)


def _draw_column(panel: Axes, column: ColumnQuality, look: Look) -> None:
    if column.edges is None:
        _draw_classes(panel, column, look)
        _name_classes(panel, column.labels)
    else:
        _draw_bins(panel, column, look)
        _draw_band(panel, column.shape, column.edges, look)
    panel.set_title("\n".join(_title(column)), size=9)
    panel.set_yticks([])
    tidy(panel, look, axis="y")


def _title(column: ColumnQuality) -> list[str]:
    notes = [] if column.shape.known else ["shape not known"]
    if column.beyond > _BEYOND:
        out = f"{column.beyond:.0%} out of range"
        notes.append(out if notes else f"{column.beyond:.0%} of reports out of range")
    return [cut_short(column.name), *([", ".join(notes)] if notes else [])]


def _draw_bins(panel: Axes, column: ColumnQuality, look: Look) -> None:
    edges, label = column.edges, "synthetic rows"
    panel.stairs(column.synthetic, edges, fill=True, color=look.blue, alpha=0.45, label=label)
    panel.stairs(column.noisy, edges, color=look.red, linewidth=1.4, label="noisy records")
    if column.clean is not None:
        panel.stairs(column.clean, edges, color=look.green, linewidth=1.6, label="clean records")
    panel.locator_params(axis="x", nbins=4)


def _draw_band(panel: Axes, shape: DistributionShape, edges: NDArray[Any], look: Look) -> None:
    """Draw where the blurred truth lies, and above the panel how wide the blur is."""
    if shape.blur <= _FARTHEST:
        style: dict[str, Any] = {"color": look.grey, "alpha": 0.5, "fill": True, "zorder": 3}
        panel.stairs(shape.high, edges, baseline=shape.low, label=BAND, **style)
    start = edges[-1] - shape.blur * (edges[-1] - edges[0])
    style = {"color": look.ink, "linewidth": 1.2, "marker": "|", "markersize": 5, "clip_on": False}
    above = panel.get_xaxis_transform()
    panel.plot([start, edges[-1]], [1.0, 1.0], transform=above, label=BLUR, **style)


def _draw_classes(panel: Axes, column: ColumnQuality, look: Look) -> None:
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
    style: dict[str, Any] = {"linewidth": 1.4, "capsize": 3, "linestyle": ""}
    panel.errorbar(places, middle, yerr=reach, label=SHARES, color=look.ink, **style)


def _name_classes(panel: Axes, labels: tuple[str, ...]) -> None:
    if len(labels) > _MOST_LABELS:
        panel.set_xticks([])
        panel.set_xlabel(f"{len(labels)} classes, in the order of the schema", size=8)
        return
    upright = len(labels) <= 2 or sum(map(len, labels)) <= _ACROSS_LABELS
    turned, size = (0, 8.0) if upright else (90, 6.5)
    panel.set_xticks(range(len(labels)), map(cut_short, labels), rotation=turned, size=size)


def _models(quality: Quality) -> Iterator[str]:
    report = quality.models
    if report is None:
        return
    yield f"<h2>Models of {escape(report.target)}, before and after</h2>"
    if not report.telling:
        yield f"<p>{escape(report.sentence)}</p>"
        return
    told = "; ".join(f"{each.name} {report.told(each)}" for each in report.errors)
    yield figure(
        partial(_draw_models, report),
        name="Chart of models",
        alt=f"Bars of the {report.measure}. {report.told_measure}: {told}.",
        caption=report.method,
    )
    rows = [[each.name, report.told(each)] for each in report.errors]
    head = ["model", f"{report.told_measure} ± s.e."]
    yield details("The same as a table", [Table(head=head, rows=rows).to_html()])


def _draw_models(report: ModelReport, canvas: Figure, look: Look) -> None:
    """Draw the errors of models beside always predicting the same."""
    known = [each for each in report.errors if each.known]
    canvas.set_size_inches(_WIDTH, 1.3 + 0.42 * len(known))
    panel = canvas.subplots()
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
