"""A reply that cannot be used ends the run; the error says whose it was, never what it held."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from supm._errors import FederationError
from supm.federation.coordinator import Coordinator
from supm.federation.protocol import Circle
from supm.messages.update import Update

CIRCLE = Circle(parties=4, colluders=0, dropouts=1)
KINDS = {
    "keys": ("study", "number", "size", "simulation", "envelope", "masks", "commitments"),
    "shares": ("study", "roster", "number", "envelopes"),
    "masked": ("study", "roster", "round", "number"),
    "confirm": ("study", "roster", "round", "number", "tags"),
    "unmask": ("study", "roster", "round", "number", "seeds", "lost"),
}
WRONG: list[Any] = [
    None, True, -1, 2**53 - 1, 1.5, "x", "é" * 4, "0" * 64, [], [1], ["AAAA"], {}, {"0": 1},
    {"0": "AAAA", "2": "AAAA", "3": "AAAA"}, {"0": None, "2": [], "3": {}},
]  # fmt: skip


Stages = dict[str, tuple[Coordinator, dict[int, bytes]]]


@pytest.fixture(scope="module")
def stages(make_run: Any) -> Stages:
    """The server before each kind of reply, and the right replies."""
    run, found = make_run(CIRCLE, 1), {}
    messages = run.coordinator.begin()
    while messages is not None:
        replies = run.answers(messages)
        kind = Update.from_bytes(replies[0]).kind
        found[kind] = (copy.deepcopy(run.coordinator), replies)
        messages = run.coordinator.receive(replies)
    return found


def stopped(stages: Stages, kind: str, change: Callable[[Update], Any]) -> str:
    """Change party 1's reply of a kind, and return what the server says."""
    server, replies = copy.deepcopy(stages[kind][0]), dict(stages[kind][1])
    changed = change(Update.from_bytes(replies[1]))
    replies[1] = changed.to_bytes() if isinstance(changed, Update) else changed
    with pytest.raises(FederationError) as caught:
        server.receive(replies)
    assert server.outcome is None
    with pytest.raises(FederationError, match="was stopped"):
        server.receive(replies)
    return str(caught.value)


def with_field(update: Update, name: str, value: Any) -> Update:
    return Update(kind=update.kind, fields={**update.fields, name: value}, numbers=update.numbers)


def without_field(update: Update, name: str) -> Update:
    fields = {key: value for key, value in update.fields.items() if key != name}
    return Update(kind=update.kind, fields=fields, numbers=update.numbers)


@pytest.mark.parametrize(("kind", "name"), [(k, name) for k in KINDS for name in KINDS[k]])
def test_a_field_with_a_wrong_value_ends_the_run(stages: Stages, kind: str, name: str) -> None:
    for value in WRONG:
        if (name, value) != ("lost", {}):  # nobody is lost, so this is right
            said = stopped(stages, kind, partial(with_field, name=name, value=value))
            assert said.startswith("the reply of party 1 cannot be used: it")


@pytest.mark.parametrize("kind", KINDS)
def test_other_fields_end_the_run(stages: Stages, kind: str) -> None:
    said = stopped(stages, kind, lambda u: with_field(u, "secret-name", "secret-value"))
    assert "party 1" in said
    assert "secret" not in said
    for name in KINDS[kind]:
        fewer = stopped(stages, kind, partial(without_field, name=name))
        assert fewer.startswith("the reply of party 1 cannot be used: its fields must be")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", [b"", b"\xff" * 50, "text", None, 7])
def test_what_is_no_message_ends_the_run(stages: Stages, kind: str, content: Any) -> None:
    said = stopped(stages, kind, lambda _update: content)
    assert said == "the reply of party 1 cannot be used: it is no message of this version."


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_is_cut_off_ends_the_run(stages: Stages, kind: str) -> None:
    said = stopped(stages, kind, lambda update: update.to_bytes()[:-3])
    assert said == "the reply of party 1 cannot be used: it is no message of this version."


@pytest.mark.parametrize("kind", KINDS)
def test_another_kind_ends_the_run(stages: Stages, kind: str) -> None:
    said = stopped(stages, kind, lambda u: Update(kind="other", fields=u.fields))
    assert said == f"the reply of party 1 cannot be used: a message of kind {kind} was due."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_another_count_of_numbers_ends_the_run(stages: Stages, kind: str, count: int) -> None:
    if (kind, count) != ("masked", 5) and (kind == "masked" or count):
        numbers = np.zeros(count, dtype=np.uint64)
        change = lambda u: Update(kind=kind, fields=u.fields, numbers=numbers)  # noqa: E731  short
        assert "party 1 cannot be used: it must bring" in stopped(stages, kind, change)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_ends_the_run_with_its_reason(stages: Stages, kind: str) -> None:
    no = Update(kind="refusal", fields={"reason": "not today."})
    assert stopped(stages, kind, lambda _u: no) == "party 1 refused: not today."


@pytest.mark.parametrize("reason", [None, 5, "x" * 301, "\x1b[2J", "\ud800"[:0] + "\x00", []])
def test_a_reason_that_cannot_be_shown_is_not(stages: Stages, reason: Any) -> None:
    no = Update(kind="refusal", fields={"reason": reason})
    assert stopped(stages, "keys", lambda _u: no) == "party 1 refused: it gave no reason."


