"""What a strict protocol is: a few rounds, in each of which only a sum over parties is seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.federation.encoding import Encoding
from supm.federation.rows import Rows
from supm.federation.trust import Circle
from supm.messages.release import Part
from supm.privacy import Guarantee

__all__ = [
    "Part",
    "Protocol",
    "RoundQuestion",
    "Totals",
    "party_source",
    "run_pooled",
]

Totals: TypeAlias = Sequence[NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundQuestion:
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
    def ask(self, totals: Totals) -> RoundQuestion:
        """Return the question of round ``len(totals)``, given the sums of those before."""

    @abstractmethod
    def tell(self, rows: Rows, question: RoundQuestion, source: RandomSource) -> NDArray[np.int64]:
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


def party_source(source: RandomSource, party: str, label: str) -> RandomSource:
    """Return the randomness of one step of one party.

    A simulation gives each party and step a stream of its own, the same in process and on Flower.

    Parameters
    ----------
    source : RandomSource
        Of the whole run.
    party : str
        What the party is called.
    label : str
        Which step.

    Returns
    -------
    RandomSource
    """
    return source.child(party).child(label)


def run_pooled(
    protocol: Protocol, tables: Sequence[Rows], names: Sequence[str], source: RandomSource
) -> Any:  # noqa: ANN401  each protocol its own
    """Run all rounds in this process and return what the protocol concludes.

    Parameters
    ----------
    protocol : Protocol
        What is computed.
    tables : sequence of Rows
        One for each party of the protocol's circle.
    names : sequence of str
        What the parties are called; each has noise of its own.
    source : RandomSource
        `supm.secure()`, or `supm.simulation(seed)`.

    Returns
    -------
    object
        The protocol's outcome.
    """
    if len(tables) != protocol.circle.parties or len(set(names)) != len(tables):
        wanted = f"{protocol.circle.parties}, each with a name of its own"
        raise ParameterError("tables", wanted, len(tables))
    totals: list[NDArray[np.int64]] = []
    for number in range(protocol.rounds):
        question = protocol.ask(totals)
        total = np.zeros(question.length, dtype=np.int64)
        for name, rows in zip(names, tables, strict=True):
            total += protocol.tell(rows, question, party_source(source, name, f"round {number}"))
        totals.append(total)
    return protocol.conclude(totals)
