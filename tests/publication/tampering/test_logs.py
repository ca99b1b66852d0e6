"""Whatever a publisher alters in a log is noticed by who reads all of it, and said in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from supm._errors import PublicationError
from supm.publication.entry import ReleaseEntry, RoundEntry, read_entry
from supm.publication.evidence import ForkError, ForkEvidence
from supm.publication.proof import verify_log, verify_receipt

if TYPE_CHECKING:
    from tests.publication.tampering.conftest import World

TIME = "2026-11-18T14:00:00Z"
NAME = "hospitals.example/releases"

TAMPERINGS: dict[str, tuple[Callable[[World], object], str]] = {}


def tampering(words: str) -> Callable[[Callable[[World], object]], Callable[[World], object]]:
    def note(do: Callable[[World], object]) -> Callable[[World], object]:
        TAMPERINGS[do.__name__] = (do, words)
        return do

    return note


@tampering("cannot be read|canonical|is not the one that is signed|not JSON")
def a_bit_of_an_entry_in_the_log(world: World) -> None:
    [text] = world.log.entries(5, 6)
    world.alter("UPDATE entries SET body = ? WHERE place = 5", text.replace("other", "othes"))
    world.check()


@tampering("altered, dropped, doubled or moved")
def entries_in_another_order(world: World) -> None:
    first, second = world.log.entries(5, 7)
    world.alter("UPDATE entries SET body = ? WHERE place = 5", second)
    world.alter("UPDATE entries SET body = ? WHERE place = 6", first)
    world.check()


@tampering("some are gone")
def an_entry_that_is_dropped(world: World) -> None:
    world.alter("DELETE FROM entries WHERE place = 5")
    world.check()


@tampering("it is double")
def an_entry_that_is_doubled(world: World) -> None:
    [text] = world.log.entries(5, 6)
    world.alter("UPDATE entries SET body = ? WHERE place = 6", text)
    world.check()


@tampering("some are gone")
def a_log_that_is_cut(world: World) -> None:
    world.alter("DELETE FROM entries WHERE place >= 6")
    world.check()


@tampering("it was cut")
def a_log_that_is_cut_and_signed_anew(world: World) -> None:
    kept = world.log.checkpoint()
    world.alter("DELETE FROM entries WHERE place >= 6")
    world.resign(6, world.key)
    world.check(kept)


@tampering("is forked")
def a_log_that_shows_others_something_else(world: World) -> None:
    kept = world.log.checkpoint()
    entry = read_entry(world.log.entries(7, 8)[0])
    assert isinstance(entry, ReleaseEntry)
    world.alter("UPDATE entries SET body = ? WHERE place = 7", replace(entry, name="evil").text)
    world.resign(8, world.key)
    try:
        world.check(kept)
    except ForkError as error:
        # Whoever is shown the evidence sees it with the log's first key alone.
        found = ForkEvidence.from_json(json.dumps(error.evidence))
        assert len(list(found.check(world.old.verifier))) == 4
        raise


@tampering("is forked")
def a_proof_from_the_other_branch(world: World) -> None:
    proof = world.proof
    entry = read_entry(world.log.entries(7, 8)[0])
    assert isinstance(entry, ReleaseEntry)
    world.alter("UPDATE entries SET body = ? WHERE place = 7", replace(entry, name="evil").text)
    world.resign(8, world.key)
    list(verify_log(world.log, proof, world.old.verifier))


@tampering("counts other contributions")
def a_party_that_the_publisher_drops_afterwards(world: World) -> None:
    [text] = world.log.entries(1, 2)
    entry = read_entry(text)
    assert isinstance(entry, RoundEntry)
    without = replace(entry, commitments=(entry.commitments[0], "", entry.commitments[2]))
    world.alter("UPDATE entries SET body = ? WHERE place = 1", without.text)
    world.resign(8, world.key)
    world.check()


@tampering("tells another story of a round")
def a_round_that_is_told_twice(world: World) -> None:
    entry = read_entry(world.log.entries(0, 1)[0])
    assert isinstance(entry, RoundEntry)
    again = replace(entry, commitments=("0" * 64, *entry.commitments[1:]))
    world.log.append([again], world.key)
    world.check()


@tampering("was not counted")
def a_party_that_was_not_counted(world: World) -> None:
    sent = ("0" * 64, *world.receipt.rounds[1:])
    list(verify_receipt(world.proof, replace(world.receipt, rounds=sent)))


@tampering("another study or another run")
def a_receipt_of_another_run(world: World) -> None:
    list(verify_receipt(world.proof, replace(world.receipt, run="0" * 64)))


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_noticed_and_named(name: str, world: World) -> None:
    do, words = TAMPERINGS[name]
    with pytest.raises(PublicationError, match=words) as refused:
        do(world)
    # One sentence for people, without a traceback's worth of bytes.
    assert str(refused.value).endswith((".", "…"))
    assert len(str(refused.value)) < 400
