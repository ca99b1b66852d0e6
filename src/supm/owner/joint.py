"""All classes of an answer as one symbol, through our randomizer or one that the study names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, PromiseError
from supm._extensions import offered
from supm._random import RandomSource
from supm.mechanisms import Reports, SubsetSelection
from supm.mechanisms.randomizers.frequency import FrequencyRandomizer
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


def own_randomizer(name: str, size: int, epsilon: float) -> FrequencyRandomizer:
    """Return the randomizer of that name for an alphabet and a budget, which it must not exceed."""
    made = offered("randomizers", name).for_epsilon(size=size, epsilon=epsilon)
    if not isinstance(made, FrequencyRandomizer) or made.size != size:
        rule = f"a FrequencyRandomizer of {size} symbols where {name} is asked"
        raise ParameterError("randomizer", rule, type(made).__name__)
    if not made.epsilon <= epsilon:
        raise PromiseError(
            f"the randomizer {name} spends epsilon {made.epsilon:.6g}, not {epsilon:g}."
        )
    return made


@dataclass(frozen=True, kw_only=True)
class OwnInterview(JointInterview):
    """All asked classes leave as one symbol, through a randomizer that the study names.

    What is promised is derived from the channel of the randomizer that is installed here.
    """

    randomizer: FrequencyRandomizer  # type: ignore[assignment]  # of which subset selection is one
    name: str

    @classmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Find the randomizer, and give the whole budget to the table of all combinations."""
        discretizers = study.discretizers(question.phase)
        cells = math.prod(each.size for each in discretizers) * study.labels
        name = question.mechanism or ""
        return cls(
            discretizers=discretizers,
            labels=study.labels,
            randomizer=own_randomizer(name, cells, budget_of(question)),
            name=name,
        )

    @property
    def width(self) -> int:
        """One symbol."""
        return 1

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Turn each cell number into the number of a column of the channel."""
        told = self.randomizer.randomize(inputs[:, 0], source)
        symbols = self.randomizer.outcome(told)[:, np.newaxis]
        return Reports(symbols=symbols.astype(np.int64), simulation=told.simulation)

    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether it is the number of a column."""
        return np.asarray((symbols[:, 0] >= 0) & (symbols[:, 0] < self.outcomes))

    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say that all leaves together."""
        _ = symbols
        what = f"{len(self.discretizers)} attributes and {target.name}, through {self.name}"
        return (Leaving.certain(what, self.randomizer.size, None),)

    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return the fields, and the name: a page cannot run what is not installed in it."""
        mechanism = {"kind": "own", "name": self.name}
        return {"fields": self._fields(target), "mechanism": mechanism}
