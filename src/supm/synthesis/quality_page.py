"""A quality report as one page: what can be known, in words, in pictures and as tables."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from supm.reporting import Table, card, counted, details, figure, page
from supm.synthesis.quality_pictures import (
    MOST_COLUMNS,
    MOST_PAIRS,
    columns_picture,
    matrices,
    models_picture,
    pairs_picture,
)

if TYPE_CHECKING:
    from supm.synthesis.quality import Quality


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
        lambda look: pairs_picture(quality, look),
        name="Chart of pairs of columns",
        alt=_pairs_in_words(quality),
        caption="Where the bar crosses zero, the noise hides whether two columns depend on each "
        "other at all. What the synthetic rows have there is a guess, drawn towards the others."
        f"{_of_pairs(quality)}",
    )
    yield details(
        f"All {quality.all_pairs} pairs, in words",
        (f"<p>{escape(_capital(each))}.</p>" for each in _pair_sentences(quality)),
    )


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
        lambda look: matrices(quality, look),
        name="Matrices of correlations",
        alt="Matrices of correlations of all pairs of columns: of the noisy records as they are, "
        "of what can be known, and of the synthetic rows. The table of pairs has the same figures.",
        caption="Noise makes every correlation of the noisy records too weak. A question mark is a "
        "pair of which it is not known whether it depends.",
    )
    head = ["pair", "noisy", "known", "± s.e.", "synthetic"]
    rows = [_pair_row(quality, *pair) for pair in quality.estimate.pairs()]
    if quality.clean is not None:
        head.append("clean")
    yield details("The same as a table", [Table(head=head, rows=rows).to_html()])


def _columns(quality: Quality) -> Iterator[str]:
    yield "<h2>Distributions, before and after</h2>"
    yield figure(
        lambda look: columns_picture(quality, look),
        name="Charts of distributions",
        alt="Histograms of each column: of the synthetic rows, of the noisy records, many of which "
        "lie out of the possible range, and a band for what can be known. "
        f"{_of_shapes(quality)} The table of columns has the figures.",
        caption=_of_columns(quality),
    )
    yield details("The same as a table", [each.to_html() for each in quality.tables()])


def _of_pairs(quality: Quality) -> str:
    some = f" The strongest {MOST_PAIRS} of {quality.all_pairs} pairs, known ones and others."
    return some if quality.all_pairs > MOST_PAIRS else ""


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
        lambda look: models_picture(quality, look),
        name="Chart of models",
        alt=f"Bars of the {report.measure}. {report.told_measure}: {told}.",
        caption=report.method,
    )
    rows = [[each.name, report.told(each)] for each in report.errors]
    head = ["model", f"{report.told_measure} ± s.e."]
    yield details("The same as a table", [Table(head=head, rows=rows).to_html()])


def _pair_row(quality: Quality, first: int, second: int) -> list[str]:
    names = quality.estimate.names
    known = f"{quality.estimate.strength[first, second]:.2f}"
    row = [
        f"{names[first]} and {names[second]}",
        f"{quality.noisy.strength[first, second]:.2f}",
        known if quality.estimate.known[first, second] else f"{known} (not known)",
        _doubt(float(quality.estimate.error[first, second])),
        f"{quality.synthetic.strength[first, second]:.2f}",
    ]
    clean = quality.clean
    return row if clean is None else [*row, f"{clean.strength[first, second]:.2f}"]


def _doubt(error: float) -> str:
    """Return the standard error of a correlation, none of which is beyond one."""
    return f"{error:.2f}" if error < 1 else "any"


def _pair_sentences(quality: Quality) -> list[str]:
    return [quality.estimate.sentence(*pair) for pair in quality.estimate.pairs()]


def _pairs_in_words(quality: Quality) -> str:
    strongest = "; ".join(_pair_sentences(quality)[:3])
    return (
        "For each pair of columns the estimated correlation with one and two standard errors, and "
        f"the correlation of the synthetic rows. {_capital(strongest)}."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
