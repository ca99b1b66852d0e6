"""From reports to counts: additive, in any order, with memory that does not grow with people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.collection._columns import Classes, Labels, Numbers, Signs
from supm.collection.interview import Interview
from supm.collection.joint import JointInterview
from supm.collection.separate import SeparateInterview
from supm.mechanisms import Reports, Tally, number_records

__all__ = ["CELLS", "Counts", "RowCounts", "count"]

CELLS: Final = 1 << 22
"""Up to so many cells are counted in a table; beyond, only the distinct answers are kept."""

_DISTINCT: Final = 1 << 20


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

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    simulation: bool

    @classmethod
    def of(
        cls, rows: NDArray[np.int64], *, simulation: bool, counts: NDArray[np.int64] | None = None
    ) -> RowCounts:
        """Merge equal rows."""
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        if len(distinct) > _DISTINCT:
            hint = "Ask for fewer attributes, fewer classes or a coarser grid."
            raise ParameterError("distinct", "at most 2^20 answers", len(distinct), hint)
        added = np.bincount(place.ravel(), weights=counts, minlength=len(distinct))
        return cls(rows=distinct, counts=added.astype(np.int64), simulation=simulation)

    @property
    def reports(self) -> int:
        """How many reports were counted."""
        return int(self.counts.sum())

    def __add__(self, other: RowCounts) -> RowCounts:
        """Merge two; the order of merging does not matter."""
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
    >>> from supm.collection import interview, plan
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0, mode="faithful", attributes=["mean radius"])
    >>> asked = interview(study, "train")
    >>> reports = asked.randomize(asked.encode(wdbc.records()), simulation(1))
    >>> count(asked, reports).counts.shape
    (2, 2)
    """
    symbols = reports.symbols
    if symbols.ndim != 2 or symbols.shape[1] != asked.width or symbols.dtype.kind not in "iu":
        got = f"{symbols.dtype} of shape {symbols.shape}"
        raise ParameterError("reports", f"rows of {asked.width} whole numbers", got)
    if isinstance(asked, JointInterview):
        return asked.randomizer.tally(reports)
    if not isinstance(asked, SeparateInterview):
        raise ParameterError("asked", "an interview of this package", type(asked).__name__)
    if asked.sampled is not None:
        return _by_attribute(asked, reports)
    sizes = tuple(column.randomizer.outcomes for column in _told(asked))
    if math.prod(sizes) > CELLS or not _all_classes(asked):
        _refuse_strangers(asked, symbols)
        return RowCounts.of(symbols, simulation=reports.simulation)
    return _by_cell(sizes, reports)


def _told(asked: SeparateInterview) -> tuple[Any, ...]:
    return asked.columns if asked.label is None else (*asked.columns, asked.label)


def _all_classes(asked: SeparateInterview) -> bool:
    return all(isinstance(column, Classes | Labels) for column in _told(asked))


def _refuse_strangers(asked: Interview, symbols: NDArray[Any]) -> None:
    if not asked.accepts(symbols).all():
        hint = "Refuse such a report."
        raise ParameterError("reports", "symbols of the question's alphabet", "one outside", hint)


def _by_cell(sizes: tuple[int, ...], reports: Reports) -> Tally:
    """Count whole answers: one table of cells by labels."""
    numbers = number_records(reports.symbols, sizes)
    counts = np.bincount(numbers, minlength=math.prod(sizes)).reshape(-1, sizes[-1])
    return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)


def _by_attribute(asked: SeparateInterview, reports: Reports) -> Tally:
    """Count what each attribute told: a table of classes by labels, or sums of numbers."""
    _refuse_strangers(asked, reports.symbols)
    sampled = asked.told
    places = reports.symbols[:, :sampled]
    symbols = reports.symbols[:, sampled : 2 * sampled]
    label = reports.symbols[:, -1:] if asked.label is not None else np.zeros_like(places[:, :1])
    label = np.broadcast_to(label, symbols.shape)
    flat = places.ravel(), symbols.ravel(), label.ravel()
    fold = _sums if isinstance(asked.columns[0], Numbers) else _tables
    return Tally(counts=fold(asked, *flat), reports=len(reports), simulation=reports.simulation)


def _tables(
    asked: SeparateInterview,
    places: NDArray[np.int64],
    symbols: NDArray[np.int64],
    label: NDArray[np.int64],
) -> NDArray[np.int64]:
    most = max(column.randomizer.outcomes for column in asked.columns)
    labels = 1 if asked.label is None else asked.label.randomizer.outcomes
    numbers = (places * most + symbols) * labels + label
    shape = len(asked.columns), most, labels
    return np.bincount(numbers, minlength=math.prod(shape)).reshape(shape)


def _sums(
    asked: SeparateInterview,
    places: NDArray[np.int64],
    symbols: NDArray[np.int64],
    label: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return exact whole-number sums, so that the order of merging cannot matter."""
    count = len(asked.columns)
    if isinstance(asked.label, Signs):
        terms = [np.ones_like(symbols), symbols, symbols**2, label, label**2, symbols * label]
        sums = [_add_up(places, each, count) for each in terms]
        return np.stack(sums, axis=1)
    labels = 1 if asked.label is None else asked.label.randomizer.outcomes
    group = places * labels + label
    terms = [np.ones_like(symbols), symbols, symbols**2]
    sums = [_add_up(group, each, count * labels) for each in terms]
    return np.stack(sums, axis=1).reshape(count, labels, 3)


def _add_up(group: NDArray[np.int64], amounts: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    sums = np.bincount(group, weights=amounts, minlength=groups)
    return np.rint(sums).astype(np.int64)
