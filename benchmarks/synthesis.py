"""Synthetic tables from noised records: seconds and memory, beside a package without privacy.

Usage: python benchmarks/synthesis.py [--quick] [--json FILE]

30 numbers, each noised with epsilon 1, become 100,000 synthetic rows. The other package, copulas,
gets the same table without noise, in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from environments import Peer, PeerError
from memory import megabytes
from numpy.typing import NDArray
from peers.made_table import COLUMNS, clean_table, uniform
from tables import Goal, Row, Table, as_json, as_text
from tqdm import tqdm

from supm import secure
from supm.mechanisms import ContinuousLaplace
from supm.synthesis import Archive, ArchiveSchema, NumberColumn, learn_model
from supm.synthesis.tables import Stop, reconstruct_table

__all__ = ["FULL", "QUICK", "Plan", "benchmark", "main"]

_SAMPLES = 100_000
_BINS = 100
_STEPS = 300
_LAW = ContinuousLaplace.for_epsilon(low=0.0, high=1.0, epsilon=1.0)
_SCHEMA = ArchiveSchema(columns=tuple(NumberColumn(f"c{i}", _LAW) for i in range(COLUMNS)))

COPULAS = Peer(
    name="copulas",
    script="copulas_table",
    how="not private",
    cases=("every shape is a normal", "every shape is chosen"),
    slow=True,
)


@dataclass(frozen=True)
class Plan:
    """How many records there are in the small and in the large table, and how often each runs."""

    small: int
    large: int
    repeats: int


FULL = Plan(small=10_000, large=1_000_000, repeats=5)
QUICK = Plan(small=1_000, large=10_000, repeats=1)


def noised_table(rows: int) -> dict[str, NDArray[np.float64]]:
    """Return the fixed table with Laplace noise: an input, not a release."""
    table = clean_table(rows)
    for place, name in enumerate(table):
        centred = uniform(1 + rows * (COLUMNS + 1 + place), rows) - 0.5
        table[name] -= _LAW.scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))
    return table


def once(rows: int) -> dict[str, float]:
    """Return seconds of each step from a noisy table to synthetic rows, and the peak of memory."""
    table = noised_table(rows)
    before = megabytes("VmRSS")
    marks = [time.perf_counter()]
    archive = Archive.read(table, _SCHEMA)
    marks.append(time.perf_counter())
    model = learn_model(archive)
    marks.append(time.perf_counter())
    model.sample(_SAMPLES, secure())
    marks.append(time.perf_counter())
    read, learn, sample = np.diff(marks).tolist()
    return {
        "read": read,
        "learn": learn,
        "sample": sample,
        "total": read + learn + sample,
        "process": megabytes("VmHWM"),
        "input": before,
    }


def benchmark(plan: Plan, step: Callable[[str], object]) -> tuple[list[Table], list[Goal], bool]:
    """Measure everything; say also whether the other package could be measured."""
    found = {}
    for rows, repeats in ((plan.small, plan.repeats), (plan.large, max(1, plan.repeats // 2))):
        step(f"{rows:,} records")
        found[rows] = _best(rows, repeats)
    step("EM")
    climbs = {rows: _climb(rows, plan.repeats) for rows in (plan.small, plan.large)}
    step("copulas")
    others, complete = _copulas(plan, found[plan.small]["total"])
    tables = [
        Table(f"From {COLUMNS} noised columns to {_SAMPLES:,} rows", _speed_rows(found)),
        Table(
            f"{_STEPS} steps of EM for one column, after its reports were counted", _em_rows(climbs)
        ),
        Table(f"Beside a copula without privacy, {plan.small:,} clean records", others),
    ]
    return tables, _goals(plan, found, climbs), complete


def _best(rows: int, repeats: int) -> dict[str, float]:
    """Run in processes of their own, whose memory is theirs alone, and keep the fastest."""
    command = [sys.executable, str(Path(__file__).resolve()), "--once", str(rows)]
    runs = []
    for _ in range(repeats):
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  our own file
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return min(runs, key=lambda run: float(run["total"]))


def _climb(rows: int, repeats: int) -> float:
    reports = noised_table(rows)["c0"]
    told = _SCHEMA.columns[0].cell_reports(reports, _BINS)
    counts = told.counts()
    least = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        reconstruct_table(counts, [told.channel], stop=Stop(gain=0.0, steps=_STEPS))
        least = min(least, time.perf_counter() - start)
    return least


def _copulas(plan: Plan, ours: float) -> tuple[list[Row], bool]:
    rows: list[Row] = [
        {"who": "SUPM", "how": "from noised records", "seconds": ours, "times_our_time": 1.0}
    ]
    try:
        COPULAS.prepare()
        version, seconds = COPULAS.measure(dict.fromkeys(COPULAS.cases, plan.small))
    except PeerError as error:
        rows.append(
            {
                "who": "copulas",
                "how": f"not measured: {error}",
                "seconds": None,
                "times_our_time": None,
            }
        )
        return rows, False
    for case, taken in seconds.items():
        how = f"{COPULAS.how}, {case}"
        rows.append(
            {
                "who": f"copulas {version}",
                "how": how,
                "seconds": taken,
                "times_our_time": taken / ours,
            }
        )
    return rows, True


def _speed_rows(found: dict[int, dict[str, float]]) -> list[Row]:
    return [
        {
            "records": rows,
            "read_s": one["read"],
            "learn_s": one["learn"],
            "sample_s": one["sample"],
            "total_s": one["total"],
            "process_MB": one["process"],
            "of_which_input_MB": one["input"],
        }
        for rows, one in found.items()
    ]


def _em_rows(climbs: dict[int, float]) -> list[Row]:
    return [{"records": rows, "milliseconds": 1000 * taken} for rows, taken in climbs.items()]


def _goals(plan: Plan, found: dict[int, dict[str, float]], climbs: dict[int, float]) -> list[Goal]:
    small, large = found[plan.small], found[plan.large]
    ratio = climbs[plan.large] / climbs[plan.small]
    return [
        Goal(name=f"{plan.small:,} records: seconds", measured=small["total"], limit=3.0),
        Goal(name=f"{plan.large:,} records: seconds", measured=large["total"], limit=40.0),
        Goal(name=f"{plan.large:,} records: MB", measured=large["process"], limit=4000.0),
        Goal(name="EM of the large table over that of the small one", measured=ratio, limit=1.5),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if the other package could not be measured."""
    parser = argparse.ArgumentParser(
        description="Measure synthesis from noised records beside a copula without privacy.",
        epilog="example: python benchmarks/synthesis.py --json figures.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer records: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--once", type=int, metavar="ROWS", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.once:
        print(json.dumps(once(options.once)))
        return 0
    with tqdm(total=4, leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals, complete = benchmark(QUICK if options.quick else FULL, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
