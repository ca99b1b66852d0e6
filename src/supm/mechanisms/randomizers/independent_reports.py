"""Several attributes, each randomised on its own, with the budget split among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import EPSILON, check_kind
from supm.mechanisms.randomizers.generalized_response import GeneralizedRandomizedResponse
from supm.mechanisms.randomizers.randomizer import (
    ENTRIES,
    OUTCOMES,
    Estimate,
    FiniteChannel,
    Reports,
    Tally,
    check_reports,
)
from supm.mechanisms.randomizers.records import all_records, check_classes, check_sizes, check_table
from supm.mechanisms.thresholds import epsilon_of, exact_share, threshold_for

_ROWS = 1 << 14


@dataclass(frozen=True)
class IndependentReports(FiniteChannel):
    """Report every attribute of a record through a randomized response of its own.

    Seeing the whole report changes the odds between any two records by a factor of at most
    e^epsilon, where epsilon is the sum over the attributes. This is how the papers' ODP spends a
    budget; `JointReport` spends it better.

    Parameters
    ----------
    responses : tuple of GeneralizedRandomizedResponse
        One for each attribute.

    Notes
    -----
    **Guarantee.** epsilon-LDP for the record with epsilon the sum of the responses' own: sequential
    composition, tight (docs/proofs/independent-reports.md, Theorem 1).

    **Utility.** Each attribute's shares are unbiased with the variance of its response at its share
    of the budget.

    **Cost.** One word per attribute.

    References
    ----------
    Paper 000, algorithms 8 and 9 (epsilon / (K + 1) for each of K attributes and the target).

    Examples
    --------
    >>> split = IndependentReports.for_epsilon(sizes=(2, 3), epsilon=2.0)
    >>> [round(response.epsilon, 6) for response in split.responses]
    [1.0, 1.0]
    >>> split.epsilon <= 2.0
    True
    """

    responses: tuple[GeneralizedRandomizedResponse, ...]

    def __post_init__(self) -> None:
        check_kind("responses", self.responses, Sequence)
        for response in self.responses:
            check_kind("response", response, GeneralizedRandomizedResponse)
        if not self.responses:
            raise ParameterError("responses", "at least one randomizer", "none")
        object.__setattr__(self, "responses", tuple(self.responses))

    @classmethod
    def for_epsilon(cls, *, sizes: Sequence[int], epsilon: float) -> Self:
        """Split the budget evenly over the attributes."""
        sizes, epsilon = check_sizes(sizes), EPSILON.check(epsilon)
        share = exact_share(epsilon, len(sizes))
        kept = [threshold_for(share, inside=1, outside=size - 1) for size in sizes]
        made = map(_response, sizes, kept)
        return cls(tuple(made))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of classes of each attribute."""
        return tuple(response.size for response in self.responses)

    @property
    def epsilon(self) -> float:
        """Logarithm of the product of the responses' ratios, rounded up."""
        return epsilon_of(
            math.prod((each.hit / each.miss for each in self.responses), start=Fraction(1))
        )

    @property
    def report_bits(self) -> int:
        """The responses' bits together."""
        return sum(response.report_bits for response in self.responses)

    @property
    def outcomes(self) -> int:
        """As many as records."""
        return math.prod(self.sizes)

    def inputs(self) -> NDArray[np.int64]:
        """Return all records, the last attribute running fastest."""
        return all_records(self.sizes)

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the reported record's number, as in `inputs`."""
        OUTCOMES.check(self.outcomes)
        columns = [each.outcome(told) for each, told in self._columns(reports)]
        return np.ravel_multi_index(columns, self.sizes)

    def exact_channel(self) -> list[list[Fraction]]:
        """Multiply the attributes' channels."""
        ENTRIES.check(self.outcomes**2)
        channel = [[Fraction(1)]]
        for response in self.responses:
            inner = response.exact_channel()
            channel = [[a * b for a in outer for b in row] for outer in channel for row in inner]
        return channel

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's record, a row of classes, into a row of randomised classes."""
        check_source(source)
        records = check_table(values, len(self.sizes))
        check_classes(records, self.sizes)
        told = np.empty(records.shape, dtype=np.int64)
        for start in range(0, len(records), _ROWS):
            chunk = slice(start, start + _ROWS)
            # NumPy is slow on every eighth number, so each attribute gets a row of its own.
            columns = np.array(records[chunk].T, dtype=np.int64, order="C")
            for column, response in zip(columns, self.responses, strict=True):
                column[:] = response.randomize(column, source).symbols
            told[chunk] = columns.T
        return Reports(symbols=told, simulation=source.simulation)

    def tally(self, reports: Reports) -> tuple[Tally, ...]:
        """Count each attribute's reports."""
        return tuple(each.tally(told) for each, told in self._columns(reports))

    def estimate(self, tallies: Sequence[Tally]) -> tuple[Estimate, ...]:
        """Estimate, without bias, the shares of each attribute's classes."""
        if len(tallies) != len(self.responses):
            raise ParameterError("tallies", f"{len(self.responses)} of them", len(tallies))
        pairs = zip(self.responses, tallies, strict=True)
        return tuple(response.estimate(tally) for response, tally in pairs)

    def _columns(self, reports: Reports) -> list[tuple[GeneralizedRandomizedResponse, Reports]]:
        told = check_reports(reports).symbols
        if told.ndim != 2 or told.shape[1] != len(self.responses):
            raise ParameterError("reports", f"rows of {len(self.responses)} classes", told.shape)
        return [
            (response, Reports(symbols=told[:, column], simulation=reports.simulation))
            for column, response in enumerate(self.responses)
        ]


def _response(size: int, keep_words: int) -> GeneralizedRandomizedResponse:
    return GeneralizedRandomizedResponse(size=size, keep_words=keep_words)
