"""A randomizer with finitely many inputs and reports: its channel can be written down.

The channel is what makes a promise checkable: its largest ratio within a column is the epsilon that
is kept, and the sampler can be tested against each of its rows. Entries are fractions, not floats:
the audit compares them exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._validation import Integers
from supm.mechanisms.randomizers._randomizer import LocalRandomizer
from supm.mechanisms.randomizers._reports import Reports

__all__ = ["ENTRIES", "LISTED", "OUTCOMES", "FiniteChannel"]

_HINT = "To look at a channel, take a small alphabet: the arithmetic is the same."
ENTRIES = Integers("entries of the channel", 1, 1 << 22, _HINT)
LISTED = Integers("inputs to be listed", 1, 1 << 22, _HINT)
OUTCOMES = Integers("outcomes to be numbered", 1, 1 << 62, _HINT)


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
