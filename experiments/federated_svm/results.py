"""What was measured: one row for each cell, kept in a file that a stopped run goes on with."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.federated_svm.settings import Cell

__all__ = ["COLUMNS", "Results", "Row", "read_rows", "write_row"]

_CELL: Final = ("data", "method", "epsilon", "components", "sizes", "repetitions")
_FIGURES: Final = ("accuracy", "accuracy_sd", "against_rest", "even_odd", "majority")
COLUMNS: Final = (*_CELL, *_FIGURES, "cost", "seconds")
"""The columns of results.csv."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a cell showed.

    Parameters
    ----------
    cell : Cell
        What was run.
    accuracy, accuracy_sd : float
        Of ten classes: the mean over repetitions and its standard deviation.
    against_rest : float
        The mean of ten accuracies of one class against the rest, by the sign of its score.
    even_odd : float
        Of the parity of the class.
    majority : float
        Accuracy of always answering the commonest class.
    cost : str
        The epsilon that it really costs, at the same delta.
    seconds : float
        Processor time of one repetition.
    """

    cell: Cell
    accuracy: float
    accuracy_sd: float
    against_rest: float
    even_odd: float
    majority: float
    cost: str
    seconds: float


class Results:
    """Questions to the rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)

    def at(self, data: str, method: str, **wanted: Any) -> Row | None:  # noqa: ANN401  fields of a cell
        """Return the row of a cell, or None where it was not measured."""
        asked = {"data": data, "method": method} | wanted
        for row in self.rows:
            if all(getattr(row.cell, name) == value for name, value in asked.items()):
                return row
        return None


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file, none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_row(cells) for cells in csv.DictReader(file)]


def write_row(row: Row, path: Path) -> None:
    """Add a row to a file."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        cell, sizes = row.cell, " ".join(map(str, row.cell.sizes))
        known = [cell.data, cell.method, cell.epsilon, cell.components, sizes, cell.repetitions]
        found = [f"{getattr(row, name):.5f}" for name in _FIGURES]
        writer.writerow([*known, *found, row.cost, f"{row.seconds:.3f}"])


def _row(cells: dict[str, str]) -> Row:
    cell = Cell(
        data=cells["data"],
        method=cells["method"],
        epsilon=float(cells["epsilon"]),
        components=int(cells["components"]),
        sizes=tuple(map(int, cells["sizes"].split())),
        repetitions=int(cells["repetitions"]),
    )
    figures = {name: float(cells[name]) for name in (*_FIGURES, "seconds")}
    return Row(cell=cell, cost=cells["cost"], **figures)
