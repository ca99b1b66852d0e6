"""What a strict protocol is: a few rounds, in each of which only a sum over a circle is seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._random import RandomSource
from supm._validation import Integers, check_kind
from supm.federation.rows import Encoding, Rows, check_encoding
from supm.messages.codec import Message
from supm.messages.release import Part
from supm.privacy import GaussianDP, Guarantee, Neighbours

TABLE: Final = Neighbours.REPLACE_ONE
_MOST_PARTIES: Final = 1000
_MOST_ROWS: Final = 1 << 29
_LARGEST_MU: Final = 10.0
_PARTIES: Final = Integers("parties", 1, _MOST_PARTIES)
_OTHERS: Final = Integers("colluders", 0, _MOST_PARTIES)
_LOST: Final = Integers("dropouts", 0, _MOST_PARTIES)
_NOBODY: Final = (
    "It is enough against the server alone and against readers who took no part; a party that "
    "takes its own noise off what is published sees that much less noise."
)


@dataclass(frozen=True, kw_only=True)
class Circle(Message):
    """The parties of a run and the trust between them.

    Parameters
    ----------
    parties : int
        How many tables there are, M.
    colluders : int, optional
        How many parties may tell the server all they know, T. By default all but one: then nobody
        relies on another's noise.
    dropouts : int, default 0
        How many parties may be lost in the middle without ending the run, D.

    Examples
    --------
    >>> Circle(parties=10, colluders=0).holders, Circle(parties=10).holders
    (10, 1)
    >>> Circle(parties=3, colluders=3)
    Traceback (most recent call last):
    supm._errors.ParameterError: colluders must be fewer than the 3 parties less the 0 dropouts, got
    3. Whoever colludes adds no noise that hides another.
    """

    noun = "a circle"
    parties: int
    colluders: int | None = None
    dropouts: int = 0

    def __post_init__(self) -> None:
        parties, lost = _PARTIES.check(self.parties), _LOST.check(self.dropouts)
        others = parties - 1 - lost if self.colluders is None else self.colluders
        hint = "Whoever colludes adds no noise that hides another."
        wanted = f"fewer than the {parties} parties less the {lost} dropouts"
        if self.colluders is None and others < 0:
            raise ParameterError("dropouts", f"fewer than the {parties} parties", lost)
        if _OTHERS.check(others) > parties - 1 - lost:
            raise ParameterError("colluders", wanted, others, hint)
        object.__setattr__(self, "colluders", others)
        self._check_threshold()

    def _check_threshold(self) -> None:
        if self.dropouts and 2 * self.threshold <= self.parties + self.trusted_by_nobody:
            wanted = "so few that twice those who stay are more than parties and colluders together"
            hint = "Else a lying server could open what one party sent."
            raise ParameterError("dropouts", wanted, self.dropouts, hint)

    @property
    def trusted_by_nobody(self) -> int:
        """The number of colluders, as a plain number."""
        return int(self.colluders or 0)

    @property
    def holders(self) -> int:
        """How many honest parties add noise to a sum at the least: M - T - D."""
        return self.parties - self.trusted_by_nobody - self.dropouts

    @property
    def threshold(self) -> int:
        """How many parties must stay to the end, and how many shares open a secret: M - D."""
        return self.parties - self.dropouts

    @property
    def sentence(self) -> str:
        """The trust in words."""
        if self.parties == 1:
            return "One party holds all records and adds all noise."
        others = self.trusted_by_nobody
        who = f"{others} of them work" if others > 1 else "one of them works"
        holds = f"It is enough even if {who} with the server." if others else _NOBODY
        return f"{self.parties} parties add noise. {holds}{self._end}"

    @property
    def alone(self) -> str:
        """The trust in words, where the noise of a party is enough for its own records."""
        if self.parties == 1:
            return self.sentence
        each = f"Each of {self.parties} parties adds noise that is enough for its own records"
        return f"{each}, whoever works with the server.{self._end}"

    @property
    def _end(self) -> str:
        return f" Up to {self.dropouts} of them may be lost on the way." if self.dropouts else ""


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
        What they are told with, one number after another: nothing, a direction, components.
    """

    number: int
    length: int
    given: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))


class Protocol(Message, ABC):
    """Public parameters of a run. What is random is drawn in `tell`, at the party."""

    fewest_rows: ClassVar[int] = 1
    encoding: Encoding
    circle: Circle

    def __post_init__(self) -> None:
        check_public(self.encoding, self.circle)
        self._check()
        # Noise that promises nothing is refused here, not when it is drawn.
        _ = self.guarantee

    def _check(self) -> None:
        """Refuse parameters of its own that do not fit each other."""

    @property
    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """How many whole numbers a party tells in each round, whatever the sums before it are."""

    @property
    def given(self) -> tuple[int, ...]:
        """How many public numbers the question of each round brings."""
        return (0,) * self.rounds

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

    def check_asked(self, rows: Rows, question: RoundQuestion) -> None:
        """Refuse rows of another encoding, too many of them, and what is no round's question."""
        if (rows.width, rows.classes) != (self.encoding.width, self.encoding.classes):
            raise ParameterError("rows", "made by the encoding of the protocol", "others")
        most = _MOST_ROWS // self.circle.parties
        Integers("rows", self.fewest_rows, most).check(rows.size)
        asked = (question.number, question.length, question.given.size)
        if asked not in zip(range(self.rounds), self.lengths, self.given, strict=True):
            raise MessageError("the question must be one of the protocol's rounds, of its length.")

    def rows_told(self, total: NDArray[np.int64]) -> int:
        """Return how many rows the parties of a sum say in it: without noise, sizes are public."""
        return int(total[-1])

    @abstractmethod
    def conclude(self, totals: Totals) -> Any:  # noqa: ANN401  each its own
        """Return what is published, given the sums of all rounds."""

    @abstractmethod
    def fits(self, outcome: Any) -> bool:  # noqa: ANN401  each its own
        """Say whether an outcome that was read has the shape that this protocol concludes."""


def check_public(encoding: object, circle: object) -> None:
    """Raise ParameterError where the description of rows or of parties is none."""
    check_encoding(encoding)
    check_kind("circle", circle, Circle)


def mu_for(epsilon: float, delta: float) -> float:
    """Return the mu that a budget allows; more than ten promises nothing and is not asked for."""
    whole = GaussianDP.for_approximate(epsilon=epsilon, delta=delta, neighbours=TABLE)
    return min(whole.mu, _LARGEST_MU)


@contextmanager
def drawn_for(epsilon: float) -> Iterator[None]:
    """Say of noise that is too wide to be drawn which budget asks for it."""
    try:
        yield
    except ParameterError:
        wanted = "large enough that its noise can be drawn"
        hint = "Ask for more, or for fewer releases."
        raise ParameterError("epsilon", wanted, epsilon, hint) from None


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
