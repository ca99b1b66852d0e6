"""What a party must refuse: its state stays as it was, and the right message is answered then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm._errors import FederationError, RecordError
from supm._random import secure, simulation
from supm.federation.participant import _LEFT as LEFT
from supm.federation.participant import COULD_NOT_ANSWER, DOES_NOT_TAKE_PART, Participant
from supm.federation.protocol import Circle
from supm.federation.rows import grid_rows
from supm.federation.secure_sum import party
from supm.federation.secure_sum.party import PartyMemory
from supm.messages.update import Update

PRIVATE = "the value 31415 is private"
CIRCLE = Circle(parties=5, colluders=1, dropouts=1)
KINDS = {
    "invite": ("study", "parties", "number", "simulation"),
    "roster": ("study", "roster"),
    "question": ("study", "roster", "round", "length", "present", "envelopes"),
    "survivors": ("study", "roster", "round", "survivors"),
    "confirmed": ("study", "roster", "round", "confirmed", "tags"),
    "release": ("study", "roster", "release"),
}
WRONG: list[Any] = [
    None, -1, 2**53 - 1, 1.5, [], [1], [True], [0, 1], [0, 1, 2], [0, 0, 1, 2, 3], [4, 3, 2, 1, 0],
    [0, 1, 2, 3, 5], [0, 1, 2, 3, None], [1, 2, 3, 4], {}, {"0": 1}, {"9": "AAAA"}, [[]],
]  # fmt: skip


def with_field(update: Update, name: str, value: Any) -> Update:
    return Update(kind=update.kind, fields={**update.fields, name: value}, numbers=update.numbers)


def refused(run: Any, message: Update | bytes, number: int = 0) -> str:
    """Hand a message to a party and return what it says; it forgets it, or leaves for good."""
    content = message.to_bytes() if isinstance(message, Update) else message
    state, reply = run.participants[number].answer(run.states[number], content)
    update = Update.from_bytes(reply)
    own = update.fields["reason"] in (COULD_NOT_ANSWER, DOES_NOT_TAKE_PART)
    assert state == (LEFT if own else run.states[number])
    assert update.kind == "refusal"
    assert list(update.fields) == ["reason"]
    assert update.numbers.size == 0
    return str(update.fields["reason"])


def finished(run: Any, messages: dict[int, bytes] | None) -> bool:
    while messages is not None:
        messages = run.coordinator.receive(run.answers(messages))
    everyone = range(run.circle.parties)
    return all(
        total.tolist() == run.plain_sum(everyone, place).tolist()
        for place, total in enumerate(run.coordinator.totals)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_field_is_refused_and_the_right_message_answered_then(
    make_run: Any, kind: str
) -> None:
    run = make_run(CIRCLE, 1)
    messages = run.until(kind)
    right = Update.from_bytes(messages[0])
    assert set(right.fields) == set(KINDS[kind])
    for name in KINDS[kind]:
        for value in WRONG:
            if right.fields[name] != value and (kind, name, value) != ("invite", "number", 1):
                refused(run, with_field(right, name, value))
        fewer = {key: value for key, value in right.fields.items() if key != name}
        refused(run, Update(kind=kind, fields=fewer, numbers=right.numbers))
    refused(run, with_field(right, "more", 1))
    assert finished(run, messages)


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_and_other_bytes_are_refused(make_run: Any, kind: str) -> None:
    run = make_run(CIRCLE, 1)
    messages = run.until(kind)
    right = Update.from_bytes(messages[0])
    for other in {*KINDS, "masked", "refusal", "x"} - {kind}:
        told = Update(kind=other, fields=right.fields, numbers=right.numbers)
        assert refused(run, told) == f"a message of kind {kind} was due."
    for content in (b"", b"\xff" * 60, messages[0][:-3]):
        refused(run, content)
    assert finished(run, messages)


@pytest.mark.parametrize("kind", ["invite", "roster", "survivors", "confirmed", "release"])
def test_numbers_where_none_belong_are_refused(make_run: Any, kind: str) -> None:
    run = make_run(CIRCLE, 1)
    right = Update.from_bytes(run.until(kind)[0])
    numbers = np.zeros(1, dtype=np.uint64)
    said = refused(run, Update(kind=kind, fields=right.fields, numbers=numbers))
    assert said == "it must bring 0 numbers."


def test_the_same_message_again_is_answered_with_the_same_bytes(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    messages: dict[int, bytes] | None = run.coordinator.begin()
    while messages is not None:
        replies = run.answers(messages)
        for number, message in messages.items():
            again = run.participants[number].answer(run.states[number], message)
            assert again == (run.states[number], replies[number])
        messages = run.coordinator.receive(replies)


def test_every_old_message_is_refused_at_every_later_step(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    messages: dict[int, bytes] | None = run.coordinator.begin()
    old: list[bytes] = []
    while messages is not None:
        replies = run.answers(messages)
        for message in old:
            refused(run, message)
        old.append(messages[0])
        messages = run.coordinator.receive(replies)
    assert len(old) == 2 + 2 * 3 + 1


def test_another_question_for_a_round_that_was_answered_is_refused(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    messages = run.until("question")
    right = Update.from_bytes(messages[0])
    replies = run.answers(messages)
    asked = Update(kind="question", fields=right.fields, numbers=right.numbers + np.uint64(1))
    assert refused(run, asked) == "a message of kind survivors was due."
    assert run.coordinator.receive(replies) is not None


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_question_that_is_not_finite_is_refused(make_run: Any, number: float) -> None:
    run = make_run(CIRCLE, 1)
    right = Update.from_bytes(run.until("question")[0])
    numbers = np.array([number, 1.0]).view(np.uint64)
    said = refused(run, Update(kind="question", fields=right.fields, numbers=numbers))
    assert said == "a question must hold finite numbers."


def test_a_question_of_another_length_is_refused(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    run.protocol.tell = lambda _rows, _question, _source: np.zeros(5, dtype=np.int64)
    right = Update.from_bytes(run.until("question")[0])
    said = refused(run, with_field(right, "length", 4))
    assert said == "in round 0 this protocol tells another count of numbers."


def test_a_roster_is_refused_where_it_is_not_one_that_can_be_trusted(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    right = Update.from_bytes(run.until("roster")[0])
    entries = right.fields["roster"]
    other = make_run(CIRCLE, 1)
    strange = Update.from_bytes(other.until("roster")[0]).fields["roster"]
    cases = {
        "has other keys in the place": [strange[0], *entries[1:]],
        "this one among them": [None, *entries[1:]],
        "at least 4 parties": [*entries[:3], None, None],
        "must have 5 entries": entries[:4],
        "occurs twice": [*entries[:4], entries[1]],
        "occurs twice ": [*entries[:4], {**entries[4], "masks": [entries[4]["envelope"]]}],
        "has the fields": [*entries[:4], {**entries[4], "more": 1}],
        "hide nothing": [*entries[:4], {**entries[4], "envelope": "A" * 43 + "="}],
        "commitments must list 1": [*entries[:4], {**entries[4], "commitments": []}],
    }
    for said, roster in cases.items():
        assert said.strip() in refused(run, with_field(right, "roster", roster))


def lone_party(make_run: Any, **own: Any) -> tuple[Participant, Any, list[Exception]]:
    problems: list[Exception] = []
    run = make_run(Circle(parties=1), 1)
    rows = grid_rows(np.zeros((2, 1)), np.zeros(2, dtype=int), classes=1)
    given = {
        "make_protocol": lambda _text: run.protocol,
        "policy": lambda _protocol, _text: None,
        "source_for": lambda _label: secure(),
        **own,
    }
    participant = Participant(rows, **given, on_problem=problems.append)
    run.participants, run.problems = [participant], problems
    return participant, run, problems


def fail(*_given: Any) -> Any:
    raise FederationError(PRIVATE)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"make_protocol": fail}, DOES_NOT_TAKE_PART),
        ({"policy": fail}, DOES_NOT_TAKE_PART),
        ({"source_for": fail}, COULD_NOT_ANSWER),
    ],
    ids=["protocol", "policy", "source"],
)
def test_what_fails_at_the_party_stays_there(make_run: Any, own: Any, said: str) -> None:
    _, run, problems = lone_party(make_run, **own)
    assert refused(run, run.coordinator.begin()[0]) == said
    assert [str(problem) for problem in problems] == [PRIVATE]


@pytest.mark.parametrize("kind", [FederationError, RecordError, ValueError, MemoryError])
def test_an_error_about_the_table_stays_at_the_party(make_run: Any, kind: type[Exception]) -> None:
    def tell(*_given: Any) -> Any:
        raise kind(PRIVATE)

    _, run, problems = lone_party(make_run)
    run.protocol.tell = tell
    assert refused(run, run.until("question")[0]) == COULD_NOT_ANSWER
    assert [type(problem) for problem in problems] == [kind]
    assert all("31415" in str(problem) for problem in problems)


def test_the_server_is_told_that_a_party_could_not_answer_and_no_more(make_run: Any) -> None:
    _, run, _ = lone_party(make_run)
    run.protocol.tell = fail
    with pytest.raises(FederationError) as caught:
        run.go()
    assert str(caught.value) == f"party 0 refused: {COULD_NOT_ANSWER}"


@pytest.mark.parametrize(
    "vector", [np.zeros(5), np.zeros(5, dtype=np.int32), np.zeros((5, 1), dtype=np.int64), [0] * 5]
)
def test_a_vector_that_is_not_of_int64_is_not_sent(make_run: Any, vector: Any) -> None:
    _, run, problems = lone_party(make_run)
    run.protocol.tell = lambda *_given: vector
    assert refused(run, run.until("question")[0]) == COULD_NOT_ANSWER
    assert str(problems[0]) == "a protocol must tell a vector of int64."


def test_an_error_that_nobody_thought_of_stays_at_the_party(
    make_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: Any) -> Any:
        raise ZeroDivisionError(PRIVATE)

    _, run, problems = lone_party(make_run)
    message = run.until("question")[0]
    monkeypatch.setattr(party, "hide_vector", broken)
    assert refused(run, message) == COULD_NOT_ANSWER
    assert [type(problem) for problem in problems] == [ZeroDivisionError]


def test_noise_from_a_public_seed_is_refused_in_a_real_run(make_run: Any) -> None:
    def source_for(label: str) -> Any:
        return simulation(1) if label.startswith("round") else secure()

    _, run, _ = lone_party(make_run, source_for=source_for)
    said = refused(run, run.until("question")[0])
    assert said == "this party draws from a public seed, and the run is of the other kind."


def test_nobody_has_to_keep_a_log(make_run: Any) -> None:
    _, run, _ = lone_party(make_run)
    rows = grid_rows(np.zeros((2, 1)), np.zeros(2, dtype=int), classes=1)
    silent = Participant(rows, fail, fail, fail)
    assert Update.from_bytes(silent.answer(b"", run.coordinator.begin()[0])[1]).kind == "refusal"


@pytest.mark.parametrize("state", [b"x", b"supm-party-1\n", b"\xff" * 90, None])
def test_a_state_that_cannot_be_read_is_refused(make_run: Any, state: Any) -> None:
    run = make_run(CIRCLE, 1)
    good = PartyMemory(number=3).to_bytes()
    for broken in (state or good[:-1], good.replace(b'"round":0', b'"rounds":')):
        with pytest.raises(FederationError, match="cannot be read; keep it as it was returned"):
            PartyMemory.from_bytes(broken)
        reply = run.participants[0].answer(broken, run.participants[0].answer(b"", b"")[1])[1]
        assert "cannot be read" in Update.from_bytes(reply).fields["reason"]


def test_a_state_survives_the_way_through_bytes(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    run.answers(run.until("survivors", 1))
    for state in run.states:
        memory = PartyMemory.from_bytes(state)
        assert memory.to_bytes() == state
        assert PartyMemory.from_bytes(memory.to_bytes()) == memory
