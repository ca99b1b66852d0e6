"""A run in a plain loop, in which parties can be lost and messages changed on their way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import RandomSource, secure, simulation
from supm.federation.coordinator import Coordinator
from supm.federation.participant import Participant
from supm.federation.protocol import Circle, Protocol, RoundQuestion
from supm.federation.rows import Rows, grid_rows
from supm.messages import Part
from supm.messages.update import Update
from supm.privacy import Guarantee, NoGuarantee

STUDY = "sums of words, for tests"
LENGTH = 5


def vector_of(size: int, number: int, given: NDArray[np.float64]) -> NDArray[np.int64]:
    """What a party with so many rows tells: all 64 bits are used, so a wrong sum shows."""
    label = f"{number} {given.tolist()}"
    return simulation(size).child(label).words(LENGTH).view(np.int64)


class WordSums(Protocol):
    """Parties tell words that follow from their number of rows and the question."""

    kind = "word sums"

    def __init__(self, circle: Circle, rounds: int) -> None:
        self.circle = circle
        self._rounds = rounds
        self.declared: Callable[[], int] = lambda: 0

    @property
    def lengths(self) -> tuple[int, ...]:
        return (LENGTH,) * self._rounds

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()

    @property
    def guarantee(self) -> Guarantee:
        return NoGuarantee("a test")

    def ask(self, totals: Sequence[NDArray[np.int64]]) -> RoundQuestion:
        given = np.array([len(totals) + 0.5, 7.0])
        return RoundQuestion(number=len(totals), length=LENGTH, given=given)

    def tell(self, rows: Rows, question: RoundQuestion, source: RandomSource) -> NDArray[np.int64]:
        assert source.words(1).size == 1
        assert question.length == LENGTH
        return vector_of(rows.size, question.number, question.given)

    def rows_told(self, total: NDArray[np.int64]) -> int:
        del total  # words say nothing about rows
        return self.declared()

    def conclude(self, totals: Sequence[NDArray[np.int64]]) -> Any:
        return tuple(totals)

    def fits(self, outcome: Any) -> bool:
        return len(outcome) == self._rounds

    def to_form(self) -> dict[str, Any]:
        return {}


class Run:
    """A coordinator, its participants, and all that went between them."""

    def __init__(self, circle: Circle, rounds: int = 2, *, seed: int | None = None) -> None:
        self.circle, self.protocol = circle, WordSums(circle, rounds)
        self.problems: list[Exception] = []
        self.sent: list[tuple[int, Update]] = []
        self.asked: list[tuple[int, Update]] = []
        self.states = [b""] * circle.parties
        self.lose: Mapping[int, tuple[str, int]] = {}
        self.change: Callable[[int, Update], Update | bytes] = lambda _number, update: update
        self.change_reply: Callable[[int, Update], Update | bytes] = lambda _n, update: update
        self.coordinator = Coordinator(
            self.protocol,
            STUDY,
            finish=lambda _outcome, sizes: f"sizes {sizes}",
            simulation=seed is not None,
        )
        self.protocol.declared = lambda: self.coordinator.declared
        self.participants = [self._participant(n, seed) for n in range(circle.parties)]

    def _participant(self, number: int, seed: int | None) -> Participant:
        parent = secure() if seed is None else simulation(seed).child(f"party {number}")
        rows = grid_rows(np.zeros((number + 1, 1)), np.zeros(number + 1, dtype=int), classes=1)
        return Participant(
            rows,
            lambda _text: self.protocol,
            lambda _protocol, _text: None,
            parent.child,
            self.problems.append,
        )

    def go(self) -> Coordinator:
        messages: dict[int, bytes] | None = self.coordinator.begin()
        while messages is not None:
            messages = self.coordinator.receive(self.answers(messages))
        return self.coordinator

    def until(self, kind: str, number: int = 0) -> dict[int, bytes]:
        """Go on to where messages of a kind (and round) are to be sent, and return them."""
        messages = self.coordinator.begin()
        while not self._is_at(messages, kind, number):
            after = self.coordinator.receive(self.answers(messages))
            assert after is not None
            messages = after
        return messages

    def _is_at(self, messages: dict[int, bytes], kind: str, number: int) -> bool:
        first = Update.from_bytes(next(iter(messages.values())))
        return first.kind == kind and first.fields.get("round", 0) == number

    def answers(self, messages: Mapping[int, bytes]) -> dict[int, bytes]:
        replies = {}
        for number, message in messages.items():
            update = Update.from_bytes(message)
            self.asked.append((number, update))
            if not self._is_lost(number, update):
                replies[number] = self.answer(number, _bytes(self.change(number, update)))
        return replies

    def answer(self, number: int, message: bytes) -> bytes:
        state = self.states[number]
        self.states[number], reply = self.participants[number].answer(state, message)
        update = Update.from_bytes(reply)
        self.sent.append((number, update))
        return _bytes(self.change_reply(number, update))

    def _is_lost(self, number: int, update: Update) -> bool:
        stage = (update.kind, update.fields.get("round", 0))
        if self.lose.get(number) == stage:
            self._gone = {*getattr(self, "_gone", ()), number}
        return number in getattr(self, "_gone", ())

    def told_by(self, number: int, round_number: int) -> NDArray[np.int64]:
        """What a party told in a round that was asked."""
        given = next(
            update.floats
            for _, update in self.asked
            if update.kind == "question" and update.fields["round"] == round_number
        )
        return vector_of(number + 1, round_number, given)

    def plain_sum(self, numbers: Sequence[int], round_number: int) -> NDArray[np.int64]:
        with np.errstate(over="ignore"):
            told = [self.told_by(n, round_number) for n in numbers]
            return np.asarray(np.sum(told, axis=0, dtype=np.int64))


def _bytes(content: Update | bytes) -> bytes:
    return content.to_bytes() if isinstance(content, Update) else content


@pytest.fixture(scope="session")
def make_run() -> type[Run]:
    return Run
