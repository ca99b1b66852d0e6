"""All that leaves one owner, as one channel: the group that is drawn, then its answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, check_source
from supm.mechanisms import FiniteChannel, Piecewise, Reports
from supm.mechanisms.randomizers.randomizer import ENTRIES
from supm.mechanisms.thresholds import WORDS, least_reading, stated
from supm.owner import AnswerInterview, Interview, SeparateInterview
from supm.schema import Records

_IMPOSSIBLE = -1


@dataclass(frozen=True, kw_only=True)
class Branch:
    """What the owners of one group answer.

    Parameters
    ----------
    weight : int
        The public weight with which the group is drawn.
    asked : tuple of Interview
        The questions that its members answer, one after the other, about the same record.
    """

    weight: int
    asked: tuple[Interview, ...]

    @property
    def outcomes(self) -> int:
        """How many different lists of answers there are."""
        return math.prod(each.outcomes for each in self.asked)


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnerOutput(FiniteChannel):
    """The whole output of an owner who holds one of the listed records.

    Parameters
    ----------
    records : Records
        Public examples of records: the inputs of the channel, by their number.
    branches : tuple of Branch
        One for each group. Which group an owner is in is told in clear.

    Examples
    --------
    >>> from supm.audit import exact_epsilon
    >>> from supm.collection import plan
    >>> from supm.owner import interview
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> asked = interview(plan(schema, epsilon=1.0, attributes=["age"]), "train")
    >>> records = schema.read([{"age": 0, "ill": "no"}, {"age": 100, "ill": "yes"}])
    >>> twice = OwnerOutput(records=records, branches=(Branch(weight=1, asked=(asked, asked)),))
    >>> round(exact_epsilon(twice.exact_channel()), 9)
    2.0
    """

    records: Records
    branches: tuple[Branch, ...]

    @property
    def epsilon(self) -> float:
        """The sum over the questions of a group, and the largest over the groups."""
        return max(map(_spent, self.branches))

    @property
    def report_bits(self) -> int:
        """Enough bits to number the outcomes."""
        return (self.outcomes - 1).bit_length()

    @property
    def outcomes(self) -> int:
        """Over all groups, the number of lists of answers."""
        return sum(branch.outcomes for branch in self.branches)

    def inputs(self) -> NDArray[np.int64]:
        """Return the numbers of the records."""
        return np.arange(self.records.rows)

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the numbers that `randomize` gave."""
        numbers: NDArray[np.int64] = reports.symbols
        return numbers

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each whole output (column) for each record (row)."""
        return self._channel

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Let owners of the numbered records draw their groups and answer; number what leaves."""
        check_source(source)
        held = np.asarray(values, dtype=np.int64)
        groups = self._draw_groups(held.size, source)
        numbers = np.full(held.size, _IMPOSSIBLE, dtype=np.int64)
        first = 0
        for place, branch in enumerate(self.branches):
            members = np.flatnonzero(groups == place)
            told = self._answers(branch, held[members], source)
            numbers[members] = np.where(told < 0, _IMPOSSIBLE, first + told)
            first += branch.outcomes
        return Reports(symbols=numbers, simulation=source.simulation)

    def _draw_groups(self, owners: int, source: RandomSource) -> NDArray[np.int64]:
        bounds = np.cumsum([branch.weight for branch in self.branches])
        drawn = source.below(int(bounds[-1]), owners).astype(np.int64)
        return np.searchsorted(bounds, drawn, side="right")

    def _answers(
        self, branch: Branch, held: NDArray[np.int64], source: RandomSource
    ) -> NDArray[np.int64]:
        """Return the numbers of all answers together; negative where one could not be told."""
        numbers = np.zeros(held.size, dtype=np.int64)
        possible = np.ones(held.size, dtype=np.bool_)
        for asked in branch.asked if held.size else ():
            reports = asked.randomize(asked.encode(self.records)[held], source)
            possible &= asked.accepts(reports.symbols)
            # What could not be told has no number; nothing that follows gives it one.
            kept = Reports(symbols=reports.symbols[possible], simulation=reports.simulation)
            numbers *= asked.outcomes
            numbers[possible] += asked.outcome(kept)
        return np.where(possible, numbers, _IMPOSSIBLE)

    @cached_property
    def _channel(self) -> list[list[Fraction]]:
        ENTRIES.check(self.records.rows * self.outcomes)
        total = sum(branch.weight for branch in self.branches)
        rows: list[list[Fraction]] = [[] for _ in range(self.records.rows)]
        for branch in self.branches:
            share = Fraction(branch.weight, total)
            tables = [_rows(asked, asked.encode(self.records)) for asked in branch.asked]
            for number, row in enumerate(rows):
                told = product(*(table[number] for table in tables))
                row.extend(math.prod(each, start=share) for each in told)
        return rows


def _spent(branch: Branch) -> float:
    costs = [each.epsilon for each in branch.asked]
    if math.inf in costs:
        return math.inf
    return stated(sum((Fraction(least_reading(cost)) for cost in costs), start=Fraction(0)))


def _rows(asked: Interview, inputs: NDArray[Any]) -> list[list[Fraction]]:
    """Return the exact row of each input, also where its numbers lie between points of the grid."""
    channel = asked.exact_channel()
    known: dict[tuple[Any, ...], list[Fraction]] = {}
    for held in map(tuple, inputs):
        if held not in known:
            known[held] = _mixture(_weights(asked, held), channel)
    return [known[held] for held in map(tuple, inputs)]


def _mixture(weights: dict[int, Fraction], channel: list[list[Fraction]]) -> list[Fraction]:
    if len(weights) == 1:
        return channel[next(iter(weights))]
    rows = [[weight * each for each in channel[number]] for number, weight in weights.items()]
    return [sum(column, start=Fraction(0)) for column in zip(*rows, strict=True)]


def _weights(asked: Interview, held: tuple[Any, ...]) -> dict[int, Fraction]:
    """Return the rows of an interview's channel that an input is a mixture of."""
    if isinstance(asked, AnswerInterview):
        return dict(_points(asked.randomizer, float(held[0])))
    if not isinstance(asked, SeparateInterview):
        (row,) = np.flatnonzero((asked.inputs() == held).all(axis=1)).tolist()
        return {row: Fraction(1)}
    columns = asked.all_columns
    sizes = [len(column.randomizer.inputs()) for column in columns]
    pairs = zip(columns, held, strict=True)
    points = [_points(column.randomizer, float(value)) for column, value in pairs]
    return {
        int(np.ravel_multi_index([place for place, _ in corner], sizes)): math.prod(
            (weight for _, weight in corner), start=Fraction(1)
        )
        for corner in product(*points)
    }


def _points(randomizer: object, value: float) -> list[tuple[int, Fraction]]:
    """Return the points to which a number is moved, each with its exact probability."""
    if not isinstance(randomizer, Piecewise):
        return [(int(value), Fraction(1))]
    position = float(randomizer.grid.position(np.array([value]))[0])
    below = int(position)
    upward = Fraction(int((position - below) * 2.0**64), WORDS)
    points = [(below, 1 - upward), (below + 1, upward)]
    return [(place, weight) for place, weight in points if weight]
