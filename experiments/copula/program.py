"""The command: run what is missing, then write tables and pictures."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from experiments.copula.made_up import MADE_UP
from experiments.copula.pairs import measure_pair
from experiments.copula.pictures import draw_all
from experiments.copula.readme import write_readme
from experiments.copula.results import Pair, Results, Row, append, forget, read
from experiments.copula.settings import FULL, QUICK, Job, Scope, jobs_of
from experiments.copula.work import measure
from threadpoolctl import threadpool_limits
from tqdm import tqdm

__all__ = ["main", "measured_rows", "run"]

HERE: Final = Path(__file__).resolve().parent
_MADE_UP: Final = "made_up"
_FILES: Final = (*(f"{data}.csv" for data in FULL.real), f"{_MADE_UP}.csv")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return 0 when everything is written."""
    parser = argparse.ArgumentParser(
        description="Measure paper 004: models from records that were noised long ago.",
        epilog="example: python -m experiments.copula.run --quick --output here",
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
    if measured:
        # One core: processor time is then comparable, and two runs do not hinder each other.
        with threadpool_limits(1):
            _measure_pairs(scope, output / "pairs.csv")
            _measure_jobs(scope, output)
    wanted = set(jobs_of(scope))
    rows = [row for row in measured_rows(output) if row.job in wanted]
    results = Results(rows, read(Pair, output / "pairs.csv"))
    draw_all(results, scope, output / "figures")
    write_readme(results, scope, output / "README.md")
    return results


def measured_rows(output: Path) -> list[Row]:
    """Return what was measured by the methods of now: on real tables, and on made-up ones."""
    return [row for name in _FILES for row in read(Row, output / name)]


def _measure_jobs(scope: Scope, output: Path) -> None:
    for name in _FILES:
        forget(Row, output / name)
    done = {row.job for row in measured_rows(output)}
    missing = [job for job in jobs_of(scope) if job not in done]
    for job in tqdm(missing, unit="job", disable=None, mininterval=5.0):
        append(measure(job, scope), output / _file_of(job))


def _file_of(job: Job) -> str:
    """Return where the rows of a job are kept: real tables have a file each."""
    return f"{_MADE_UP if job.data in MADE_UP else job.data}.csv"


def _measure_pairs(scope: Scope, path: Path) -> None:
    forget(Pair, path)
    done = {(pair.epsilon, pair.repetition) for pair in read(Pair, path)}
    for repetition in range(scope.pairs):
        for epsilon in scope.epsilons:
            if (epsilon, repetition) not in done:
                append(measure_pair(epsilon, repetition, scope.few), path)
