"""Tables of the README that are no printed claims: what else the runs show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from experiments.supm.markdown import cell, table
from experiments.supm.results import Line, Results, figure_of
from experiments.supm.settings import REDUCTIONS, Curve, Data

__all__ = ["SECTIONS", "Section"]

Section = Callable[[Results, Data], str]
_NAMES: Final = {"rand": "DR.Rand", "wa": "DR.WA", "pw": "DR.PW", "waldp": "DR.WALDP"}


def _title(text: str, body: str, note: str = "") -> str:
    return f"### {text}\n\n{note}{body}" if body else ""


def _budgets(budgets: tuple[float, ...]) -> list[str]:
    return [f"epsilon = {epsilon:g}" for epsilon in budgets]


def _cells(line: Line, budgets: tuple[float, ...]) -> list[str]:
    return [cell(line.at(epsilon)) for epsilon in budgets]


def _reductions(data: Data) -> tuple[Curve, ...]:
    return figure_of(data.name, "reductions").curves


def chosen(results: Results, data: Data) -> str:
    """Compare the best (K, L) seen on the test folds with the choice by inner folds."""
    rows = []
    for curve in _reductions(data):
        name = _NAMES[curve.reduction]
        best, inner = results.best(data, curve), results.chosen(data, curve)
        if len(inner):
            rows.append([f"{name}, best seen on the test folds", *_cells(best, data.coarse)])
            rows.append([f"{name}, chosen by inner folds", *_cells(inner, data.coarse)])
    return _title("Who chooses (K, L)?", table(["method", *_budgets(data.coarse)], rows))


def searched(results: Results, data: Data) -> str:
    """List the best (K, L) of the whole search at each budget."""
    rows = []
    for word in data.searches:
        curve = Curve(reduction=word, pairs=results.scope.searched)
        lines = {
            pair: results.line(data, curve, pair, repeats=data.search_repeats)
            for pair in curve.pairs
        }
        rows.append([_NAMES[word], *(_leaders(lines, e) for e in data.coarse)])
    note = (
        f"The three best by the mean of {data.search_repeats} repetitions, "
        f"of {len(results.scope.searched)} (K, L).\n\n"
    )
    return _title("All (K, L)", table(["reduction", *_budgets(data.coarse)], rows), note)


def _leaders(lines: dict[tuple[int, int], Line], epsilon: float) -> str:
    found = {pair: line.at(epsilon) for pair, line in lines.items()}
    means = {pair: float(np.mean(each)) for pair, each in found.items() if each is not None}
    leaders = sorted(means, key=lambda pair: -means[pair])[:3]
    return ", ".join(f"({k},{c}) {means[k, c]:.1f}" for k, c in leaders) or "-"


def combinations(results: Results, data: Data) -> str:
    """Show every reduction with every pair of training and testing."""
    rows = []
    for word in REDUCTIONS:
        for curve in figure_of(data.name, "phases").curves:
            other = Curve(reduction=word, train=curve.train, test=curve.test, pairs=curve.pairs)
            line = results.best(data, other)
            if len(line):
                pair = f"({curve.train.upper()}, {curve.test.upper()})"
                rows.append([_NAMES[word], pair, *_cells(line, data.combined)])
    head = ["reduction", "(training, testing)", *_budgets(data.combined)]
    note = "Best of the (K, L) that the figure prints for each pair.\n\n"
    return _title("All reductions, all pairs of training and testing", table(head, rows), note)


def variants(results: Results, data: Data) -> str:
    """Show what our readings change: bounds, the test owner's shares, folds by group."""
    rows = []
    changes = {
        "as in the papers": {},
        "public bounds": {"bounds": "public"},
        "test budget on attributes only": {"shares": "attributes"},
        "DR's budget on top (2 epsilon)": {"reading": "twice"},
        "folds of whole molecules": {"folds": "grouped"},
    }
    for curve in _reductions(data):
        for text, more in changes.items():
            line = results.best(data, curve, **more)
            if any(line.at(epsilon) is not None for epsilon in data.coarse):
                rows.append([_NAMES[curve.reduction], text, *_cells(line, data.coarse)])
    waldp = Curve(
        reduction="waldp",
        pairs=next(curve.pairs for curve in _reductions(data) if curve.reduction == "pw"),
    )
    line = results.best(data, waldp)
    if len(line):
        rows.append([_NAMES["waldp"], "(K, L) of DR.PW", *_cells(line, data.coarse)])
    return _title("Readings", table(["reduction", "reading", *_budgets(data.coarse)], rows))


def grouped(results: Results, data: Data) -> str:
    """Show what is left without noise where the rows of a group stay together."""
    if not data.grouped:
        return ""
    rows = []
    for folds, text in (("equal", "rows at random"), ("grouped", "whole molecules")):
        for reading in ("largest", "overall", "mean"):
            line = results.baseline(data.name, reading, folds)
            job = next((j for j in results.outcomes if _is_raw(j, data, reading, folds)), None)
            if len(line) and job is not None:
                balanced = f"{results.outcomes[job].balanced('raw'):.1f}"
                rows.append([text, reading, cell(line.values[0]), balanced])
    share = results.majority(data.name)
    if rows and share is not None:
        rows.append(["majority class", "", f"{share:.1f}", "50.0"])
    head = ["folds", "gamma by variance", "accuracy", "balanced accuracy"]
    note = (
        "Rows are shapes of molecules, and shapes of one molecule are alike. In the full run the "
        "accuracy on molecules that were held out as a whole is below the majority class. "
        f"Means of {data.raw_repeats} repetitions.\n\n"
    )
    return _title("No noise, folds of rows and of molecules", table(head, rows), note)


def _is_raw(job: object, data: Data, reading: str, folds: str) -> bool:
    wanted = (data.name, "raw", reading, folds)
    fields = ("data", "method", "reading", "folds")
    return tuple(getattr(job, field) for field in fields) == wanted


SECTIONS: Final[tuple[Section, ...]] = (chosen, searched, combinations, variants, grouped)
