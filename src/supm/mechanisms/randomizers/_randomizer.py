"""What every local randomizer is: a value goes in, a report comes out, at a derived epsilon."""

from __future__ import annotations

from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from supm._random import RandomSource
from supm.mechanisms.randomizers._reports import Reports
from supm.privacy import Event, PureEvent, PureLDP

__all__ = ["LocalRandomizer"]


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
        return PureEvent(self.epsilon)

    @property
    def report_bytes(self) -> int:
        """Whole bytes that one report needs on a wire."""
        return -(-self.report_bits // 8)
