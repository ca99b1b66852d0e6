"""What was measured: one row for each point of a figure, kept in a file."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

__all__ = ["COLUMNS", "Results", "Row", "add_rows", "read_rows"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """Means over repetitions.

    Parameters
    ----------
    task, variant : str
        What was learned, and how.
    epsilon : float
        The budget; infinite where nothing is private.
    parties, colluders : int
        Who holds the records, and how many of them are not trusted.
    repetitions : int
        Splits.
    error, error_sd : float
        Share of test records that are answered wrongly, and its standard deviation.
    excess, excess_sd : float
        The same less the error of LDA without privacy on the same split.
    seconds : float
        Processor time of all variants of this point together, shared among them.
    """

    task: str
    variant: str
    epsilon: float
    parties: int
    colluders: int
    repetitions: int
    error: float
    error_sd: float
    excess: float
    excess_sd: float
    seconds: float

    @property
    def excess_error(self) -> float:
        """Standard error of the excess."""
        return self.excess_sd / math.sqrt(self.repetitions)


COLUMNS: Final = tuple(each.name for each in fields(Row))
"""The columns of results.csv."""

_TEXTS: Final = ("task", "variant")
_WHOLE: Final = ("parties", "colluders", "repetitions")


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file, none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_row(cells) for cells in csv.DictReader(file)]


def add_rows(rows: Iterable[Row], path: Path) -> None:
    """Add rows to a file."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows([_cell(value) for value in asdict(row).values()] for row in rows)


class Results:
    """Questions to the rows.

    Parameters
    ----------
    rows : sequence of Row
        What was measured.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        self._found = {
            (row.task, row.variant, row.epsilon, row.parties, row.colluders): row for row in rows
        }

    def at(
        self, task: str, variant: str, epsilon: float, parties: int = 1, colluders: int = 0
    ) -> Row | None:
        """Return a row, or None where it was not measured."""
        return self._found.get((task, variant, epsilon, parties, colluders))

    def plain(self, task: str, variant: str) -> Row | None:
        """Return the row of a variant that has no budget."""
        return self.at(task, variant, math.inf)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that were measured, in order."""
        return tuple(dict.fromkeys(row.task for row in self.rows))


def _cell(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _row(cells: dict[str, str]) -> Row:
    numbers = {name: float(cells[name]) for name in COLUMNS if name not in (*_TEXTS, *_WHOLE)}
    whole = {name: int(cells[name]) for name in _WHOLE}
    return Row(task=cells["task"], variant=cells["variant"], **whole, **numbers)  # type: ignore[arg-type]  # whole numbers are whole
