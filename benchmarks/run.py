"""Measure the speed and the memory of SUPM beside other packages, in one run.

Usage: python benchmarks/run.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from environments import PEERS, Peer
from joint import Joint
from tables import Goal, Table, as_json, as_text
from throughput import Plan, Throughput
from timing import Step, silent
from tqdm import tqdm
from words import Words

__all__ = ["FULL", "QUICK", "benchmark", "main"]

FULL = Plan(count=1_000_000, peer_count=100_000, rounds=3, repeats=7)
QUICK = Plan(count=100_000, peer_count=5_000, rounds=1, repeats=3)


def benchmark(
    plan: Plan, peers: Sequence[Peer], step: Step = silent
) -> tuple[list[Table], list[Goal], bool]:
    """Measure everything, in rounds; say also whether all packages could be measured."""
    throughput, joint, words = Throughput(plan, peers), Joint(plan.count), Words(plan.count)
    throughput.prepare(step)
    for _ in range(plan.rounds):
        throughput.measure(step)
        joint.measure(2 * plan.repeats, step)
        words.measure(2 * plan.repeats, step)
    joint.measure_memory(step)
    tables = [*throughput.tables(), joint.table(), words.table()]
    return tables, [*throughput.goals(), *joint.goals()], throughput.complete


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if a package could not be measured."""
    parser = argparse.ArgumentParser(
        description="Measure the speed and the memory of SUPM beside other packages.",
        epilog="example: python benchmarks/run.py --json figures.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer values: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else FULL
    tables, goals, complete = _with_progress(plan)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0 if complete else 1


def _with_progress(plan: Plan) -> tuple[list[Table], list[Goal], bool]:
    steps = len(PEERS) + plan.rounds * (3 + len(PEERS)) + 1
    with tqdm(total=steps, leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        return benchmark(plan, PEERS, step)


if __name__ == "__main__":
    sys.exit(main())