@pytest.mark.parametrize("number", [4, -1, "1", 1.0, True, None])
def test_a_reply_of_nobody_ends_the_run(make_run: Any, number: Any) -> None:
    run = make_run(CIRCLE, 1)
    replies = run.answers(run.coordinator.begin())
    one = replies.pop(1)
    with pytest.raises(FederationError, match="no party of this run"):
        run.coordinator.receive({**replies, number: one})


@pytest.mark.parametrize("kind", ["masked", "confirm", "unmask"])
def test_a_reply_of_an_earlier_round_is_refused(make_run: Any, kind: str) -> None:
    run = make_run(CIRCLE, 2)
    old: list[Update] = []

    def change(number: int, update: Update) -> Update:
        if (number, update.kind) != (1, kind):
            return update
        old.append(update)
        return old[0]

    run.change_reply = change
    with pytest.raises(FederationError, match="party 1 cannot be used: its field round is not"):
        run.go()
    assert len(run.coordinator.totals) == 1


@pytest.mark.parametrize("kind", ["shares", "masked", "confirm", "unmask"])
def test_a_reply_of_another_run_of_the_same_study_is_refused(
    make_run: Any, stages: Stages, kind: str
) -> None:
    earlier = make_run(CIRCLE, 1)
    earlier.go()
    old = next(update for number, update in earlier.sent if (number, update.kind) == (1, kind))
    assert "its field roster is not" in stopped(stages, kind, lambda _u: old)


def test_keys_of_another_run_are_refused_by_the_party_itself(make_run: Any) -> None:
    earlier, run = make_run(CIRCLE, 1), make_run(CIRCLE, 1)
    earlier.go()
    old = next(update for number, update in earlier.sent if (number, update.kind) == (1, "keys"))
    run.change_reply = lambda n, update: old if (n, update.kind) == (1, "keys") else update
    with pytest.raises(FederationError, match="party 1 refused: the roster has other keys in the"):
        run.go()


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_of_another_party_is_refused(make_run: Any, kind: str) -> None:
    run = make_run(CIRCLE, 1)
    others: dict[str, Update] = {}

    def change(number: int, update: Update) -> Update:
        others.setdefault(update.kind, update)
        return others[update.kind] if (number, update.kind) == (1, kind) else update

    run.change_reply = change
    with pytest.raises(FederationError, match="the reply of party 1 cannot be used: its field"):
        run.go()


def test_the_same_key_for_two_parties_is_refused(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    first: list[str] = []

    def change(number: int, update: Update) -> Update:
        if update.kind != "keys":
            return update
        first.append(update.fields["envelope"])
        return with_field(update, "envelope", first[0]) if number == 1 else update

    run.change_reply = change
    with pytest.raises(FederationError, match="occurs twice in the roster"):
        run.go()


def test_a_key_that_hides_nothing_is_refused(stages: Stages) -> None:
    zero = base64.b64encode(bytes(32)).decode()
    for name, value in {"envelope": zero, "masks": [zero]}.items():
        said = stopped(stages, "keys", partial(with_field, name=name, value=value))
        assert said == (
            "the reply of party 1 cannot be used: a public key is one of the few that hide nothing."
        )


def flipped(text: str) -> str:
    content = bytearray(base64.b64decode(text))
    # Not the lowest bits: a mask secret that differs in those alone is the same key of X25519.
    content[16] ^= 1
    return base64.b64encode(bytes(content)).decode()


def test_an_envelope_that_was_changed_is_noticed_by_its_reader(make_run: Any) -> None:
    def change(number: int, update: Update) -> Update:
        if (number, update.kind) != (1, "shares"):
            return update
        envelopes = update.fields["envelopes"]
        return with_field(update, "envelopes", {**envelopes, "2": flipped(envelopes["2"])})

    run = make_run(CIRCLE, 1)
    run.change_reply = change
    with pytest.raises(FederationError, match="party 2 refused: the envelope of party 1 cannot"):
        run.go()


@pytest.mark.parametrize("loser", [None, 3])
def test_a_wrong_share_never_gives_a_wrong_sum(make_run: Any, loser: int | None) -> None:
    """With one share to spare the others convict it; without, what was opened does not fit."""
    run = make_run(CIRCLE, 1)
    run.lose = {} if loser is None else {loser: ("question", 0)}

    def change(number: int, update: Update) -> Update:
        if (number, update.kind) != (1, "unmask"):
            return update
        shares = update.fields["seeds"]
        return with_field(update, "seeds", {**shares, "0": flipped(shares["0"])})

    run.change_reply = change
    with pytest.raises(FederationError, match="party 0 in round 0"):
        run.go()
    assert run.coordinator.totals == []


def test_a_wrong_share_of_a_lost_party_never_gives_a_wrong_sum(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    run.lose = {3: ("question", 0)}

    def change(number: int, update: Update) -> Update:
        if (number, update.kind) != (1, "unmask"):
            return update
        return with_field(update, "lost", {"3": flipped(update.fields["lost"]["3"])})

    run.change_reply = change
    with pytest.raises(FederationError, match="party 3 in round 0"):
        run.go()
    assert run.coordinator.totals == []
