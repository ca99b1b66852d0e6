"""The command: run what is missing, then write tables and pictures."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from experiments.budget.pictures import draw_all
from experiments.budget.readme import write_readme
from experiments.budget.results import Results, Row, keep_rows, read_rows, write_row
from experiments.budget.settings import ACADEMIC, FAITHFUL, FULL, QUICK, Job, Scope, jobs_of
from experiments.budget.stages import measure_stages, read_stages
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
        "--again",
        nargs="+",
        default=[],
        metavar="VARIANT",
        help="what to measure anew: all, ours, stages, or names of variants",
    )
    options = parser.parse_args(arguments)
    scope = QUICK if options.quick else FULL
    output = options.output or (Path(tempfile.mkdtemp()) if options.quick else HERE)
    output.mkdir(parents=True, exist_ok=True)
    _forget(output, options.again)
    run(scope, output, measured=not options.tables)
    sys.stdout.write(f"Written to {output}\n")
    return 0


def run(scope: Scope, output: Path, *, measured: bool = True) -> Results:
    """Measure what is missing, then write everything from what is there."""
    path, staged = output / "results.csv", output / "stages.csv"
    jobs = jobs_of(scope)
    if measured:
        _measure_missing(jobs, path)
        measure_stages(staged, scope.stages)
    wanted = {(job.data, job.epsilon, job.variant) for job in jobs}
    results = Results([row for row in read_rows(path) if _setting(row) in wanted])
    pictures = draw_all(results, scope, output / "figures")
    write_readme(results, scope, read_stages(staged), pictures, output / "README.md")
    return results


def _measure_missing(jobs: list[Job], path: Path) -> None:
    done = {_setting(row): row.repetitions for row in read_rows(path)}
    missing = [job for job in jobs if done.get(_setting(job), 0) < job.repetitions]
    for job in tqdm(missing, unit="job", disable=None, mininterval=5.0):
        row = measure(job)
        if row is not None:
            write_row(row, path)


def _setting(given: Job | Row) -> tuple[str, float, str]:
    return given.data, given.epsilon, given.variant


def _named(row: Row, variants: Sequence[str]) -> bool:
    ours = row.variant not in (*ACADEMIC, *FAITHFUL)
    return "all" in variants or row.variant in variants or (ours and "ours" in variants)


def _forget(output: Path, variants: Sequence[str]) -> None:
    if variants:
        path = output / "results.csv"
        keep_rows([row for row in read_rows(path) if not _named(row, variants)], path)
    if {"all", "stages"} & set(variants):
        (output / "stages.csv").unlink(missing_ok=True)
