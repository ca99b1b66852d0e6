"""What a run writes down: commitments that bind, made before anything is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from supm import secure, simulation
from supm._errors import FederationError
from supm.engines import carry_in_process
from supm.federation import (
    Circle,
    Coordinator,
    Discriminant,
    Participant,
    Receipted,
    RoundRecord,
    VectorEncoding,
    grid_rows,
)
from supm.messages import Commitments, Update, commitment

PARTIES = 4


def protocol(dropouts: int = 0) -> Discriminant:
    circle = Circle(parties=PARTIES, colluders=1, dropouts=dropouts)
    encoding = VectorEncoding(width=3, classes=2)
    return Discriminant.for_budget(encoding=encoding, epsilon=1.0, delta=1e-5, circle=circle)


class Party:
    """A party whose states and masked replies are kept."""

    def __init__(self, made: Discriminant) -> None:
        rows = grid_rows(np.full((8, 3), 0.2), np.arange(8) % 2, classes=2)
        self._inner = Participant(rows, lambda _: made, lambda *_: None, lambda _: secure())
        self.masked: list[Update] = []
        self.state = b""

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        self.state, reply = self._inner.answer(state, message)
        update = Update.from_bytes(reply)
        if update.kind == "masked":
            self.masked.append(update)
        return self.state, reply

    @property
    def kept(self) -> Any:
        return self._inner.commitments(self.state)


def run(
    record: Callable[[RoundRecord], None], *, dropouts: int = 0, **options: Any
) -> tuple[Coordinator, list[Party]]:
    made = protocol(dropouts)
    people = [Party(made) for _ in range(PARTIES)]
    server = Coordinator(made, "the study", record=record)
    carry_in_process(server, people, **options)
    return server, people


def test_each_party_keeps_what_the_server_records() -> None:
    told: list[RoundRecord] = []
    server, people = run(told.append)
    assert [each.round for each in told] == [0, 1]
    assert {each.run for each in told} == {server.roster_fingerprint}
    for number, party in enumerate(people):
        kept = party.kept
        assert (kept.number, kept.run) == (number, server.roster_fingerprint)
        assert kept.rounds == tuple(each.commitments[number] for each in told)
        sent = party.masked[0]
        assert kept.rounds[0] == commitment(sent.fields, sent.numbers)
    assert server.commitments == [each.commitments for each in told]


def test_the_direction_is_recorded_with_the_round_that_uses_it() -> None:
    told: list[RoundRecord] = []
    server, _ = run(told.append)
    assert told[0].asked == ()
    directions = np.asarray(server.outcome.directions).ravel()
    assert set(directions.tolist()) <= set(told[1].asked)


def test_a_round_is_recorded_before_its_sum_is_opened() -> None:
    opened: list[int] = []
    servers: list[Coordinator] = []

    def record(told: RoundRecord) -> None:
        opened.append(len(servers[0].totals) - told.round)

    made = protocol()
    servers.append(Coordinator(made, "the study", record=record))
    carry_in_process(servers[0], [Party(made) for _ in range(PARTIES)])
    assert opened == [0, 0]


def test_a_record_that_cannot_be_kept_stops_the_run() -> None:
    def full(_: RoundRecord) -> None:
        message = "the disk is full"
        raise FederationError(message)

    made = protocol()
    server = Coordinator(made, "the study", record=full)
    with pytest.raises(FederationError, match="the disk is full"):
        carry_in_process(server, [Party(made) for _ in range(PARTIES)])
    assert server.totals == []
    with pytest.raises(FederationError, match="was stopped"):
        server.receive({})


def test_a_lost_party_has_an_empty_place() -> None:
    told: list[RoundRecord] = []
    # Turn 2 is that of the masked vectors of the first round.
    server, people = run(told.append, dropouts=1, lost=lambda turn, n: turn == 2 and n == 3)
    assert server.lost == (3,)
    assert [each.commitments[3] for each in told] == ["", ""]
    for each in told:
        assert each.commitments[:3] == tuple(one.kept.rounds[each.round] for one in people[:3])


def test_a_commitment_binds_every_word_and_where_it_was_said() -> None:
    where = {"study": "0" * 64, "roster": "1" * 64, "round": 0, "number": 2}
    words = np.arange(5, dtype=np.uint64)
    first = commitment(where, words)
    for place in range(5):
        other = words.copy()
        other[place] ^= np.uint64(1)
        assert commitment(where, other) != first
    assert commitment(where, words[:4]) != first
    for name, value in {"study": "2" * 64, "roster": "0" * 64, "round": 1, "number": 3}.items():
        assert commitment({**where, name: value}, words) != first


@pytest.mark.parametrize("dropouts", [0, 1])
def test_it_is_known_how_often_parties_are_asked(dropouts: int) -> None:
    made = protocol(dropouts)
    server, people, turns = Coordinator(made, "the study"), [Party(made) for _ in range(PARTIES)], 0
    states = [b""] * PARTIES
    messages: dict[int, bytes] | None = server.begin()
    while messages is not None:
        turns += 1
        replies = {}
        for number, message in messages.items():
            states[number], replies[number] = people[number].answer(states[number], message)
        messages = server.receive(replies)
    assert turns == server.turns


def with_receipt(keep: Callable[[Commitments], None]) -> tuple[Coordinator, list[Any]]:
    """Return a server and its parties, of which the first keeps a receipt."""
    made = protocol()
    rows = grid_rows(np.full((8, 3), 0.2), np.arange(8) % 2, classes=2)
    people: list[Any] = [
        Participant(rows, lambda _: made, lambda *_: None, simulation(number).child)
        for number in range(PARTIES)
    ]
    people[0] = Receipted(people[0], keep)
    return Coordinator(made, "the study", simulation=True), people


def test_the_receipt_is_there_before_what_it_is_about_leaves() -> None:
    kept, seen = list[Commitments](), list[tuple[str, int]]()
    server, people = with_receipt(kept.append)
    states, messages = [b""] * PARTIES, server.begin()
    while messages:
        replies = {}
        for number, message in messages.items():
            states[number], replies[number] = people[number].answer(states[number], message)
        seen.append((Update.from_bytes(replies[0]).kind, len(kept)))
        messages = server.receive(replies) or {}
    sent = [("masked", 1), ("unmask", 1), ("masked", 2), ("unmask", 2), ("received", 2)]
    assert seen == [("keys", 0), ("shares", 0), *sent]
    assert [len(each.rounds) for each in kept] == [1, 2]
    assert kept[-1].rounds == tuple(each[0] for each in server.commitments)


def test_what_has_no_receipt_does_not_leave() -> None:
    def full(_: Commitments) -> None:
        message = "no space"
        raise OSError(message)

    server, people = with_receipt(full)
    with pytest.raises(OSError, match="no space"):
        carry_in_process(server, people)
    assert server.commitments == []
