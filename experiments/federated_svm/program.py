"""The command: run what is missing, then write tables and pictures."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from experiments.federated_svm.pictures import draw_budgets, draw_shapes
from experiments.federated_svm.readme import write_readme
from experiments.federated_svm.results import Results, read_rows, write_row
from experiments.federated_svm.settings import FULL, QUICK, Scope, cells_of
from experiments.federated_svm.work import measure
from tqdm import tqdm

__all__ = ["main", "run"]

HERE: Final = Path(__file__).resolve().parent
_QUICK_RECORDS: Final = 600


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return 0 when everything is written."""
    parser = argparse.ArgumentParser(
        description="Measure paper 003: its federated machine, and one whose whole cost is told.",
        epilog="example: python -m experiments.federated_svm.run --quick --output here",
    )
    parser.add_argument("--quick", action="store_true", help="a look, in seconds: few records")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (here)")
    parser.add_argument("--tables", action="store_true", help="write from what is finished")
    options = parser.parse_args(arguments)
    scope = QUICK if options.quick else FULL
    output = options.output or (Path(tempfile.mkdtemp()) if options.quick else HERE)
    output.mkdir(parents=True, exist_ok=True)
    run(scope, output, measured=not options.tables)
    sys.stdout.write(f"Written to {output}\n")
    return 0


def run(scope: Scope, output: Path, *, measured: bool = True) -> Results:
    """Measure what is missing, then write everything from what is there."""
    path, cells = output / "results.csv", cells_of(scope)
    if measured:
        done = {row.cell for row in read_rows(path)}
        most = _QUICK_RECORDS if scope.name == "quick" else 60_000
        missing = [cell for cell in cells if cell not in done]
        for cell in tqdm(missing, unit="cell", disable=None, mininterval=5.0):
            write_row(measure(cell, most), path)
    results = Results([row for row in read_rows(path) if row.cell in set(cells)])
    figures = output / "figures"
    pictures = [draw_budgets(results, scope, figures), draw_shapes(results, scope, figures)]
    write_readme(results, scope, pictures, output / "README.md")
    return results
