"""Measure exact discrete Gaussian noise beside OpenDP's, in one run.

Usage: python benchmarks/noise.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import opendp.prelude as dp
from tables import Goal, Table, as_json, as_text
from timing import Race, Step, Work, silent
from tqdm import tqdm

from supm import secure
from supm.mechanisms import DiscreteGaussian, GaussianNoise

__all__ = ["FULL", "QUICK", "SIGMAS", "main", "measure"]

FULL, QUICK = 300_000, 20_000
SIGMAS = {"5": 5, "2^37": 1 << 37}
_OURS = "SUPM"
_THEIRS = f"OpenDP {version('opendp')}"
_FLOATS = "SUPM, on floats"
_REPEATS = 5


def measure(count: int, step: Step = silent) -> tuple[list[Table], list[Goal]]:
    """Draw so many numbers of each width on all sides, which take turns."""
    seconds = {name: _race(name, count, step) for name in SIGMAS}
    rows = [_row(name, who, each, count) for name, each in seconds.items() for who in each]
    ratios = [each[_THEIRS] / each[_OURS] for each in seconds.values()]
    goal = Goal(
        name="discrete Gaussian: OpenDP's time over ours",
        measured=min(ratios),
        limit=20.0,
        at_least=True,
    )
    return [Table(f"Gaussian noise, {count:,} draws", rows)], [goal]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the goal."""
    parser = argparse.ArgumentParser(
        description="Measure exact discrete Gaussian noise beside OpenDP's.",
        epilog="example: python benchmarks/noise.py --json noise.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer draws: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    with tqdm(total=len(SIGMAS) * _REPEATS, leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals = measure(QUICK if options.quick else FULL, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


def _race(name: str, count: int, step: Step) -> Mapping[str, float]:
    race = Race(_works(SIGMAS[name], count))
    for _ in range(_REPEATS):
        step(f"sigma {name}")
        race.take_turns(1)
    return race.seconds


def _works(sigma: int, count: int) -> dict[str, Work]:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    theirs, zeros = dp.m.make_gaussian(*space, scale=float(sigma)), [0] * count
    return {
        _OURS: partial(DiscreteGaussian(sigma).draw, count, secure()),
        _THEIRS: partial(theirs, zeros),
        _FLOATS: partial(GaussianNoise(float(sigma)).draw, count, secure()),
    }


def _row(name: str, who: str, seconds: Mapping[str, float], count: int) -> dict[str, str | float]:
    return {
        "sigma": name,
        "who": who,
        "exact": "no" if who == _FLOATS else "yes",
        "milliseconds": 1e3 * seconds[who],
        "million_draws_per_second": count / seconds[who] / 1e6,
        "times_our_time": seconds[who] / seconds[_OURS],
    }


if __name__ == "__main__":
    sys.exit(main())
