"""The quality report as one page: pictures inside, nothing fetched, light and dark."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Final

from supm.cli._output import counted
from supm.cli._synthesis_columns import MOST_COLUMNS, columns_picture
from supm.cli._synthesis_looks import DARK, LIGHT, Look
from supm.cli._synthesis_pictures import MOST_PAIRS, matrices, models_picture, pairs_picture
from supm.synthesis.quality import Quality
from supm.synthesis.quality_shape import shapes_in_words

__all__ = ["page"]

_STYLE: Final = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2128; --soft: #5a6470;
  --card: #f4f6f8; --line: #d5dae0; --accent: #0072b2; --warn: #fff4e5; --edge: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ed; --soft: #a3acb7;
  --card: #1b2027; --line: #3a424c; --accent: #56b4e9; --warn: #2b2118; --edge: #f0904a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.8rem 0 .6rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead, .note, figcaption, footer { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem;
  margin: 1.6rem 0; }
.card { background: var(--card); border-radius: .7rem; padding: .9rem 1rem; }
.card b { display: block; font-size: 1.65rem; line-height: 1.2; }
.card span { color: var(--soft); font-size: .88rem; }
.unknown { background: var(--warn); border-left: .3rem solid var(--edge); border-radius: .3rem;
  padding: .7rem 1.1rem; margin: 1rem 0; }
.unknown p { margin: .3rem 0; }
figure { margin: 1rem 0; }
figure img { width: 100%; min-width: 44rem; height: auto; display: block; }
figcaption { font-size: .9rem; margin-top: .3rem; }
.wide { overflow-x: auto; }
.wide:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media print { figure img { min-width: 0; } }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .28rem .8rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(quality: Quality, *, name: str, made: str) -> str:
    """Return the report as HTML that needs nothing else.

    Parameters
    ----------
    quality : Quality
        What to show.
    name : str
        What the archive is called.
    made : str
        How the rows were made, in a sentence.

    Returns
    -------
    str
    """
    parts = [
        *_head(quality, name),
        *_unknown(quality),
        *_dependence(quality),
        *_columns(quality),
        *_models(quality),
        f"<footer><p>{escape(made)}</p></footer>",
    ]
    title = f"Synthetic rows from {escape(name)}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


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
    for number, words in cards:
        yield f'<div class="card"><b>{escape(number)}</b><span>{escape(words)}</span></div>'
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
    yield _figure(
        lambda look: pairs_picture(quality, look),
        name="Chart of pairs of columns",
        alt=_pairs_in_words(quality),
        caption="Where the bar crosses zero, the noise hides whether two columns depend on each "
        "other at all. What the synthetic rows have there is a guess, drawn towards the others."
        f"{_of_pairs(quality)}",
    )
    yield from _details(
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
    yield _figure(
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
    yield from _details("The same as a table", [_table(head, rows)])


def _columns(quality: Quality) -> Iterator[str]:
    yield "<h2>Distributions, before and after</h2>"
    yield _figure(
        lambda look: columns_picture(quality, look),
        name="Charts of distributions",
        alt="Histograms of each column: of the synthetic rows, of the noisy records, many of which "
        "lie out of the possible range, and a band for what can be known. "
        f"{_of_shapes(quality)} The table of columns has the figures.",
        caption=_of_columns(quality),
    )
    head = ["column", "figure", "noisy", "known", "± s.e.", "synthetic"]
    if quality.clean is not None:
        head.append("clean")
    rows = []
    for column in quality.columns:
        for each in column.figures:
            row = [column.name, each.what]
            numbers = [each.noisy, each.estimate, each.error, each.synthetic]
            rows.append(row + [_short(each) for each in [*numbers, *_some(each.clean)]])
    yield from _details("The same as a table", [_table(head, rows)])


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
    hidden = shapes_in_words({each.name: each.shape for each in quality.columns})
    return hidden or "The shapes of all columns are known, as far as the bands tell."


def _models(quality: Quality) -> Iterator[str]:
    report = quality.models
    if report is None:
        return
    yield f"<h2>Models of {escape(report.target)}, before and after</h2>"
    if not report.telling:
        yield f"<p>{escape(report.sentence)}</p>"
        return
    told = "; ".join(f"{each.name} {report.told(each)}" for each in report.errors)
    yield _figure(
        lambda look: models_picture(quality, look),
        name="Chart of models",
        alt=f"Bars of the {report.measure}. {report.told_measure}: {told}.",
        caption=report.method,
    )
    rows = [[each.name, report.told(each)] for each in report.errors]
    head = ["model", f"{report.told_measure} ± s.e."]
    yield from _details("The same as a table", [_table(head, rows)])


def _figure(draw: Callable[[Look], str], *, name: str, alt: str, caption: str) -> str:
    light, dark = (_inside(draw(look)) for look in (LIGHT, DARK))
    return (
        f"<figure>{_wide(name)}"
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="{escape(alt, quote=True)}"></picture></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _wide(name: str) -> str:
    """Open a box that scrolls where it is too wide, for a keyboard too."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name, quote=True)}">'


def _inside(picture: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"


def _details(title: str, content: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{escape(title)}</summary>{_wide(title)}"
    yield from content
    yield "</div></details>"


def _table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table>"


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


def _short(number: float) -> str:
    return f"{number:.3g}"


def _some(number: float | None) -> list[float]:
    return [] if number is None else [number]
