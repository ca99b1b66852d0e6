"""All classes of an answer as one symbol, with the whole budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.mechanisms import Reports, SubsetSelection
from supm.messages import Question, Study
from supm.owner.columns import class_field, labels_of, place_field
from supm.owner.interviews import Interview, Leaving, budget_of
from supm.schema import Attribute, Records
from supm.schema.discretizer import Discretizer


@dataclass(frozen=True, kw_only=True)
class JointInterview(Interview):
    """All asked classes leave as one symbol, through one randomizer with the whole budget.

    Parameters
    ----------
    discretizers : tuple of Discretizer
        The classes of each attribute.
    labels : int, optional
        Number of labels, where the target is asked too.
    randomizer : SubsetSelection
        Over as many symbols as there are combinations.

    Notes
    -----
    **Guarantee.** The randomizer's own: a record is one symbol (docs/proofs/joint-report.md).

    **Utility.** That of subset selection on the table of all combinations; where the budget is
    large for the table, a report names one cell, and it is the true one most of the time.

    **Cost.** As many symbols as the set that is told has.

    References
    ----------
    Paper 000 randomises the parts of a record; docs/proofs/joint-report.md does the whole.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> names = ["mean radius", "mean texture"]
    >>> study = plan(load_wdbc().schema, epsilon=3.0, attributes=names, classes=2, train="joint")
    >>> interview(study, "train").randomizer.size
    8
    """

    discretizers: tuple[Discretizer, ...]
    labels: int | None = None
    randomizer: SubsetSelection

    @classmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Give the whole budget to the table of all combinations."""
        discretizers = study.discretizers(question.phase)
        labels = study.labels if question.labelled else None
        cells = math.prod(each.size for each in discretizers) * (labels or 1)
        randomizer = SubsetSelection.for_epsilon(size=cells, epsilon=budget_of(question))
        return cls(discretizers=discretizers, labels=labels, randomizer=randomizer)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of classes of each attribute, then of labels."""
        sizes = tuple(each.size for each in self.discretizers)
        return sizes if self.labels is None else (*sizes, self.labels)

    @property
    def epsilon(self) -> float:
        """The randomizer's own."""
        return self.randomizer.epsilon

    @property
    def width(self) -> int:
        """The size of the set that is told."""
        return self.randomizer.width

    @property
    def outcomes(self) -> int:
        """As many as sets."""
        return self.randomizer.outcomes

    def encode(self, records: Records) -> NDArray[np.int64]:
        """Return the number of each record's cell."""
        read = [*records.encode(self.discretizers).T]
        if self.labels is not None:
            read.append(labels_of(records))
        numbers: NDArray[np.int64] = np.ravel_multi_index(tuple(read), self.sizes)
        return numbers[:, np.newaxis]

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Turn each cell number into a set of cell numbers."""
        told = self.randomizer.randomize(inputs[:, 0], source)
        return Reports(symbols=told.symbols.astype(np.int64), simulation=told.simulation)

    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether it is a set of cells in increasing order."""
        inside: NDArray[np.bool_] = np.all(
            (symbols >= 0) & (symbols < self.randomizer.size), axis=1
        )
        inside &= np.all(np.diff(symbols, axis=1) > 0, axis=1)
        return inside

    def inputs(self) -> NDArray[np.int64]:
        """Return the cell numbers."""
        return self.randomizer.inputs()[:, np.newaxis]

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the randomizer's outcome."""
        return self.randomizer.outcome(reports)

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the randomizer's channel."""
        return self.randomizer.exact_channel()

    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say that all leaves together."""
        _ = symbols
        also = f" and {target.name}" if self.labels is not None else ""
        what = f"{len(self.discretizers)} attributes{also}, together"
        return (Leaving.certain(what, self.randomizer.size, float(self.randomizer.hit)),)

    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return the size of the table, and of the set that is told."""
        held = self.randomizer
        numbers = {"size": held.size, "width": held.width, "hold": str(held.hold_words)}
        return {"fields": self._fields(target), "mechanism": {"kind": "joint", **numbers}}

    def _fields(self, target: Attribute) -> list[dict[str, Any]]:
        fields = [class_field(each) for each in self.discretizers]
        return fields if self.labels is None else [*fields, place_field(target, self.labels)]
