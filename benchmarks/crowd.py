"""A study of many made-up people, in a process that holds one batch of them at a time.

Usage: python crowd.py FORM PEOPLE …, with numbers of people that grow; prints a JSON line for each
of them, and at last one with the seconds that counting one batch takes us and others. Seconds are
those of the processor, so that a busy neighbour is not counted.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from memory import megabytes
from numpy.typing import NDArray
from timing import Race, Work

from supm import RandomSource, secure, simulation
from supm.collection import Counts, count, plan, train
from supm.learning import RadialSVM
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import Interview, interview
from supm.owner.joint import JointInterview
from supm.schema import Categorical, Continuous, Records, Schema

__all__ = ["BATCH", "FORMS", "OURS", "race", "stream", "study_of"]

BATCH = 1 << 18
OURS = "SUPM"
FORMS = {"odp": 20.0, "joint": 6.0}
"""The form of a report and its epsilon: the papers' one, and that of the strict mode."""

_ATTRIBUTES, _CLASSES, _PENALTY = 5, 4, 2.1
_TRAININGS = 3
_TURNS = 7


def study_of(form: str) -> Study:
    """Return a study with five attributes of four classes and two labels."""
    names = [f"attribute {number}" for number in range(_ATTRIBUTES)]
    schema = Schema(
        attributes=tuple(Continuous(name, low=0, high=1) for name in names),
        target=Categorical("label", values=("no", "yes")),
    )
    return plan(
        schema, epsilon=FORMS[form], attributes=names, classes=_CLASSES, train=form, test=form
    )


def stream(form: str, marks: list[int]) -> Iterator[dict[str, float]]:
    """Let people report batch after batch; at each mark, train on the counts so far."""
    study = study_of(form)
    asked, people, coins = interview(study, "train"), simulation(1), secure()
    seconds = {"owners": 0.0, "counting": 0.0}
    counts, done = None, 0
    for mark in marks:
        while done < mark:
            rows = min(BATCH, mark - done)
            counts = _add_batch(asked, _draw(study.schema, rows, people), coins, counts, seconds)
            done += rows
        assert counts is not None  # noqa: S101  a mark is at least one person
        training = min(_seconds(partial(_train, study, counts)) for _ in range(_TRAININGS))
        yield {"people": done, **seconds, "training": training, "process": megabytes("VmHWM")}


def race(form: str, rows: int, turns: int = _TURNS) -> dict[str, float]:
    """Return the least seconds in which a batch of received reports is counted."""
    study = study_of(form)
    asked = interview(study, "train")
    told = asked.randomize(asked.encode(_draw(study.schema, rows, simulation(2))), secure())
    turn = Race(_works(asked, told), clock=time.process_time)
    turn.take_turns(turns)
    return turn.seconds


def _works(asked: Interview, told: Reports) -> dict[str, Work]:
    symbols = told.symbols
    works: dict[str, Work] = {OURS: partial(count, asked, told)}
    if isinstance(asked, JointInterview):
        members = pd.Series(symbols.ravel())
        return works | {
            "NumPy by hand, unchecked": lambda: np.bincount(symbols.ravel()),
            "pandas value_counts": partial(members.value_counts, sort=False),
            "NumPy unique": lambda: np.unique(symbols, return_counts=True),
        }
    frame, columns = pd.DataFrame(symbols), list(range(asked.width))
    return works | {
        "NumPy by hand, unchecked": partial(_by_hand, symbols),
        "pandas groupby": lambda: frame.groupby(columns, sort=False).size(),
        "NumPy unique": lambda: np.unique(symbols, axis=0, return_counts=True),
    }


def _by_hand(symbols: NDArray[Any]) -> NDArray[np.int64]:
    sizes = (*(_CLASSES,) * _ATTRIBUTES, 2)
    numbers = np.ravel_multi_index(tuple(symbols.T), sizes, mode="wrap")
    return np.bincount(numbers, minlength=int(np.prod(sizes)))


def _draw(schema: Schema, rows: int, source: RandomSource) -> Records:
    """Draw people whose label leans with the sum of their numbers; one in five is wrong."""
    columns = {name: _uniform(source, rows) for name in schema.names}
    leaning = sum(columns.values()) > _ATTRIBUTES / 2
    wrong = source.below(5, rows) == 0
    return Records(
        attributes=schema.attributes,
        columns=columns,
        target=(leaning ^ wrong).astype(np.int64),
        rows=rows,
    )


def _uniform(source: RandomSource, rows: int) -> NDArray[np.float64]:
    return (source.words(rows) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _add_batch(
    asked: Interview,
    records: Records,
    coins: RandomSource,
    counts: Counts | None,
    seconds: dict[str, float],
) -> Counts:
    start = time.process_time()
    reports = asked.randomize(asked.encode(records), coins)
    reported = time.process_time()
    added: Any = count(asked, reports)
    total: Counts = added if counts is None else counts + added
    seconds["owners"] += reported - start
    seconds["counting"] += time.process_time() - reported
    return total


def _train(study: Study, counts: Counts) -> None:
    train(study, counts, RadialSVM(penalty=_PENALTY))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    form, *marks = sys.argv[1:]
    for row in stream(form, [int(mark) for mark in marks]):
        print(json.dumps(row), flush=True)
    print(json.dumps(race(form, min(BATCH, int(marks[-1])))))
