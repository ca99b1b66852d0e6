"""The interview: the mechanism that a question describes, shared by owner and aggregator."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.mechanisms import Reports
from supm.privacy import Guarantee, NoGuarantee, PureLDP
from supm.schema import Records

__all__ = ["Interview"]


class Interview(ABC):
    """What turns a record into the symbols of a report, with the promise that follows from it."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """What an answer really spends, rounded up; infinite where nothing is promised."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many symbols an answer has."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different answers there are."""

    @abstractmethod
    def encode(self, records: Records) -> NDArray[Any]:
        """Return what `randomize` takes: one row for each record, by public arithmetic."""

    @abstractmethod
    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Turn each row into the symbols of a report."""

    @abstractmethod
    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether it could have been told."""

    @abstractmethod
    def inputs(self) -> NDArray[Any]:
        """Return one row for each row of the channel."""

    @abstractmethod
    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the column of the channel that each report stands for."""

    @abstractmethod
    def exact_channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each whole answer (column) for each record (row)."""

    @property
    def guarantee(self) -> Guarantee:
        """The promise to an owner who answers."""
        if math.isinf(self.epsilon):
            return NoGuarantee("what leaves the owner is not randomised")
        return PureLDP(self.epsilon)
