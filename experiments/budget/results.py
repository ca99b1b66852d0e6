"""What was measured: one row for each job, kept in a file that a stopped run goes on with."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from experiments.budget.settings import Job

__all__ = ["COLUMNS", "Results", "Row", "keep_rows", "read_rows", "write_row"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a job showed: means over repetitions, and standard deviations between them.

    Parameters
    ----------
    data, variant : str
        As in `Job`.
    epsilon : float
        As in `Job`.
    repetitions : int
        As in `Job`.
    accuracy, accuracy_sd, balanced : float
        Of the answers to randomised reports; not a number where a method has none.
    on_device, on_device_sd, on_device_balanced : float
        Of the same models on records that stay at home.
    majority : float
        Accuracy of always answering the commonest class.
    seconds : float
        Processor time of all repetitions.
    """

    data: str
    epsilon: float
    variant: str
    repetitions: int
    accuracy: float
    accuracy_sd: float
    balanced: float
    on_device: float
    on_device_sd: float
    on_device_balanced: float
    majority: float
    seconds: float

    @property
    def job(self) -> Job:
        """What was run."""
        return Job(
            data=self.data, epsilon=self.epsilon, variant=self.variant, repetitions=self.repetitions
        )

    @property
    def error(self) -> float:
        """Standard error of the accuracy of the answers."""
        return self.accuracy_sd / math.sqrt(self.repetitions)

    @property
    def on_device_error(self) -> float:
        """Standard error of the accuracy on the device."""
        return self.on_device_sd / math.sqrt(self.repetitions)


COLUMNS: Final = tuple(each.name for each in fields(Row))
"""The columns of results.csv."""

_TEXTS: Final = ("data", "variant")


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file, none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_row(cells) for cells in csv.DictReader(file) if None not in cells.values()]


def write_row(row: Row, path: Path) -> None:
    """Add a row to a file."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerow(_cells(row))


def keep_rows(rows: Iterable[Row], path: Path) -> None:
    """Write a file anew with these rows only."""
    path.unlink(missing_ok=True)
    for row in rows:
        write_row(row, path)


class Results:
    """Questions to the rows.

    Parameters
    ----------
    rows : sequence of Row
        What was measured; a later row of the same setting counts.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        self._found = {(row.data, row.variant, row.epsilon): row for row in rows}

    def at(self, data: str, variant: str, epsilon: float) -> Row | None:
        """Return a row, or None where it was not measured."""
        return self._found.get((data, variant, epsilon))

    def line(self, data: str, variant: str) -> list[Row]:
        """Return the rows of a variant, by budget."""
        found = [row for row in self._found.values() if (row.data, row.variant) == (data, variant)]
        return sorted(found, key=lambda row: row.epsilon)

    def reaches(self, data: str, variant: str, level: float) -> float | None:
        """Return the least budget at which answers are that accurate, between measured ones."""
        line = self.line(data, variant)
        for before, after in zip([None, *line], line, strict=False):
            if after.accuracy < level:
                continue
            if before is None:
                return after.epsilon
            part = (level - before.accuracy) / (after.accuracy - before.accuracy)
            return before.epsilon + part * (after.epsilon - before.epsilon)
        return None


def _cells(row: Row) -> list[str]:
    return [
        f"{value:.5f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        for value in asdict(row).values()
    ]


def _row(cells: dict[str, str]) -> Row:
    return Row(
        data=cells["data"],
        variant=cells["variant"],
        repetitions=int(cells["repetitions"]),
        **{name: float(cells[name]) for name in COLUMNS if name not in (*_TEXTS, "repetitions")},
    )
