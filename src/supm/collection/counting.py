"""From reports to counts: additive, in any order, with memory that does not grow with people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Final, TypeAlias

import numpy as np

from supm._errors import ParameterError, RecordError
from supm._validation import Integers, check_kind
from supm.collection.features import Ints, distinct_rows
from supm.mechanisms import Reports, Tally, number_records
from supm.owner import Interview, JointInterview, SampledInterview, SeparateInterview
from supm.owner.columns import Classes, Labels, Numbers, Signs

CELLS: Final = 1 << 22
"""Up to so many cells are counted in a table; beyond, only the distinct answers are kept."""

DISTINCT: Final = 1 << 20
"""So many distinct answers are kept at most."""

# The squares of so many symbols stay within 2^63 for two thousand million reports of an attribute.
_SUMMED: Final = Integers("outcomes of a number that is added up", 2, 1 << 16, "Use fewer steps.")


@dataclass(frozen=True, kw_only=True, eq=False)
class RowCounts:
    """Distinct answers with how often each came, for alphabets too large for a table.

    Parameters
    ----------
    rows : ndarray of int, shape (distinct, width)
        The answers, sorted.
    counts : ndarray of int
        How often each came.
    simulation : bool
        True if any of them came from a seed.

    Examples
    --------
    >>> one = RowCounts.of(np.array([[5, 0], [2, 1], [5, 0]]), simulation=True)
    >>> (one + one).counts
    array([2, 4])
    """

    rows: Ints
    counts: Ints
    simulation: bool

    @classmethod
    def of(cls, rows: Ints, *, simulation: bool, counts: Ints | None = None) -> RowCounts:
        """Merge equal rows."""
        distinct, place = distinct_rows(rows)
        if len(distinct) > DISTINCT:
            hint = "Ask for fewer attributes, fewer classes or a coarser grid."
            raise ParameterError("distinct", "at most 2^20 answers", len(distinct), hint)
        added = np.bincount(place, weights=counts, minlength=len(distinct))
        return cls(rows=distinct, counts=added.astype(np.int64), simulation=simulation)

    @property
    def reports(self) -> int:
        """How many reports were counted."""
        return int(self.counts.sum())

    def __add__(self, other: RowCounts) -> RowCounts:
        """Merge two; the order of merging does not matter."""
        check_kind("counts", other, RowCounts)
        if self.rows.shape[1] != other.rows.shape[1]:
            wanted = f"rows of {self.rows.shape[1]} symbols to be merged"
            raise ParameterError("counts", wanted, other.rows.shape[1])
        return RowCounts.of(
            np.vstack((self.rows, other.rows)),
            counts=np.concatenate((self.counts, other.counts)),
            simulation=self.simulation or other.simulation,
        )


Counts: TypeAlias = Tally | RowCounts


def count(asked: Interview, reports: Reports) -> Counts:
    """Fold reports into what the aggregator keeps.

    Parameters
    ----------
    asked : Interview
        The mechanism that the reports came from.
    reports : Reports
        Any number of answers.

    Returns
    -------
    Tally or RowCounts
        Counts of disjoint owners add up with ``+``.

    Raises
    ------
    ParameterError
        If an answer could not have been told; nothing is counted then.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0, mode="faithful", attributes=["mean radius"])
    >>> asked = interview(study, "train")
    >>> reports = asked.randomize(asked.encode(wdbc.records()), simulation(1))
    >>> count(asked, reports).counts.shape
    (2, 2)
    """
    _check_rows(asked, reports)
    return _counted(asked, reports)


@singledispatch
def _counted(asked: Interview, reports: Reports) -> Counts:
    """Count reports as their form needs it; a further form registers its own way."""
    del reports
    raise ParameterError("asked", "an interview of this package", type(asked).__name__)


@_counted.register(JointInterview)
def _joint(asked: JointInterview, reports: Reports) -> Counts:
    return asked.randomizer.tally(reports)


@_counted.register(SeparateInterview)
def _separate(asked: SeparateInterview, reports: Reports) -> Counts:
    if asked.sampled is not None:
        return _by_attribute(asked, reports)
    sizes = tuple(column.randomizer.outcomes for column in asked.all_columns)
    in_classes = all(isinstance(column, Classes | Labels) for column in asked.all_columns)
    if math.prod(sizes) > CELLS or not in_classes:
        return RowCounts.of(accepted(asked, reports), simulation=reports.simulation)
    return _by_cell(sizes, reports)


def _check_rows(asked: Interview, reports: Reports) -> None:
    """Raise ParameterError where reports are no rows of as many numbers as were asked."""
    symbols = reports.symbols
    rows = symbols.ndim == 2 and symbols.shape[1] == asked.width and len(symbols) > 0
    if not rows or symbols.dtype.kind not in "iu":
        got = f"{symbols.dtype} of shape {symbols.shape}"
        raise ParameterError("reports", f"rows of {asked.width} whole numbers", got)


def accepted(asked: Interview, reports: Reports) -> Ints:
    """Return the symbols where all could have been told, else raise ParameterError."""
    _check_rows(asked, reports)
    # What is too large for the type becomes negative, which is never told.
    told = reports.symbols.astype(np.int64, copy=False)
    if not asked.accepts(told).all():
        raise _stranger()
    return told


def _stranger() -> ParameterError:
    wanted, hint = "symbols of the question's alphabet", "Refuse such a report."
    return ParameterError("reports", wanted, "one outside", hint)


def _by_cell(sizes: tuple[int, ...], reports: Reports) -> Tally:
    """Count whole answers: one table of cells by labels."""
    try:
        numbers = number_records(reports.symbols, sizes)
    except RecordError:
        raise _stranger() from None
    counts = np.bincount(numbers, minlength=math.prod(sizes)).reshape(-1, sizes[-1])
    return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)


@_counted.register(SampledInterview)
def _together(asked: SampledInterview, reports: Reports) -> Tally:
    """Count how often each two classes were told together, for each label where that has room."""
    if asked.labels is None:
        raise ParameterError("asked", "a question that asks for the target too", "another")
    told, drawn = accepted(asked, reports), asked.sampled
    starts = np.cumsum((0, *asked.sizes))
    codes = starts[told[:, :drawn]] + told[:, drawn : 2 * drawn]
    rows = np.column_stack((codes, starts[-1] + told[:, -1]))
    slabs, width, _ = shape = together_shape(asked)
    slab = told[:, -1] if slabs > 1 else np.zeros(len(told), dtype=np.int64)
    counts = np.zeros(shape, dtype=np.int64)
    run = max(1, CELLS // (drawn + 1) ** 2)
    for start in range(0, len(rows), run):
        part = rows[start : start + run]
        first = slab[start : start + run, np.newaxis, np.newaxis] * width + part[:, :, np.newaxis]
        numbers = first * width + part[:, np.newaxis, :]
        counts += np.bincount(numbers.ravel(), minlength=counts.size).reshape(shape)
    return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)


def together_shape(asked: SampledInterview) -> tuple[int, int, int]:
    """Return the shape of what sampled answers add up to: a square for each label, or one."""
    labels = asked.labels or 1
    width = sum(asked.sizes) + labels
    apart = asked.target is None and asked.sampled > 1 and labels * width**2 <= CELLS
    return labels if apart else 1, width, width


def _by_attribute(asked: SeparateInterview, reports: Reports) -> Tally:
    """Count what each attribute told: a table of classes by labels, or sums of numbers."""
    told, sampled = accepted(asked, reports), asked.told
    places, symbols = told[:, :sampled], told[:, sampled : 2 * sampled]
    label = told[:, -1:] if asked.label is not None else np.zeros_like(places[:, :1])
    label = np.broadcast_to(label, symbols.shape)
    flat = places.ravel(), symbols.ravel(), label.ravel()
    fold = _sums if isinstance(asked.columns[0], Numbers) else _tables
    return Tally(counts=fold(asked, *flat), reports=len(reports), simulation=reports.simulation)


def _tables(asked: SeparateInterview, places: Ints, symbols: Ints, label: Ints) -> Ints:
    most = max(column.randomizer.outcomes for column in asked.columns)
    labels = 1 if asked.label is None else asked.label.randomizer.outcomes
    numbers = (places * most + symbols) * labels + label
    shape = len(asked.columns), most, labels
    return np.bincount(numbers, minlength=math.prod(shape)).reshape(shape)


def _sums(asked: SeparateInterview, places: Ints, symbols: Ints, label: Ints) -> Ints:
    """Return exact whole-number sums, so that the order of merging cannot matter."""
    count = len(asked.columns)
    for column in asked.all_columns:
        _SUMMED.check(column.randomizer.outcomes)
    if isinstance(asked.label, Signs):
        terms = [np.ones_like(symbols), symbols, symbols**2, label, label**2, symbols * label]
        sums = [_add_up(places, each, count) for each in terms]
        return np.stack(sums, axis=1)
    labels = 1 if asked.label is None else asked.label.randomizer.outcomes
    group = places * labels + label
    terms = [np.ones_like(symbols), symbols, symbols**2]
    sums = [_add_up(group, each, count * labels) for each in terms]
    return np.stack(sums, axis=1).reshape(count, labels, 3)


def _add_up(group: Ints, amounts: Ints, groups: int) -> Ints:
    # Doubles, in which bincount adds, hold whole numbers up to 2^53; a run of rows stays below.
    run = (1 << 53) // max(1, int(amounts.max()))
    sums = np.zeros(groups, dtype=np.int64)
    for start in range(0, len(group), run):
        rows = slice(start, start + run)
        added = np.bincount(group[rows], weights=amounts[rows], minlength=groups)
        sums += added.astype(np.int64)
    return sums
