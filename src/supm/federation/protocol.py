"""What a strict protocol is: a few rounds, in each of which only a sum over parties is seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.federation.encoding import Encoding
from supm.federation.rows import Rows
from supm.federation.trust import Circle
from supm.messages.release import Part
from supm.privacy import Guarantee

__all__ = ["Part", "Protocol", "Question", "Totals"]

Totals: TypeAlias = Sequence[NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """What the parties are asked in one round; all of it is public.

    Parameters
    ----------
    number : int
        The round, from 0.
    length : int
        How many whole numbers a party tells.
    given : ndarray of float64
        What they are told with: nothing, a direction, components.
    """

    number: int
    length: int
    given: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))


class Protocol(ABC):
    """Public parameters of a run. What is random is drawn in `tell`, at the party."""

    kind: str
    encoding: Encoding
    circle: Circle

    @property
    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """How many whole numbers a party tells in each round, whatever the sums before it are."""

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return len(self.lengths)

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """What is released, one by one."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What all of it promises together, derived from the noise that is really drawn."""

    @property
    def trust(self) -> str:
        """Whom the promise trusts, in words."""
        return self.circle.sentence

    @property
    def withstood(self) -> int:
        """How many other parties may work with the server, and the promise still holds."""
        return self.circle.trusted_by_nobody

    @abstractmethod
    def ask(self, totals: Totals) -> Question:
        """Return the question of round ``len(totals)``, given the sums of those before."""

    @abstractmethod
    def tell(self, rows: Rows, question: Question, source: RandomSource) -> NDArray[np.int64]:
        """Return what a party tells: its statistic with its share of the noise."""

    @abstractmethod
    def rows_told(self, total: NDArray[np.int64]) -> int:
        """Return how many rows the parties of a sum say in it that they have."""

    @abstractmethod
    def conclude(self, totals: Totals) -> Any:  # noqa: ANN401  each its own
        """Return what is published, given the sums of all rounds."""

    @abstractmethod
    def fits(self, outcome: Any) -> bool:  # noqa: ANN401  each its own
        """Say whether an outcome that was read has the shape that this protocol concludes."""

    @abstractmethod
    def to_form(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON."""
