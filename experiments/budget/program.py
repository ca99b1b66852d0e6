"""The command: run what is missing, then write tables and pictures."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from experiments.budget.results import Results, keep_rows, read_rows, write_row
from experiments.budget.settings import FULL, QUICK, Job, Scope, jobs_of
from experiments.budget.variants import measure
from tqdm import tqdm

__all__ = ["main", "run"]

HERE: Final = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return 0 when everything is written."""
    parser = argparse.ArgumentParser(
        description="Measure what a budget buys: ours, the papers' and the academic baselines'.",
        epilog="example: python -m experiments.budget.run --quick --output here",
    )
    parser.add_argument("--quick", action="store_true", help="a look, in seconds: two data sets")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (here)")
    parser.add_argument("--tables", action="store_true", help="write from what is finished")
    parser.add_argument(
        "--again", nargs="+", default=[], metavar="VARIANT", help="variants to measure anew, or all"
    )
    options = parser.parse_args(arguments)
    scope = QUICK if options.quick else FULL
    output = options.output or (Path(tempfile.mkdtemp()) if options.quick else HERE)
    output.mkdir(parents=True, exist_ok=True)
    _forget(output / "results.csv", options.again)
    run(scope, output, measured=not options.tables)
    sys.stdout.write(f"Written to {output}\n")
    return 0


def run(scope: Scope, output: Path, *, measured: bool = True) -> Results:
    """Measure what is missing, then write everything from what is there."""
    path = output / "results.csv"
    jobs = jobs_of(scope)
    if measured:
        _measure_missing(jobs, path)
    wanted = set(jobs)
    return Results([row for row in read_rows(path) if row.job in wanted])


def _measure_missing(jobs: list[Job], path: Path) -> None:
    done = {row.job for row in read_rows(path)}
    missing = [job for job in jobs if job not in done]
    for job in tqdm(missing, unit="job", disable=None, mininterval=5.0):
        row = measure(job)
        if row is not None:
            write_row(row, path)


def _forget(path: Path, variants: Sequence[str]) -> None:
    if variants:
        kept = [r for r in read_rows(path) if "all" not in variants and r.variant not in variants]
        keep_rows(kept, path)
