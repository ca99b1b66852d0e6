"""What every local randomizer is: a value goes in, a report comes out, at a derived epsilon.

Where inputs and reports are finite, the channel can be written down. It is what makes a promise
checkable: its largest ratio within a column is the epsilon that is kept, and the sampler can be
tested against each of its rows. Entries are fractions, not floats: the audit compares them exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource
from supm._validation import Integers
from supm.mechanisms.randomizers.reports import Reports
from supm.privacy import PureLDP

if TYPE_CHECKING:
    from supm.privacy import Event

_HINT = "To look at a channel, take a small alphabet: the arithmetic is the same."
ENTRIES = Integers("entries of the channel", 1, 1 << 22, _HINT)
LISTED = Integers("inputs to be listed", 1, 1 << 22, _HINT)
OUTCOMES = Integers("outcomes to be numbered", 1, 1 << 62, _HINT)


class LocalRandomizer(ABC):
    """Base of all local randomizers."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The epsilon that the sampler itself keeps, rounded up."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Length of one report."""

    @abstractmethod
    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's value into a report."""

    @property
    def guarantee(self) -> PureLDP:
        """The promise to each owner, derived from what the sampler uses."""
        return PureLDP(self.epsilon)

    @property
    def event(self) -> Event:
        """What one report is to an accountant; ``to_dp_accounting`` hands it to Google's."""
        from supm.privacy import PureEvent  # noqa: PLC0415  few ask for it

        return PureEvent(self.epsilon)

    @property
    def report_bytes(self) -> int:
        """Whole bytes that one report needs on a wire."""
        return -(-self.report_bits // 8)


class FiniteChannel(LocalRandomizer):
    """Base of the randomizers whose exact channel is a finite matrix."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different reports there are: the columns of the channel."""

    @abstractmethod
    def inputs(self) -> NDArray[Any]:
        """Return one value per row of the channel, as `randomize` takes them."""

    @abstractmethod
    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the column of the channel that each report stands for."""

    @abstractmethod
    def exact_channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each outcome (column) for each input (row)."""

    def channel(self) -> NDArray[np.float64]:
        """Return the exact channel as floats: one row per input, one column per outcome."""
        ENTRIES.check(len(self.inputs()) * self.outcomes)
        return np.array([[float(entry) for entry in row] for row in self.exact_channel()])
