"""Whatever is altered on the way from a publisher to a reader is noticed, and said in words."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from supm._errors import PublicationError
from supm._json import canonical
from supm.messages import Release
from supm.publication.history import rotating
from supm.publication.log import Log
from supm.publication.proof import Included, make_proof, verify_log, verify_receipt
from supm.publication.publishing import enter_file
from supm.publication.signing import SigningKey

if TYPE_CHECKING:
    from tests.publication.tampering.conftest import World

TIME = "2026-11-18T14:00:00Z"
NAME = "hospitals.example/releases"


def test_what_nobody_altered_is_verified(world: World) -> None:
    assert len(world.verify()) == 3
    assert len(world.check(world.log.checkpoint_of(3))) == 4
    assert "all 2 rounds" in next(verify_receipt(world.proof, world.receipt))
    assert "begins with" in next(verify_log(world.log, world.proof, world.old.verifier))


TAMPERINGS: dict[str, tuple[Callable[[World], object], str]] = {}


def tampering(words: str) -> Callable[[Callable[[World], object]], Callable[[World], object]]:
    def note(do: Callable[[World], object]) -> Callable[[World], object]:
        TAMPERINGS[do.__name__] = (do, words)
        return do

    return note


def flipped(content: bytes, place: int = -7) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


@tampering("not the one that was published")
def a_bit_of_the_file(world: World) -> None:
    world.verify(flipped(world.content))


@tampering("not the one that was published")
def a_file_that_is_cut(world: World) -> None:
    world.verify(world.content[:-1])


@tampering("not the one that was published")
def a_file_with_more_at_its_end(world: World) -> None:
    world.verify(world.content + b"\n")


@tampering("not the one that was published")
def the_proof_of_another_file(world: World) -> None:
    world.verify(proof=make_proof(world.log, world.place + 2))


@tampering("not the one that was published")
def a_smaller_epsilon_in_the_file(world: World) -> None:
    world.verify(smaller(world.content))


def smaller(content: bytes) -> bytes:
    form = json.loads(content)
    form["statement"]["total"]["epsilon"] = 0.1
    return canonical(form).encode()


@tampering("does not keep|keeps its promise|not a release")
def a_smaller_epsilon_that_the_publisher_enters_too(world: World) -> None:
    edited = smaller(world.content)
    told = Release.from_json(edited.decode()).statement
    place = enter_file(world.log, world.key, edited, name="r", statement=told, time=TIME)
    world.verify(edited, make_proof(world.log, place))


def with_entry(world: World, change: Callable[[dict[str, Any]], None]) -> list[str]:
    form = world.form()
    entry = json.loads(form["release"]["text"])
    change(entry)
    form["release"]["text"] = canonical(entry)
    return world.verify_form(form)


@tampering("does not lead to the root")
def a_back_dated_entry(world: World) -> None:
    with_entry(world, lambda entry: entry.update(time="2020-01-01T00:00:00Z"))


@tampering("not the one that was published")
def an_entry_for_a_forged_file(world: World) -> None:
    with_entry(world, lambda entry: entry.update(content=hashlib.sha256(b"x").hexdigest()))


@tampering("promises something else than its own statement")
def a_smaller_promise_in_the_entry(world: World) -> None:
    def change(entry: dict[str, Any]) -> None:
        entry["promised"]["each record"]["epsilon"] = 0.1

    with_entry(world, change)


@tampering("does not lead to the root")
def a_smaller_epsilon_in_the_entrys_statement(world: World) -> None:
    def change(entry: dict[str, Any]) -> None:
        entry["statement"]["total"]["epsilon"] = entry["promised"]["each record"]["epsilon"] = 0.1

    with_entry(world, change)


@tampering("does not lead to the root")
def a_party_left_out_of_the_entry(world: World) -> None:
    with_entry(world, lambda entry: entry["commitments"][0].__setitem__(1, ""))


@tampering("canonical way")
def an_entry_written_in_another_way(world: World) -> None:
    form = world.form()
    form["release"]["text"] = json.dumps(json.loads(form["release"]["text"]))
    world.verify_form(form)


@tampering("has other fields|is not a field|cannot be read")
def an_entry_with_a_field_more(world: World) -> None:
    with_entry(world, lambda entry: entry.update(more=1))


@tampering("does not lead to the root")
def a_bit_of_the_path(world: World) -> None:
    form = world.form()
    first = bytes.fromhex(form["release"]["path"][0])
    form["release"]["path"][0] = flipped(first).hex()
    world.verify_form(form)


@tampering("too short")
def a_path_that_is_cut(world: World) -> None:
    form = world.form()
    form["release"]["path"].pop()
    world.verify_form(form)


@tampering("too long")
def a_path_with_a_hash_more(world: World) -> None:
    form = world.form()
    form["release"]["path"].append("0" * 64)
    world.verify_form(form)


@tampering("does not lead to the root")
def a_path_in_another_order(world: World) -> None:
    form = world.form()
    form["release"]["path"].reverse()
    world.verify_form(form)


@tampering("does not lead to the root")
def another_place_in_the_log(world: World) -> None:
    form = world.form()
    form["release"]["index"] ^= 1
    world.verify_form(form)


def with_checkpoint(world: World, line: int, text: str) -> list[str]:
    form = world.form()
    lines = form["checkpoint"].split("\n")
    lines[line] = text
    form["checkpoint"] = "\n".join(lines)
    return world.verify_form(form)


@tampering("signature is not of this text")
def a_checkpoint_of_another_size(world: World) -> None:
    with_checkpoint(world, 1, "9")


@tampering("signature is not of this text")
def a_checkpoint_with_another_root(world: World) -> None:
    with_checkpoint(world, 2, base64.b64encode(bytes(32)).decode())


@tampering("does not lead to the root|too long")
def an_older_checkpoint(world: World) -> None:
    older = world.log.checkpoint_of(world.place + 1)
    assert older is not None
    world.verify(proof=replace(world.proof, checkpoint=older, keys=()))


@tampering("of the log other.example")
def the_checkpoint_of_another_log(world: World) -> None:
    stranger = SigningKey.made("other.example", world.folder / "other.key")
    other = Log.create(world.folder / "other.db", stranger)
    place = enter_file(
        other, stranger, world.content, name="r", statement=world.statement, time=TIME
    )
    world.verify(proof=make_proof(other, place))


@tampering("no signed checkpoint|signature is not of this text|signed by the key")
def a_bit_of_the_signature(world: World) -> None:
    signed = world.proof.checkpoint
    broken = replace(signed, signature=flipped(signed.signature))
    world.verify(proof=replace(world.proof, checkpoint=broken))


@tampering("signed by the key")
def a_key_that_the_reader_does_not_know(world: World) -> None:
    stranger = SigningKey.made(NAME, world.folder / "stranger.key")
    forged = world.proof.checkpoint.signed(stranger)
    world.verify(proof=replace(world.proof, checkpoint=forged))


@tampering("was not in charge")
def a_retired_key_that_goes_on_signing(world: World) -> None:
    forged = world.proof.checkpoint.signed(world.old)
    world.verify(proof=replace(world.proof, checkpoint=forged))


@tampering("was revoked")
def a_revoked_key_with_what_it_signed_in_its_time(world: World) -> None:
    stolen = world.log.checkpoint_of(world.place + 1)
    assert stolen is not None
    proof = make_proof(world.log, world.place, stolen)
    assert world.verify(proof=proof)
    world.log.revoke(world.old.verifier, world.key, TIME)
    # Offline nothing tells a reader of the old key; the log does.
    list(verify_log(world.log, proof, world.old.verifier))


@tampering("the key in charge has not signed it")
def a_thief_who_takes_over(world: World) -> None:
    thief = SigningKey.made(NAME, world.folder / "thief.key")
    entry = rotating(TIME, thief.verifier, thief)
    world.alter("UPDATE entries SET body = ? WHERE place = 3", entry.text)
    world.resign(4, thief)
    world.verify(proof=make_proof(world.log, world.place))


@tampering("signed by the key")
def a_change_of_keys_that_is_kept_back(world: World) -> None:
    world.verify(proof=replace(world.proof, keys=()))


@tampering("does not lead to the root")
def a_change_of_keys_that_is_not_in_the_log(world: World) -> None:
    [change] = world.proof.keys
    forged = Included(
        index=change.index,
        text=rotating("2026-01-01T00:00:00Z", world.key.verifier, world.old).text,
        path=change.path,
    )
    world.verify(proof=replace(world.proof, keys=(forged,)))


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_noticed_and_named(name: str, world: World) -> None:
    do, words = TAMPERINGS[name]
    with pytest.raises(PublicationError, match=words) as refused:
        do(world)
    # One sentence for people, without a traceback's worth of bytes.
    assert str(refused.value).endswith((".", "…"))
    assert len(str(refused.value)) < 400
