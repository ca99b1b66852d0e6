"""A log and all that is anchored in its contract: one log, or two that take turns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from supm._errors import PublicationError
from supm.publication import anchoring
from supm.publication.anchoring import verify_anchors
from supm.publication.chain import Anchor, Chain
from supm.publication.evidence import ForkError, ForkEvidence
from supm.publication.proof import make_proof
from supm.publication.remote import UnreachableError

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

    from supm.publication.log import Log


@dataclass
class Held(Chain):
    """A contract in memory."""

    found: list[Anchor] = field(default_factory=list)

    def hold(self, log: Log, *sizes: int) -> Held:
        for size in sizes:
            kept = log.checkpoint_of(size)
            assert kept is not None
            self.found.append(anchor(size, kept.root, len(self.found)))
        return self

    def check_code(self, *, log: bytes, publisher: str | None = None) -> str:
        return f"{log.hex()}{publisher}"

    def anchored(self, size: int) -> Anchor | None:
        return next((each for each in self.found if each.size == size), None)

    def anchors(self) -> list[Anchor]:
        return self.found


def anchor(size: int, root: bytes, block: int) -> Anchor:
    return Anchor(
        size=size, root=root, time=1_800_000_000, block=block, contract="0x" + "ab" * 20, chain=1
    )


def fork(maker: Maker, count: int) -> Log:
    log = maker.log(1, "fork.db")
    for number in range(100, 99 + count):
        log.append([maker.release(number)], maker.key())
    return log


def told(maker: Maker, held: Held, log: Log) -> list[str]:
    return list(verify_anchors(held, log, make_proof(log, 0), maker.key().verifier))


def test_a_log_that_agrees_with_all_anchors_is_good(maker: Maker) -> None:
    log = maker.log(7)
    assert told(maker, Held().hold(log, 1, 3, 4, 7), log) == [
        "The log agrees with every anchor in the contract: 4 of them."
    ]
    assert told(maker, Held(), log) == [
        "The log agrees with every anchor in the contract: 0 of them."
    ]


def test_two_logs_that_take_turns_in_one_contract_are_seen_by_both_readers(maker: Maker) -> None:
    log, other = maker.log(2), fork(maker, 3)
    held = Held().hold(log, 2).hold(other, 3)
    with pytest.raises(PublicationError, match="an anchor of 3 entries, and the log shows 2"):
        told(maker, held, log)
    with pytest.raises(ForkError, match="another root for the first 2 entries") as error:
        told(maker, held, other)
    found = ForkEvidence.from_json(json.dumps(error.value.evidence))
    assert found.first == held.found[0]
    assert len(list(found.check(maker.key().verifier))) == 3


def test_a_log_that_shows_nothing_is_not_accused(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, other = maker.log(4), fork(maker, 6)
    proof = make_proof(other, 0)
    for name in ("consistency", "inclusion"):
        monkeypatch.setattr(other, name, lambda *_: [bytes(32)])
    with pytest.raises(PublicationError, match="did not show that it begins with the 3") as doubt:
        list(verify_anchors(Held().hold(log, 3), other, proof, maker.key().verifier))
    assert not isinstance(doubt.value, ForkError)


@pytest.mark.parametrize("place", range(4))
def test_each_anchor_is_compared(maker: Maker, place: int) -> None:
    log = maker.log(7)
    held = Held().hold(log, 1, 3, 4, 7)
    held.found[place] = anchor(held.found[place].size, bytes(31) + b"x", place)
    with pytest.raises(PublicationError, match="another log is anchored"):
        told(maker, held, log)


def test_of_many_anchors_the_newest_are_compared_and_the_rest_is_warned_of(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchoring, "_MOST", 2)
    log = maker.log(4)
    held = Held().hold(log, 1, 2, 4)
    [line] = told(maker, held, log)
    assert line.startswith("WARNING: the log agrees with the newest 2 of 3 anchors")
    for place, size in ((1, 2), (2, 4)):
        good, held.found[place] = held.found[place], anchor(size, bytes(31) + b"x", place)
        with pytest.raises(PublicationError, match="another log is anchored"):
            told(maker, held, log)
        held.found[place] = good
    # The oldest is not asked for.
    held.found[0] = anchor(1, bytes(31) + b"x", 0)
    assert told(maker, held, log) == [line]


def test_the_log_that_is_compared_is_that_of_the_proof_and_of_its_keys(maker: Maker) -> None:
    log, other = maker.log(4), fork(maker, 6)
    proof, key = make_proof(log, 1), maker.key().verifier
    for held in (Held(), Held().hold(other, 5)):
        with pytest.raises(ForkError, match="of 4 and 6 entries cannot both be true"):
            list(verify_anchors(held, other, proof, key))
    stranger = maker.log(4, "stranger.db", maker.key(2))
    for held in (Held(), Held().hold(stranger, 4)):
        with pytest.raises(PublicationError, match="is signed by the key"):
            list(verify_anchors(held, stranger, proof, key))


def test_the_checkpoint_that_is_compared_is_the_one_that_was_checked(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log may answer otherwise the next time."""
    log, key = maker.log(4), maker.key().verifier
    proof, good = make_proof(log, 1), log.checkpoint()
    answers = iter([good.signed(maker.key(2)), good])
    monkeypatch.setattr(log, "checkpoint", lambda: next(answers))
    with pytest.raises(PublicationError, match="is signed by the key"):
        list(verify_anchors(Held().hold(log, 4), log, proof, key))


def test_a_log_that_does_not_answer_is_not_accused(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def consistency(*_: int) -> list[bytes]:
        message = "the log does not answer."
        raise UnreachableError(message)

    log = maker.log(4)
    proof = make_proof(log, 0)
    monkeypatch.setattr(log, "consistency", consistency)
    with pytest.raises(UnreachableError):
        list(verify_anchors(Held().hold(log, 2), log, proof, maker.key().verifier))
