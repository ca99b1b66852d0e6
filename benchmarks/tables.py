"""What the benchmark found: tables of rows and goals, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

__all__ = ["Goal", "Row", "Table", "as_json", "as_text"]

Row = Mapping[str, str | int | float | None]


@dataclass(frozen=True)
class Table:
    """A title and rows that all have the same columns."""

    title: str
    rows: Sequence[Row]


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A figure that was measured and the limit it should keep."""

    name: str
    measured: float | None
    limit: float
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        kept = self.measured >= self.limit if self.at_least else self.measured <= self.limit
        return "met" if kept else "missed"


def as_json(tables: Sequence[Table], goals: Sequence[Goal]) -> dict[str, object]:
    """Return what `json.dump` writes."""
    return {
        "tables": [{"title": table.title, "rows": list(table.rows)} for table in tables],
        "goals": [asdict(goal) | {"verdict": goal.verdict} for goal in goals],
    }


def as_text(tables: Sequence[Table], goals: Sequence[Goal]) -> str:
    """Return Markdown that is also readable as it is."""
    parts = [f"### {table.title}\n\n{_grid(table.rows)}" for table in tables]
    parts.append("### Goals\n\n" + "\n".join(_sentence(goal) for goal in goals))
    return "\n\n".join(parts) + "\n"


def _sentence(goal: Goal) -> str:
    measured = "nothing" if goal.measured is None else _cell(goal.measured)
    limit = f"at {'least' if goal.at_least else 'most'} {_cell(goal.limit)}"
    return f"- {goal.name}: {measured}, the goal is {limit}: **{goal.verdict}**"


def _grid(rows: Sequence[Row]) -> str:
    heads = [name.replace("_", " ") for name in rows[0]]
    body = [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *body, strict=True)]
    rule = ["-" * width for width in widths]
    lines = [[text.ljust(w) for text, w in zip(line, widths, strict=True)] for line in body]
    head = [text.ljust(width) for text, width in zip(heads, widths, strict=True)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def _cell(value: str | float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    whole = isinstance(value, int) or abs(value) >= 100
    return f"{value:,.0f}" if whole else f"{value:.3g}"
