"""The joint report: a whole record as one symbol of the product alphabet, with the whole budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import check_kind
from supm.mechanisms.randomizers.choice import choose
from supm.mechanisms.randomizers.frequency import FrequencyRandomizer, SymbolReport
from supm.mechanisms.randomizers.randomizer import Estimate, Reports, Tally, check_symbols
from supm.mechanisms.randomizers.records import (
    all_records,
    check_sizes,
    number_records,
    record_numbers,
)
from supm.mechanisms.thresholds import MAX_CELLS


@dataclass(frozen=True, kw_only=True)
class JointReport(SymbolReport):
    """Number the record among all combinations of classes and randomise that one number.

    Seeing the report changes the odds between any two records by a factor of at most e^epsilon: the
    same promise as `IndependentReports` makes with the budget split, for much more information per
    report.

    Parameters
    ----------
    sizes : tuple of int
        Number of classes of each attribute; their product is at most 2^40.
    randomizer : FrequencyRandomizer
        What randomises the number; its size is that product.

    Notes
    -----
    **Guarantee.** epsilon-LDP for the record, with the randomizer's own epsilon: a record is one
    symbol (docs/proofs/joint-report.md, Theorem 1).

    **Utility.** That of the randomizer, on the table of all combinations; a marginal adds up its
    cells.

    **Cost.** Numbering a record costs one multiplication per attribute; no table of the alphabet is
    held by the owner.

    References
    ----------
    A record of discretised attributes is one symbol of a finite alphabet: paper 000 randomises its
    parts (algorithms 8 and 9), this mechanism the whole, for the same promise.

    Examples
    --------
    >>> joint = JointReport.for_epsilon(sizes=(2, 3), epsilon=2.0)
    >>> joint.randomizer.size, joint.epsilon <= 2.0
    (6, True)
    """

    sizes: tuple[int, ...]
    randomizer: FrequencyRandomizer

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", check_sizes(self.sizes))
        check_kind("randomizer", self.randomizer, FrequencyRandomizer)
        cells = _cells(self.sizes)
        if self.randomizer.size != cells:
            raise ParameterError("randomizer", f"of size {cells}", self.randomizer.size)

    @classmethod
    def for_epsilon(cls, *, sizes: Sequence[int], epsilon: float) -> Self:
        """Use the randomizer of least variance for that many cells."""
        sizes = check_sizes(sizes)
        return cls(sizes=sizes, randomizer=choose(size=_cells(sizes), epsilon=epsilon).randomizer)

    @property
    def _told_by(self) -> FrequencyRandomizer:
        return self.randomizer

    def inputs(self) -> NDArray[np.int64]:
        """Return all records in the order of their numbers."""
        return all_records(self.sizes)

    def numbers(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the records' numbers by mixed radix, the last attribute running fastest.

        Examples
        --------
        >>> JointReport.for_epsilon(sizes=(2, 3), epsilon=2.0).numbers([[1, 0], [1, 2]])
        array([3, 5])
        """
        return number_records(values, self.sizes)

    def records(self, numbers: ArrayLike) -> NDArray[np.int64]:
        """Return the records that have the given numbers: the inverse of `numbers`."""
        return record_numbers(check_symbols(numbers, self.randomizer.size), self.sizes)

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's record, a row of classes, into one report."""
        return self.randomizer.randomize(self.numbers(values), source)

    def estimate(self, tally: Tally) -> Estimate:
        """Estimate each combination's share without bias, as a table with an axis per attribute."""
        flat = super().estimate(tally)
        return Estimate(
            values=flat.values.reshape(self.sizes),
            standard_error=flat.standard_error.reshape(self.sizes),
            simulation=flat.simulation,
        )


def _cells(sizes: Sequence[int]) -> int:
    cells = math.prod(sizes)
    if cells > MAX_CELLS:
        raise ParameterError(
            "sizes", "of at most 2^40 cells", cells, "Report fewer attributes or fewer classes."
        )
    return cells
