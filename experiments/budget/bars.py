"""The bars of the issue, and where we are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from experiments.budget.results import Results
from experiments.supm.markdown import table

__all__ = ["bars"]

_NONE: Final = "-"


class _Bar(NamedTuple):
    words: str
    paper: str
    bar: str
    goal: str
    ours: Callable[[Results], str]


def bars(results: Results) -> str:
    """Return the table of the bars: paper, bar, goal, ours."""
    rows = [(each.words, each.paper, each.bar, each.goal, each.ours(results)) for each in _BARS]
    kept = [row for row in rows if row[-1] != _NONE]
    return table(("data", "paper", "bar", "goal", "ours"), kept)


def _reach(data: str, level: float) -> Callable[[Results], str]:
    def ours(results: Results) -> str:
        if not results.line(data, "strict"):
            return _NONE
        found = results.reaches(data, "strict", level)
        return "not reached" if found is None else f"{found:.2f}"

    return ours


def _value(data: str, variant: str, epsilon: float, field: str) -> Callable[[Results], str]:
    def ours(results: Results) -> str:
        row = results.at(data, variant, epsilon)
        return _NONE if row is None else f"{100 * float(getattr(row, field)):.1f}"

    return ours


_MUSK: Final = "Musk 2, on-device balanced accuracy at 8 (constant: 50)"
_BARS: Final = (
    _Bar("WDBC, epsilon for 90 %", "22.4 / 27.4", "3.6", "3.0", _reach("wdbc", 0.9)),
    _Bar(
        "WDBC, accuracy at 10",
        "90.29 (reduction not private)",
        "93.5",
        "95.5",
        _value("wdbc", "strict", 10.0, "accuracy"),
    ),
    _Bar("Ionosphere, epsilon for 85 %", "22.8 / 41.6", "9", "5", _reach("ionosphere", 0.85)),
    _Bar(
        f"{_MUSK}, as planned",
        "not reported",
        "66",
        "75",
        _value("musk2", "strict", 8.0, "on_device_balanced"),
    ),
    _Bar(
        f"{_MUSK}, with weights='balanced'",
        "not reported",
        "66",
        "75",
        _value("musk2", "strict balanced", 8.0, "on_device_balanced"),
    ),
    _Bar(
        "Adult, on-device accuracy at 2 (majority 75.2)",
        _NONE,
        "79",
        "83",
        _value("adult", "strict", 2.0, "on_device"),
    ),
    _Bar(
        "digits, on-device accuracy at 8 (majority 10.2)",
        _NONE,
        "80",
        "90",
        _value("digits", "strict", 8.0, "on_device"),
    ),
)
