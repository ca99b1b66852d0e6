"""The joint report of eight attributes beside the randomized response of one of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from ours import Randomizer, joint_report, records
from tables import Goal, Row, Table
from timing import Race, Step, Work

from supm._random import secure
from supm.mechanisms import GeneralizedRandomizedResponse

__all__ = ["ONE", "Joint", "randomizers"]

ONE = "1 attribute: randomized response"
_ALL = "8 attributes: joint randomized response"
_CHOSEN = "8 attributes: joint report as chosen"
_TYPES = ("int64", "uint8")
_MEMORY = Path(__file__).resolve().parent / "memory.py"

_Key = tuple[str, str]


def randomizers() -> dict[str, Randomizer]:
    """Return what is compared; the goal is on the first two."""
    return {
        ONE: GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=4.0),
        _ALL: joint_report(chosen=False),
        _CHOSEN: joint_report(chosen=True),
    }


class Joint:
    """Times in turn here, and memory in a process of its own for each row."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._race = Race(_works(count))
        self._peaks: dict[_Key, dict[str, float]] = {}

    def measure(self, repeats: int, step: Step) -> None:
        """Take some turns."""
        step("joint report: time")
        self._race.take_turns(repeats)

    def measure_memory(self, step: Step) -> None:
        """Run each once more, alone; one measurement is enough."""
        step("joint report: memory")
        self._peaks = {key: _peak(*key, self._count) for key in self._race.seconds}

    def table(self) -> Table:
        """Return times and memory."""
        seconds = self._race.seconds
        rows = [_row(key, seconds, self._peaks[key]) for key in seconds]
        return Table(
            f"Joint report of {self._count:,} records of 8 attributes with 4 classes", rows
        )

    def goals(self) -> list[Goal]:
        """Return the goals, each on the worse of the two types."""
        seconds = self._race.seconds
        return [
            Goal(
                name="joint report: time over one attribute's",
                measured=max(seconds[_ALL, kind] / seconds[ONE, kind] for kind in _TYPES),
                limit=3.0,
            ),
            Goal(
                name="joint report: peak memory of the whole process in MB",
                measured=max(self._peaks[_ALL, kind]["process"] for kind in _TYPES),
                limit=200.0,
            ),
        ]


def _works(count: int) -> dict[_Key, Work]:
    source, table = secure(), records(count)
    works: dict[_Key, Work] = {}
    for kind in _TYPES:
        rows = table.astype(kind)
        # A column of its own: reading one out of the table is slow and would flatter the ratio.
        column = np.ascontiguousarray(rows[:, 0])
        for name, each in randomizers().items():
            works[name, kind] = partial(each.randomize, column if name == ONE else rows, source)
    return works


def _peak(name: str, kind: str, count: int) -> dict[str, float]:
    command = [sys.executable, str(_MEMORY), name, kind, str(count)]
    done = subprocess.run(  # noqa: S603  the command is made of our own names and paths
        command, stdout=subprocess.PIPE, text=True, check=True
    )
    megabytes: dict[str, float] = json.loads(done.stdout)
    return megabytes


def _row(key: _Key, seconds: Mapping[_Key, float], peak: Mapping[str, float]) -> Row:
    name, kind = key
    return {
        "report": name,
        "epsilon": 4,
        "classes_as": kind,
        "milliseconds": 1e3 * seconds[key],
        "times_one_attribute": seconds[key] / seconds[ONE, kind],
        "extra_MB": peak["extra"],
        "process_MB": peak["process"],
    }
