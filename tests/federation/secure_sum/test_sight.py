"""What the server sees, and what it cannot make of it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._errors import FederationError
from supm.federation.protocol import Circle
from supm.federation.secure_sum.keys import (
    agree,
    as_unsigned,
    mask_binding,
    open_secret,
    own_mask_key,
    pair_masks,
    unmask_total,
)
from supm.federation.secure_sum.party import Opening, PartyMemory
from supm.messages.update import Update

CIRCLE = Circle(parties=5, colluders=1, dropouts=1)


def texts(form: Any) -> Iterator[str]:
    if isinstance(form, str):
        yield form
    elif isinstance(form, dict | list):
        for one in form.values() if isinstance(form, dict) else form:
            yield from texts(one)


def visible(update: Update) -> bytes:
    """All bytes of a message, and again those that it writes as base64."""
    packed = [t for t in texts(update.fields) if len(t) % 4 == 0 and len(t) >= 40]
    return update.to_bytes() + b"".join(base64.b64decode(t) for t in packed)


@pytest.mark.parametrize("circle", [CIRCLE, Circle(parties=2)], ids=["five", "two"])
def test_no_byte_that_a_party_sends_shows_a_number_of_its_vector(
    make_run: Any, circle: Circle
) -> None:
    run = make_run(circle, 2)
    run.lose = {0: ("survivors", 0)} if circle.dropouts else {}
    run.go()
    for number, update in run.sent:
        seen = visible(update)
        for word in np.concatenate([run.told_by(number, 0), run.told_by(number, 1)]).tolist():
            assert word.to_bytes(8, "little", signed=True) not in seen
            assert word.to_bytes(8, "big", signed=True) not in seen
            assert str(word).encode() not in seen


def masked_by(run: Any, number: int, round_number: int) -> NDArray[np.uint64]:
    return next(
        np.asarray(update.numbers)
        for sender, update in run.sent
        if sender == number and update.kind == "masked" and update.fields["round"] == round_number
    )


def opened(run: Any, number: int, name: str, round_number: int) -> bytes:
    """A secret that the server can put together from the shares that it was sent."""
    shares = {
        sender: base64.b64decode(update.fields[name][str(number)])
        for sender, update in run.sent
        if update.kind == "unmask"
        and update.fields["round"] == round_number
        and str(number) in update.fields[name]
    }
    return open_secret(shares, run.circle.threshold)


def stripped(run: Any, hidden: NDArray[np.uint64], secret: bytes, view: str, of: int = 0) -> Any:
    """Take the pair masks of round 0 from party 2's vector, with a secret of hers."""
    server = run.coordinator
    others = {n: server._roster[n].masks[of] for n in (0, 1, 3, 4)}
    binding = mask_binding(server._study, 0, view)
    keys = {n: agree(secret, key, binding) for n, key in others.items()}
    return hidden - pair_masks(2, keys, hidden.size)


def test_what_the_server_opens_in_one_round_does_not_open_another(make_run: Any) -> None:
    """Party 2 is in the sum of round 0 and lost in round 1, where its mask secret is opened."""
    run = make_run(CIRCLE, 2)
    run.lose = {2: ("question", 1)}
    replies = run.answers(run.until("question"))
    kept = PartyMemory.from_bytes(run.states[2])
    messages = run.coordinator.receive(replies)
    while messages is not None:
        messages = run.coordinator.receive(run.answers(messages))
    late, own = opened(run, 2, "lost", 1), own_mask_key(kept.seeds[0], run.coordinator._study, 0)
    assert opened(run, 2, "seeds", 0) == kept.seeds[0]
    assert late == kept.masks[1] != kept.masks[0]
    hidden, plain = masked_by(run, 2, 0), run.told_by(2, 0).tolist()
    for of in (0, 1):
        left = stripped(run, hidden, late, kept.view, of)
        assert unmask_total(left, [own], {}).tolist() != plain
    # Were one key used in all rounds, the same steps would show the vector of round 0:
    left = stripped(run, hidden, kept.masks[0], kept.view)
    assert unmask_total(left, [own], {}).tolist() == plain


def test_the_vector_of_a_lost_party_stays_hidden_where_it_comes_too_late(make_run: Any) -> None:
    """The server has its mask secret then, and not its seed."""
    run = make_run(CIRCLE, 1)
    replies = run.answers(run.until("question"))
    kept = PartyMemory.from_bytes(run.states[2])
    hidden = np.asarray(Update.from_bytes(replies.pop(2)).numbers)
    messages = run.coordinator.receive(replies)
    while messages is not None:
        messages = run.coordinator.receive(run.answers(messages))
    left = stripped(run, hidden, opened(run, 2, "lost", 0), kept.view)
    assert left.tolist() != as_unsigned(run.told_by(2, 0)).tolist()
    with pytest.raises(FederationError, match="needs 4 shares"):
        opened(run, 2, "seeds", 0)
    # The seed is what is missing:
    own = own_mask_key(kept.seeds[0], run.coordinator._study, 0)
    assert unmask_total(left, [own], {}).tolist() == run.told_by(2, 0).tolist()


@pytest.mark.parametrize("lost", [None, 1])
def test_no_party_shows_both_kinds_of_share_of_one_other(make_run: Any, lost: int | None) -> None:
    run = make_run(CIRCLE, 2)
    run.lose = {} if lost is None else {lost: ("question", 0)}
    run.go()
    for _, update in run.sent:
        if update.kind == "unmask":
            assert not set(update.fields["seeds"]) & set(update.fields["lost"])
            assert set(update.fields["lost"]) <= {str(lost)}


def test_fewer_shares_than_the_threshold_open_no_sum(make_run: Any) -> None:
    run = make_run(CIRCLE, 1)
    messages = run.until("confirmed")
    replies = run.answers(messages)
    server = run.coordinator
    seeds: dict[int, dict[int, bytes]] = {n: {} for n in range(5)}
    for holder in range(3):
        fields = Update.from_bytes(replies[holder]).fields
        for owner in range(5):
            seeds[owner][holder] = base64.b64decode(fields["seeds"][str(owner)])
    opening = Opening(
        study=server._study, round=0, view=server._view, threshold=4, roster=server._roster
    )
    with pytest.raises(FederationError, match="party 0 in round 0 stays closed: a secret needs 4"):
        opening.total(server._masked, seeds, {})
    with pytest.raises(FederationError, match="2 parties are lost"):
        server.receive({n: replies[n] for n in range(3)})


def test_the_state_forgets_the_secrets_of_a_round_that_is_over(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    run.until("question", 1)
    memory = PartyMemory.from_bytes(run.states[0])
    assert memory.masks[0] == memory.seeds[0] == b""
    assert memory.held[0] == {}
    assert len(memory.masks[1]) == len(memory.seeds[1]) == 32
    assert set(memory.held[1]) == set(range(5))


def test_the_state_after_the_release_holds_no_secret(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    run.go()
    memory = PartyMemory.from_bytes(run.states[0])
    assert (memory.envelope, memory.masks, memory.seeds, memory.held) == (b"", (), (), ())


def test_the_state_holds_no_number_of_the_vector(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    run.answers(run.until("question", 1))
    for number, state in enumerate(run.states):
        for word in np.concatenate([run.told_by(number, 0), run.told_by(number, 1)]).tolist():
            assert word.to_bytes(8, "little", signed=True) not in state
            assert str(word).encode() not in state


def test_no_representation_shows_a_secret(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    run.until("question")
    memory = PartyMemory.from_bytes(run.states[0])
    assert repr(memory) == "PartyMemory(awaits='question', number=0, round=0)"
