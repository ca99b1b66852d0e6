"""The command: run what is missing, then write pictures, results and the README."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from experiments.supm.cache import Cache
from experiments.supm.jobs import Job
from experiments.supm.pictures import draw_all
from experiments.supm.readme import write_readme
from experiments.supm.results import Results
from experiments.supm.schedule import FULL, Scope, entries_of
from experiments.supm.tables import write_results
from experiments.supm.work import do_all
from tqdm import tqdm

__all__ = ["QUICK", "main", "run"]

HERE: Final = Path(__file__).resolve().parent
_EASY: Final = ("wdbc", "ionosphere", "musk2")
QUICK: Final = Scope(
    name="quick",
    data=tuple(
        replace(
            data,
            grid=(10.0, 50.0),
            coarse=(50.0,),
            repeats=1,
            raw_repeats=1,
            searches=("rand",),
            search_repeats=1,
            combined=(50.0,),
            noisy=(50.0,),
        )
        for data in FULL.data
        if data.name != "musk2"
    ),
    searched=((2, 2), (5, 2), (5, 4), (10, 5)),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return 0 when everything is written."""
    parser = argparse.ArgumentParser(
        description="Reproduce papers 000 and 001: pictures, results and every printed number.",
        epilog="example: python experiments/supm/run.py --quick --output here",
    )
    parser.add_argument("--quick", action="store_true", help="a look: two data sets, few points")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (here)")
    parser.add_argument("--tables", action="store_true", help="write from what is finished")
    options = parser.parse_args(arguments)
    scope = QUICK if options.quick else FULL
    output = options.output or (HERE / ".cache" / "quick" if options.quick else HERE)
    run(scope, output, workers=0 if options.tables else options.workers)
    sys.stdout.write(f"Written to {output}\n")
    return 0


def run(scope: Scope, output: Path, *, workers: int) -> Results:
    """Do what is not in the cache, with 0 workers nothing; then write everything."""
    cache = Cache(output / ".cache" / f"{scope.name}.jsonl")
    jobs = tuple(entry.job for entry in entries_of(scope))
    if workers:
        _do_missing(cache, sorted(cache.missing(jobs), key=_cost), workers)
    results = Results(scope, {job: cache.outcomes[job] for job in jobs if job in cache.outcomes})
    pictures = draw_all(results, output / "figures")
    write_results(results, output / "results.csv")
    write_readme(results, pictures, output / "README.md")
    return results


def _do_missing(cache: Cache, missing: list[Job], workers: int) -> None:
    with tqdm(total=len(missing), unit="job", disable=None, mininterval=5.0) as bar:
        for job, outcome in do_all(missing, workers):
            cache.add(job, outcome)
            bar.set_postfix_str(f"{job.data} {job.method}", refresh=False)
            bar.update()


def _cost(job: Job) -> tuple[int, float]:
    """Small data first; within a data set the costly jobs first, so that no process ends alone."""
    size = max((keep * classes for keep, classes in job.pairs), default=1000)
    return _EASY.index(job.data), -size * len(job.pairs) / (1.0 + job.epsilon)
