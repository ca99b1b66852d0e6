"""Every column of an answer on its own: the interview of the papers, with the budget split."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise, PublicGrid, Reports
from supm.mechanisms.thresholds import epsilon_of, exact_share, threshold_for
from supm.messages import Question, Study
from supm.owner.columns import (
    Classes,
    Column,
    Labels,
    Numbers,
    Signs,
    Unchanged,
    describe_randomizer,
    leaving_through,
    likelihood_ratio,
    named_classes,
    named_label,
    randomized_response,
)
from supm.owner.draws import CHANNEL_ENTRIES, DrawnInterview, draw_places, in_runs
from supm.owner.interviews import Leaving, budget_of
from supm.schema import Attribute, Records


@dataclass(frozen=True, kw_only=True)
class SeparateInterview(DrawnInterview):
    """Every asked column leaves through a randomizer of its own.

    Parameters
    ----------
    columns : tuple of Column
        The attributes that may be asked.
    label : Column, optional
        The target, where it is asked.
    sampled : int, optional
        How many of the columns each owner draws at random; all by default. Which ones is told in
        clear: it does not depend on the record.

    Notes
    -----
    **Guarantee.** The sum of what the told columns spend: docs/proofs/interview.md, Theorem 1.
    Drawing which columns are told is independent of the record, so it costs nothing (Theorem 2).

    **Utility.** Each column has its share of the budget, so the more columns, the noisier each.

    **Cost.** One draw for each column that may be asked.

    References
    ----------
    Paper 000, algorithms 6 to 9; docs/errata.md, 2 and 12.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> schema = load_wdbc().schema
    >>> study = plan(schema, epsilon=3.0, mode="faithful", attributes=["mean radius"], classes=2)
    >>> asked = interview(study, "train")
    >>> round(asked.epsilon, 9), asked.width
    (3.0, 2)
    """

    columns: tuple[Column, ...]
    label: Column | None = None
    sampled: int | None = None

    @classmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Give each column that is told an exact share of the budget."""
        columns, label = _columns(study, question), _label(study, question)
        return cls(columns=columns, label=label, sampled=question.sampled)

    @property
    def told(self) -> int:
        """How many attributes an answer tells."""
        return len(self.columns) if self.sampled is None else self.sampled

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The attributes that may be asked, and the label's last where it is."""
        return self.columns if self.label is None else (*self.columns, self.label)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many symbols each attribute has."""
        return tuple(column.randomizer.outcomes for column in self.columns)

    @property
    def label_sizes(self) -> tuple[int, ...]:
        """How many symbols the label has, where it is asked."""
        return () if self.label is None else (self.label.randomizer.outcomes,)

    @property
    def _parts(self) -> int:
        return self.told + (self.label is not None)

    @property
    def width(self) -> int:
        """Places of the sampled attributes, then their symbols, then the label's."""
        places = 0 if self.sampled is None else self.sampled
        return places + self._parts

    @cached_property
    def epsilon(self) -> float:
        """The sum over what is told, for the costliest attributes that may be drawn."""
        randomizers = Counter(column.randomizer for column in self.columns)
        ratios = {each: likelihood_ratio(each) for each in randomizers}
        spent = [] if self.label is None else [likelihood_ratio(self.label.randomizer)]
        for each in sorted(ratios, key=lambda one: ratios[one] or math.inf, reverse=True):
            spent += [ratios[each]] * min(randomizers[each], self._parts - len(spent))
        factors = [ratio for ratio in spent if ratio is not None]
        bounded = len(factors) == len(spent)
        return epsilon_of(math.prod(factors, start=Fraction(1))) if bounded else math.inf

    def encode(self, records: Records) -> NDArray[Any]:
        """Return one column for each attribute, and the label's last."""
        read = [column.read(records) for column in self.all_columns]
        kind = np.result_type(*(each.dtype for each in read))
        inputs = np.empty((records.rows, len(read)), dtype=kind, order="F")
        for place, each in enumerate(read):
            inputs[:, place] = each
        return inputs

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Randomise every column that may be asked; tell those that were drawn."""
        return in_runs(inputs, self.width, source, self._chunk)

    def _chunk(self, inputs: NDArray[Any], source: RandomSource) -> NDArray[np.int64]:
        drawn = [
            column.randomizer.randomize(_typed(inputs[:, place], column), source).symbols
            for place, column in enumerate(self.all_columns)
        ]
        symbols = np.stack(drawn, axis=1).astype(np.int64, copy=False)
        if self.sampled is None:
            return symbols
        places = draw_places(len(self.columns), self.sampled, len(inputs), source)
        kept = np.take_along_axis(symbols, places, axis=1)
        return np.hstack((places, kept, symbols[:, len(self.columns) :]))

    def inputs(self) -> NDArray[Any]:
        """Return all combinations of what the columns can hold."""
        held = [column.randomizer.inputs() for column in self.all_columns]
        CHANNEL_ENTRIES.check(math.prod(len(each) for each in held))
        return np.array(list(product(*held)))

    def exact_channel(self) -> list[list[Fraction]]:
        """Multiply the channels of what is told, for each draw of attributes."""
        CHANNEL_ENTRIES.check(len(self.inputs()) * self.outcomes)
        channels = [column.randomizer.exact_channel() for column in self.columns]
        label = [] if self.label is None else [self.label.randomizer.exact_channel()]
        draws = self.draws()
        rows = product(*(range(len(each)) for each in (*channels, *label)))
        return [self._row(held, (*channels, *label), draws) for held in rows]

    def _row(
        self,
        held: tuple[int, ...],
        channels: tuple[list[list[Fraction]], ...],
        draws: list[tuple[int, ...]],
    ) -> list[Fraction]:
        last = () if self.label is None else (len(self.columns),)
        row: list[Fraction] = []
        for drawn in draws:
            told = [channels[place][held[place]] for place in (*drawn, *last)]
            row.extend(math.prod(each) / len(draws) for each in product(*told))
        return row

    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say what leaves of each column."""
        _ = symbols
        columns = self.all_columns
        return tuple(leaving_through(each.name(target), each.randomizer) for each in columns)

    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return each column's field and randomizer."""
        told_by = [describe_randomizer(each.randomizer) for each in self.all_columns]
        return {
            "fields": [each.field(target) for each in self.all_columns],
            "mechanism": {"kind": "separate", "sampled": self.sampled, "randomizers": told_by},
        }

    def named(self, target: Attribute, symbols: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Name the classes, where all that is told is classes."""
        if not all(isinstance(each, Classes | Labels) for each in self.all_columns):
            return ()
        held = [each.discretizer for each in self.columns if isinstance(each, Classes)]
        told = named_classes(held, symbols, self.sampled)
        if isinstance(self.label, Labels):
            told.append(named_label(target, self.label.randomizer.size, symbols[-1]))
        return tuple(told)


def _typed(values: NDArray[Any], column: Column) -> NDArray[Any]:
    """Return class numbers as such where a table of numbers holds them."""
    return values if isinstance(column.randomizer, Piecewise) else values.astype(np.int64)


def _columns(study: Study, question: Question) -> tuple[Column, ...]:
    if question.form in ("pw", "raw"):
        asked = study.asked(question.phase)
        number = _piecewise(study, question) if question.form == "pw" else _grid(question)
        return tuple(Numbers(attribute=each, randomizer=number) for each in asked)
    discretizers = study.discretizers(question.phase)
    return tuple(
        Classes(discretizer=each, randomizer=_response(each.size, study, question))
        for each in discretizers
    )


def _label(study: Study, question: Question) -> Column | None:
    if not question.labelled:
        return None
    labels = study.labels
    if question.form == "pw" and labels == 2:
        return Signs(randomizer=_piecewise(study, question))
    return Labels(randomizer=_response(labels, study, question))


def _response(
    size: int, study: Study, question: Question
) -> GeneralizedRandomizedResponse | Unchanged:
    if not question.private:
        return Unchanged(size)
    parts = _told(study, question) + question.labelled
    return randomized_response(size, exact_share(budget_of(question), parts))


def _piecewise(study: Study, question: Question) -> Piecewise:
    """Return the mechanism with the paper's window that keeps an exact share of the budget."""
    share = exact_share(budget_of(question), _told(study, question) + question.labelled)
    grid = PublicGrid(low=-1, high=1, steps=question.steps or 1)
    window = max(1, round(grid.steps * math.exp(-float(share) / 2)))
    words = threshold_for(share, inside=window, outside=grid.steps)
    return Piecewise(grid=grid, window=window, threshold=words)


def _grid(question: Question) -> Unchanged:
    return Unchanged((question.steps or 1) + 1)


def _told(study: Study, question: Question) -> int:
    return question.sampled or len(study.asked(question.phase))
