"""One study as the number of people grows: time of owners, counting and training, and memory.

Usage: python benchmarks/scale.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from crowd import BATCH, FORMS, OURS, study_of
from tables import Goal, Row, Table, as_json, as_text
from timing import Race, Step, silent
from tqdm import tqdm

from supm import secure, simulation
from supm.collection import count, plan
from supm.owner import interview

__all__ = ["FULL", "QUICK", "Scale", "main"]

FULL = (10**4, 10**5, 10**6, 10**7, 10**8)
QUICK = (10**3, 10**4, 10**5, 10**6)
_CROWD = Path(__file__).resolve().parent / "crowd.py"
_ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_WORDS = {
    "odp": "each class by itself (ODP), epsilon 20",
    "joint": "all classes as one set, epsilon 6",
    "sample": "2 of 5 classes as one symbol, epsilon 4",
}


class Scale:
    """The curve of each form, streamed in a process of its own on one core."""

    def __init__(self, marks: Sequence[int]) -> None:
        self._marks = tuple(marks)
        self._curves: dict[str, list[dict[str, float]]] = {}
        self._batch: dict[str, dict[str, float]] = {}
        self._sampled: dict[str, float] = {}

    def measure(self, step: Step) -> None:
        """Stream the people of each form."""
        for form in FORMS:
            *self._curves[form], self._batch[form] = _run(form, self._marks, step)
        self._sampled = _counting_samples(min(BATCH, self._marks[-1]))

    def tables(self) -> list[Table]:
        """Return the curves, and one batch beside others."""
        rows = [_row(form, each) for form in FORMS for each in self._curves[form]]
        size = min(BATCH, self._marks[-1])
        beside = [_beside(form, name, self._batch[form], size) for form, name in self._sides()]
        beside.append(_beside("sample", OURS, self._sampled, size))
        return [
            Table("One study, 5 attributes of 4 classes, as people grow, on one core", rows),
            Table(f"Counting one batch of {size:,} received reports, on one core", beside),
        ]

    def goals(self) -> list[Goal]:
        """Return the goals, each on the worse of the forms."""
        _, few, _, many, *_ = self._marks
        ratios = [_training(curve, many) / _training(curve, few) for curve in self._curves.values()]
        size = min(BATCH, self._marks[-1])
        rates = [size / seconds[OURS] / 1e6 for seconds in self._batch.values()]
        peaks = [each["process"] for curve in self._curves.values() for each in curve]
        return [
            Goal(
                name=f"training from {many:,} reports: time over {few:,} reports'",
                measured=max(ratios),
                limit=2.0,
            ),
            Goal(
                name="counting: million reports per second",
                measured=min(rates),
                limit=20.0,
                at_least=True,
            ),
            Goal(name="peak memory of the whole process in MB", measured=max(peaks), limit=500.0),
        ]

    def _sides(self) -> list[tuple[str, str]]:
        return [(form, name) for form, seconds in self._batch.items() for name in seconds]


def _run(form: str, marks: Sequence[int], step: Step) -> list[dict[str, float]]:
    command = [sys.executable, str(_CROWD), form, *map(str, marks)]
    found: list[dict[str, float]] = []
    with subprocess.Popen(  # noqa: S603  the command is made of our own names and paths
        command, stdout=subprocess.PIPE, text=True, env=os.environ | _ONE_CORE
    ) as child:
        assert child.stdout is not None  # noqa: S101  a pipe was asked for
        for line in child.stdout:
            step(f"{form}: {len(found)} of {len(marks)} sizes")
            found.append(json.loads(line))
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return found


def _counting_samples(size: int) -> dict[str, float]:
    """Return the least seconds in which a batch of sampled reports is counted, by pairs."""
    schema = study_of("joint").schema
    asked = interview(plan(schema, epsilon=4.0, classes=4, told=2), "train")
    rows = asked.inputs()[simulation(1).below(len(asked.inputs()), size).astype("int64")]
    told = asked.randomize(rows, secure())
    race = Race({OURS: partial(count, asked, told)}, clock=time.process_time)
    race.take_turns(7)
    return race.seconds


def _row(form: str, found: dict[str, float]) -> Row:
    people = int(found["people"])
    return {
        "report": _WORDS[form],
        "people": people,
        "owners_seconds": found["owners"],
        "counting_seconds": found["counting"],
        "training_seconds": found["training"],
        "million_reports_made_per_second": people / found["owners"] / 1e6,
        "million_reports_counted_per_second": people / found["counting"] / 1e6,
        "process_MB": found["process"],
    }


def _beside(form: str, name: str, seconds: dict[str, float], size: int) -> Row:
    return {
        "report": _WORDS[form],
        "who": name,
        "milliseconds": 1e3 * seconds[name],
        "million_reports_per_second": size / seconds[name] / 1e6,
        "times_our_time": seconds[name] / seconds[OURS],
    }


def _training(curve: list[dict[str, float]], people: int) -> float:
    return next(each["training"] for each in curve if each["people"] == people)


def measure(marks: Sequence[int], step: Step = silent) -> tuple[list[Table], list[Goal]]:
    """Measure everything once."""
    scale = Scale(marks)
    scale.measure(step)
    return scale.tables(), scale.goals()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and the goals."""
    parser = argparse.ArgumentParser(
        description="Measure a study as the number of people grows.",
        epilog="example: python benchmarks/scale.py --json scale.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer people: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    marks = QUICK if options.quick else FULL
    with tqdm(total=len(FORMS) * (len(marks) + 1), leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals = measure(marks, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
