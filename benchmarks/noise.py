"""Measure exact discrete Gaussian and Laplace noise beside OpenDP's, in one run.

Usage: python benchmarks/noise.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from pathlib import Path

import opendp.prelude as dp
from tables import Goal, Table, as_json, as_text
from timing import Race, Step, Work, silent
from tqdm import tqdm

from supm import secure
from supm.mechanisms import DiscreteGaussian, GaussianNoise
from supm.mechanisms.noise import DiscreteLaplaceNoise

__all__ = ["FULL", "KINDS", "QUICK", "WIDTHS", "main", "measure"]

FULL, QUICK = 300_000, 20_000
KINDS = ("Gaussian", "Laplace")
WIDTHS = {"5": 5, "2^37": 1 << 37}
_OURS = "SUPM"
_THEIRS = f"OpenDP {version('opendp')}"
_FLOATS = "SUPM, on floats"
_REPEATS = 5


def measure(count: int, step: Step = silent) -> tuple[list[Table], list[Goal]]:
    """Draw so many numbers of each kind and width on all sides, which take turns."""
    found = [_measured(kind, count, step) for kind in KINDS]
    return [table for table, _ in found], [goal for _, goal in found]


def _measured(kind: str, count: int, step: Step) -> tuple[Table, Goal]:
    seconds = {width: _race(kind, width, count, step) for width in WIDTHS}
    rows = [_row(width, who, each, count) for width, each in seconds.items() for who in each]
    goal = Goal(
        name=f"discrete {kind}: OpenDP's time over ours",
        measured=min(each[_THEIRS] / each[_OURS] for each in seconds.values()),
        limit=20.0,
        at_least=True,
    )
    return Table(f"{kind} noise, {count:,} draws", rows), goal


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the goal."""
    parser = argparse.ArgumentParser(
        description="Measure exact discrete noise beside OpenDP's.",
        epilog="example: python benchmarks/noise.py --json noise.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer draws: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    with tqdm(total=len(KINDS) * len(WIDTHS) * _REPEATS, leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals = measure(QUICK if options.quick else FULL, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


def _race(kind: str, width: str, count: int, step: Step) -> Mapping[str, float]:
    race = Race(_works(kind, WIDTHS[width], count))
    for _ in range(_REPEATS):
        step(f"{kind} {width}")
        race.take_turns(1)
    return race.seconds


def _works(kind: str, width: int, count: int) -> dict[str, Work]:
    dp.enable_features("contrib")
    domain, zeros = dp.vector_domain(dp.atom_domain(T="i64")), [0] * count
    if kind == "Laplace":
        theirs = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=float(width))
        ours = DiscreteLaplaceNoise(Fraction(width))
        return {_OURS: partial(ours.draw, count, secure()), _THEIRS: partial(theirs, zeros)}
    theirs = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(width))
    return {
        _OURS: partial(DiscreteGaussian(width).draw, count, secure()),
        _THEIRS: partial(theirs, zeros),
        _FLOATS: partial(GaussianNoise(float(width)).draw, count, secure()),
    }


def _row(width: str, who: str, seconds: Mapping[str, float], count: int) -> dict[str, str | float]:
    return {
        "width": width,
        "who": who,
        "exact": "no" if who == _FLOATS else "yes",
        "milliseconds": 1e3 * seconds[who],
        "million_draws_per_second": count / seconds[who] / 1e6,
        "times_our_time": seconds[who] / seconds[_OURS],
    }


if __name__ == "__main__":
    sys.exit(main())
