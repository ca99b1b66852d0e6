"""What was measured, kept in files that a stopped run goes on with."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from experiments.copula.settings import VERSIONS, Job

__all__ = ["Pair", "Results", "Row", "Summary", "append", "forget", "read"]

Kind = TypeVar("Kind", "Row", "Pair")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method with one learner in one job: means over its five folds.

    Parameters
    ----------
    data, records, epsilon, repetition, group
        As in `Job`.
    method, learner : str
        What was run.
    mse, mae : float
        Mean squared and mean absolute error on the clean test folds; the target is in [0, 1].
    seconds : float
        Processor time.
    version : int
        Of the group, when it was run.
    """

    data: str
    records: int
    epsilon: float
    repetition: int
    group: str
    method: str
    learner: str
    mse: float
    mae: float
    seconds: float
    version: int

    @property
    def current(self) -> bool:
        """Whether the group answers as it did then."""
        return self.version == VERSIONS[self.group]

    @property
    def job(self) -> Job:
        """The job that it is of."""
        return Job(
            repetition=self.repetition,
            group=self.group,
            data=self.data,
            records=self.records,
            epsilon=self.epsilon,
        )


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Crime and price in Boston, after noise or synthesis (figures 2 and 11).

    Parameters
    ----------
    epsilon : float
        The budget of each attribute.
    repetition : int
        Which noise.
    method : str
        Whose rows.
    correlation : float
        Of crime and price.
    split : float
        The crime rate at which one cut leaves the least squared error of the price.
    version : int
        Of the pairs, when it was run.
    """

    epsilon: float
    repetition: int
    method: str
    correlation: float
    split: float
    version: int

    @property
    def current(self) -> bool:
        """Whether rows are made as they were then."""
        return self.version == VERSIONS["pairs"]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Means over repetitions, the median error, and the standard deviation between them."""

    mse: float
    median: float
    mae: float
    sd: float
    repetitions: int

    @property
    def error(self) -> float:
        """Standard error of the mean squared error, over noise and folds."""
        return self.sd / math.sqrt(self.repetitions)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Summarise."""
        errors = np.array([row.mse for row in rows])
        spread = float(errors.std(ddof=1)) if len(rows) > 1 else 0.0
        absolute = float(np.mean([row.mae for row in rows]))
        return cls(
            mse=float(errors.mean()),
            median=float(np.median(errors)),
            mae=absolute,
            sd=spread,
            repetitions=len(rows),
        )


class Results:
    """Questions to the rows."""

    def __init__(self, rows: Sequence[Row], pairs: Sequence[Pair] = ()) -> None:
        self.rows, self.pairs = tuple(rows), tuple(pairs)
        self._at: dict[tuple[str, int, float, str, str], list[Row]] = {}
        for row in rows:
            key = (row.data, row.records, row.epsilon, row.method, row.learner)
            self._at.setdefault(key, []).append(row)

    def at(
        self, data: str, method: str, epsilon: float, records: int = 0, learner: str = "tree"
    ) -> Summary | None:
        """Return what a method showed in a setting, or None where it was not measured."""
        rows = self._at.get((data, records, epsilon, method, learner))
        return Summary.of(rows) if rows else None

    def pair(self, method: str, epsilon: float) -> list[Pair]:
        """Return all repetitions of figures 2 and 11."""
        return [each for each in self.pairs if (each.method, each.epsilon) == (method, epsilon)]


def read(kind: type[Kind], path: Path) -> list[Kind]:
    """Return the rows of a file that are of the versions of now, none where there is no file."""
    if not path.exists():
        return []
    readers: dict[str, Any] = {"int": int, "float": float, "str": str}
    types = {each.name: readers[str(each.type)] for each in fields(kind)}
    with path.open(newline="") as file:
        # Files of before there were versions do not have them.
        lines = [{"version": "0", **line} for line in csv.DictReader(file)]
    found = [kind(**{name: types[name](text) for name, text in line.items()}) for line in lines]
    return [each for each in found if each.current]


def forget(kind: type[Kind], path: Path) -> None:
    """Take out of a file what is of older versions, so that it is measured again."""
    rows, kept = read(kind, path), path.with_suffix(".new")
    kept.unlink(missing_ok=True)
    if rows:
        append(rows, kept)
        kept.replace(path)
    else:
        path.unlink(missing_ok=True)


def append(rows: Sequence[Row] | Sequence[Pair], path: Path) -> None:
    """Add rows to a file, all at once: a job is there as a whole or not at all."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow([each.name for each in fields(rows[0])])
        writer.writerows([_short(value) for value in asdict(row).values()] for row in rows)


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value
