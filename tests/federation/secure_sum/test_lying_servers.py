"""Servers that tell different parties different things get no sum, and no second kind of share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm._errors import FederationError
from supm.federation.protocol import Circle
from supm.messages.update import Update

CIRCLE = Circle(parties=5, colluders=1, dropouts=1)
SPLIT = "too few parties were told of the same survivors"


def with_field(update: Update, name: str, value: Any) -> Update:
    return Update(kind=update.kind, fields={**update.fields, name: value}, numbers=update.numbers)


def asked_otherwise(number: int, update: Update) -> Update:
    """Ask party 0 another question than the others."""
    if (number, update.kind) != (0, "question"):
        return update
    numbers = update.numbers + np.uint64(1)
    return Update(kind="question", fields=update.fields, numbers=numbers)


def refused(run: Any, update: Update, number: int = 0) -> str:
    state, reply = run.participants[number].answer(run.states[number], update.to_bytes())
    assert state == run.states[number]
    assert Update.from_bytes(reply).kind == "refusal"
    return str(Update.from_bytes(reply).fields["reason"])


def tags_for(run: Any, number: int) -> dict[str, str]:
    """The tags that the others sent to a party in the last step."""
    last = {n: update for n, update in run.sent[-5:] if n != number}
    return {str(n): update.fields["tags"][str(number)] for n, update in last.items()}


def confirmed(run: Any, tags: dict[str, str]) -> Update:
    update = run.sent[-1][1]
    header = {name: update.fields[name] for name in ("study", "roster", "round")}
    names = sorted(int(n) for n in tags)
    return Update(kind="confirmed", fields={**header, "confirmed": names, "tags": tags})


def test_parties_that_are_told_of_different_survivors_send_no_share(make_run: Any) -> None:
    """Party 0 hears that 4 is lost, the others that 3 is: halves of two secrets were due."""
    run = make_run(CIRCLE, 1)
    run.change = lambda n, update: (
        with_field(update, "survivors", [0, 1, 2, 3] if n == 0 else [0, 1, 2, 3, 4])
        if update.kind == "survivors"
        else update
    )
    run.answers(run.until("survivors"))
    tags = {n: tag for n, tag in tags_for(run, 0).items() if n != "4"}
    assert refused(run, confirmed(run, tags)).startswith(SPLIT)
    for few in ({}, {"1": tags["1"]}):
        assert refused(run, confirmed(run, few)).startswith(SPLIT)
    right = tags_for(run, 1)
    del right["0"]
    state, reply = run.participants[1].answer(run.states[1], confirmed(run, right).to_bytes())
    assert state != run.states[1]
    assert Update.from_bytes(reply).kind == "unmask"


def test_parties_that_were_asked_different_things_send_no_share(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    run.change = asked_otherwise
    with pytest.raises(FederationError, match=f"party 0 refused: {SPLIT}"):
        run.go()


def test_parties_that_were_asked_different_things_have_no_sum(make_run: Any) -> None:
    """Without tolerance nobody confirms: here the masks themselves do not cancel."""
    run = make_run(Circle(parties=3, colluders=1), 1)
    run.change = asked_otherwise
    told: list[Any] = []
    tell = run.protocol.tell

    def listened(*given: Any) -> Any:
        told.append(tell(*given))
        return told[-1]

    run.protocol.tell = listened
    total = run.go().totals[0]
    assert len(told) == 3
    assert total.tolist() != np.sum(told, axis=0).tolist()
    assert total.tolist() != run.plain_sum([0, 1, 2], 0).tolist()
    assert not set(total.tolist()) & set(np.sum(told[1:], axis=0).tolist())


def test_a_tag_does_not_come_back_to_its_sender(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    run.answers(run.until("survivors"))
    own = next(update for n, update in run.sent[-5:] if n == 0).fields["tags"]
    assert refused(run, confirmed(run, {**tags_for(run, 0), "1": own["1"]})).startswith(SPLIT)


def test_an_envelope_does_not_come_back_to_its_sender(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    right = Update.from_bytes(run.until("question")[0])
    own = next(u for n, u in run.sent if (n, u.kind) == (0, "shares")).fields["envelopes"]
    envelopes = {**right.fields["envelopes"], "1": own["1"]}
    said = refused(run, with_field(right, "envelopes", envelopes))
    assert said == "the envelope of party 1 cannot be opened."


def test_a_party_whose_shares_nobody_holds_cannot_be_present(make_run: Any) -> None:
    """It sent keys and no shares: were it lost again, its masks could not be removed."""
    run = make_run(CIRCLE, 2)
    run.lose = {2: ("roster", 0)}
    right = Update.from_bytes(run.until("question", 1)[0])
    said = refused(run, with_field(right, "present", [0, 1, 2, 3, 4]))
    assert said == "its field present must list parties of this run in order, each once."
