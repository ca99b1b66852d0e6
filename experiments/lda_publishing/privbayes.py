"""PrivBayes, with which the paper compares itself: a made-up table, and the machine it teaches.

It is had from a maintained package, dpmm, which lives in an environment of its own. One made-up
table serves all tasks that ask about the same columns. Whatever makes a table up can be measured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from environments import Environment
from experiments.lda_publishing.data import TABLES, encode, encoded, read_task, records_of
from experiments.lda_publishing.results import Row
from experiments.lda_publishing.settings import DELTA, RIVAL
from experiments.lda_publishing.work import Split
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from supm.federation.rows import Rows
from supm.schema import Attribute, Continuous

__all__ = ["Coded", "MakeUp", "dpmm_rows", "measure_budget"]

Whole = NDArray[np.int64]
MakeUp = Callable[[Whole, tuple[int, ...], float, int], tuple[Whole, float]]
"""From rows of classes, how many classes each column has, epsilon and seed: rows and seconds."""

_BINS: Final = 16
# Steps of the fit of dpmm. Its default, 5000, takes ten times as long; see the README.
_STEPS: Final = 500


@dataclass(frozen=True, eq=False)
class Coded:
    """A table as classes: categories as they are, numbers in equal bins of their public bounds.

    Parameters
    ----------
    attributes : tuple of Attribute
        Of all columns, the target last.
    codes : ndarray of int64, shape (rows, columns)
        The class of each value.
    """

    attributes: tuple[Attribute, ...]
    codes: Whole

    @classmethod
    def of(cls, task: str) -> Coded:
        """Return the table of a task."""
        schema, records = records_of(task)
        attributes = (*schema.attributes, schema.target)
        told = [*(records.columns[each.name] for each in schema.attributes), records.target]
        pairs = zip(attributes, told, strict=True)
        return cls(attributes, np.column_stack([_classes(*pair) for pair in pairs]))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many classes each column has."""
        return tuple(_size(each) for each in self.attributes)

    def columns(self, codes: Whole) -> dict[str, NDArray[Any]]:
        """Return the columns that rows of classes stand for; a bin stands for its middle."""
        pairs = zip(self.attributes, codes.T, strict=True)
        return {each.name: _values(each, own) for each, own in pairs}


def measure_budget(table: str, epsilon: float, repetitions: int, make_up: MakeUp) -> list[Row]:
    """Return one row for each task of a table."""
    tasks = TABLES[table]
    coded = Coded.of(tasks[0])
    found = [_repetition(coded, tasks, epsilon, seed, make_up) for seed in range(repetitions)]
    errors, bases, seconds = (np.array(each) for each in zip(*found, strict=True))
    return [
        _row(task, epsilon, errors[:, place], bases[:, place], float(seconds.sum()) / len(tasks))
        for place, task in enumerate(tasks)
    ]


def dpmm_rows(
    codes: Whole, sizes: tuple[int, ...], epsilon: float, seed: int
) -> tuple[Whole, float]:
    """Return as many rows, made up by dpmm, and the processor seconds that they took."""
    environment = Environment(name="dpmm")
    environment.prepare()
    with tempfile.TemporaryDirectory() as name:
        table, made_up = Path(name, "table.npy"), Path(name, "made_up.npy")
        np.save(table, codes)
        question = {
            "table": str(table),
            "made_up": str(made_up),
            "sizes": sizes,
            "epsilon": epsilon,
            "delta": DELTA,
            "seed": seed,
            "steps": _STEPS,
        }
        answer = environment.answer("privbayes_rows", question)
        return np.load(made_up), float(answer["seconds"])


def _repetition(
    coded: Coded, tasks: Sequence[str], epsilon: float, seed: int, make_up: MakeUp
) -> tuple[list[float], list[float], float]:
    splits = [Split(encoded(task)[1], seed) for task in tasks]
    rows, seconds = make_up(coded.codes[splits[0].chosen], coded.sizes, epsilon, seed)
    columns = coded.columns(rows)
    pairs = list(zip(tasks, splits, strict=True))
    errors = [split.errors(_answers(_rows(task, columns), split.test)) for task, split in pairs]
    return errors, [split.plain()["lda"] for split in splits], seconds


def _rows(task: str, columns: dict[str, NDArray[Any]]) -> Rows:
    schema, records = read_task(task, columns)
    return encode(schema).rows(records)


def _answers(made_up: Rows, test: Rows) -> Whole:
    """Return what a linear machine answers that has seen made-up rows only."""
    if np.unique(made_up.labels).size < made_up.classes:
        return np.full(test.size, made_up.labels[0])
    machine = LinearSVC(dual=False).fit(made_up.unit, made_up.labels)
    return np.asarray(machine.predict(test.unit), dtype=np.int64)


def _row(
    task: str, epsilon: float, errors: NDArray[Any], bases: NDArray[Any], seconds: float
) -> Row:
    excess = errors - bases
    return Row(
        task=task,
        variant=RIVAL,
        epsilon=epsilon,
        parties=1,
        colluders=0,
        repetitions=errors.size,
        error=float(errors.mean()),
        error_sd=_spread(errors),
        excess=float(excess.mean()),
        excess_sd=_spread(excess),
        seconds=seconds,
    )


def _spread(values: NDArray[Any]) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def _size(attribute: Attribute) -> int:
    return _BINS if isinstance(attribute, Continuous) else len(attribute.values)


def _classes(attribute: Attribute, told: NDArray[Any] | None) -> Whole:
    if not isinstance(attribute, Continuous):
        return np.asarray(told, dtype=np.int64)
    share = (np.asarray(told) - attribute.low) / (attribute.high - attribute.low)
    return np.clip((share * _BINS).astype(np.int64), 0, _BINS - 1)


def _values(attribute: Attribute, codes: Whole) -> NDArray[Any]:
    if isinstance(attribute, Continuous):
        width = (attribute.high - attribute.low) / _BINS
        return np.asarray(attribute.low + width * (codes + 0.5))
    return np.array(attribute.values, dtype=object)[codes]
