"""The table of stages: what a second stage gains, by what the planner judges it by."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import Final

from experiments.budget.stages import Stage, best_threshold
from experiments.supm.markdown import table

__all__ = ["stages"]

_EDGES: Final = (0.0, 0.02, 0.04, 0.06, 0.08, 0.12, 0.2, 0.4, float("inf"))


def stages(found: list[Stage]) -> str:
    """Return the mean gain of two stages in each range of noise, by kind and number of labels."""
    if not found:
        return ""
    columns = sorted({(each.labels, each.kind) for each in found})
    head = ("noise", "settings", *(f"{kind}, {labels}" for labels, kind in columns), "all")
    rows = [_row(found, columns, *edges) for edges in pairwise(_EDGES)]
    best = [_best(found, columns, place) for place in range(3)]
    return table(head, [row for row in rows if row[1] != "0"] + best)


def _row(
    found: list[Stage], columns: list[tuple[int, str]], low: float, high: float
) -> tuple[str, ...]:
    held = [each for each in found if low <= each.noise < high]
    cells = [_gain(_of(held, column)) for column in columns]
    words = f"{low:g} to {high:g}" if high < float("inf") else f"over {low:g}"
    return (words, str(len(held)), *cells, _gain(held))


def _best(found: list[Stage], columns: list[tuple[int, str]], place: int) -> tuple[str, ...]:
    words = ("best threshold", "its mean gain, points", "if one knew, points")[place]
    scale = 1.0 if place == 0 else 100.0
    parts = [*(_of(found, column) for column in columns), found]
    cells = [f"{scale * best_threshold(each)[place]:.2f}" for each in parts]
    return (words, str(len(found)), *cells)


def _of(found: list[Stage], column: tuple[int, str]) -> list[Stage]:
    return [each for each in found if (each.labels, each.kind) == column]


def _gain(found: list[Stage]) -> str:
    if not found:
        return "-"
    return f"{100 * fmean(each.two - each.one for each in found):+.1f}"
