"""What a file of evidence shows, and all that is no evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from supm import PublicationError
from supm.publication.checkpoint import Checkpoint, SignedCheckpoint
from supm.publication.evidence import AnchorTold, Evidence
from supm.publication.forks import ForkError
from supm.publication.keys import SigningKey
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.proof import make_proof
from supm.publication.verification import verify_log

if TYPE_CHECKING:
    from tests.publication.conftest import Maker


def anchor(**other: Any) -> AnchorTold:
    good: dict[str, Any] = {"chain": 1, "contract": "0x" + "ab" * 20, "size": 3, "root": b"r" * 32}
    return AnchorTold(**good | {"time": 1_800_000_000, "block": 7} | other)


def found_in(log: Log, first: SignedCheckpoint | AnchorTold) -> Evidence:
    size = first.size if isinstance(first, AnchorTold) else first.checkpoint.size
    now = log.checkpoint()
    kept = log.checkpoint_of(size)
    assert kept is not None
    path = tuple(log.consistency(size, now.checkpoint.size))
    return Evidence(first=first, second=now, path=path, root=kept.checkpoint.root)


def false(size: int, key: SigningKey) -> SignedCheckpoint:
    return Checkpoint(name="log.example", size=size, root=b"f" * 32).signed(key)


def read(found: Evidence) -> Evidence:
    return Evidence.from_json(json.dumps(found.to_form()))


def test_evidence_is_read_as_it_was_written(maker: Maker) -> None:
    log, key = maker.log(5), maker.key()
    for first in (false(3, key), anchor()):
        found = found_in(log, first)
        assert read(found) == found
        told = list(read(found).check(key.verifier))
        assert "entries begin with 3 whose root is" in told[-2]
        assert told[-1].startswith("WARNING: this holds for the key as it was given.")
        assert len(told) == (3 if isinstance(first, AnchorTold) else 4)


def test_a_fork_after_a_change_of_keys_is_told_with_the_change(maker: Maker) -> None:
    log, fork, old, new = maker.log(4), maker.log(3, "fork.db"), maker.key(), maker.key(2)
    kept = log.checkpoint()
    fork.append([maker.release(100)], old)
    fork.rotate(old, new, maker.time)
    fork.append([maker.release(101)], new)
    proof = make_proof(log, 2)
    for checks in (
        check_log(fork, old.verifier, known=kept),
        verify_log(fork, proof, old.verifier),
    ):
        with pytest.raises(ForkError) as error:
            list(checks)
        found = read(error.value.found)
        [told] = {line for line in found.check(old.verifier) if new.verifier.hash.hex() in line}
        assert told.startswith("A checkpoint of 6 entries is signed")
        # Who trusts the new key alone does not know who signed before it.
        with pytest.raises(PublicationError, match="is signed by the key"):
            list(found.check(new.verifier))


def test_a_stolen_key_is_warned_of(maker: Maker) -> None:
    log, old, new = maker.log(4), maker.key(), maker.key(2)
    log.rotate(old, new, maker.time)
    log.revoke(old.verifier, new, maker.time)
    with pytest.raises(ForkError) as error:
        list(check_log(log, old.verifier, known=false(3, old)))
    told = list(read(error.value.found).check(old.verifier))
    assert f"WARNING: {old.verifier.hash.hex()} was revoked: who stole it may" in told[1]


def test_a_revocation_that_was_left_out_is_not_missed_so_each_verdict_says_where_to_look(
    maker: Maker,
) -> None:
    log, old, new = maker.log(4), maker.key(), maker.key(2)
    log.rotate(old, new, maker.time)
    log.revoke(old.verifier, new, maker.time)
    kept = log.checkpoint_of(3)
    assert kept is not None
    # The thief signs another root of an honest size, and tells of no change of keys.
    found = Evidence(first=kept, second=false(3, old), path=(), root=b"f" * 32)
    told = list(read(found).check(old.verifier))
    [warning] = [line for line in told if line.startswith("WARNING")]
    assert warning == told[-1]
    assert "cannot show that none of them was revoked as stolen: supm log check" in warning
    [named] = [line for line in check_log(log, old.verifier) if "revoked, as stolen" in line]
    assert old.verifier.hash.hex() in named
    assert new.verifier.hash.hex() not in named


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (lambda form: form | {"version": 2}, "of version 1 has the fields"),
        (lambda form: form | {"version": True}, "of version 1 has the fields"),
        (lambda form: form | {"version": 1.0}, "of version 1 has the fields"),
        (lambda form: form | {"more": 1}, "of version 1 has the fields"),
        (lambda form: {"path": form["path"]}, "of version 1 has the fields"),
        (lambda form: form | {"first": form["second"][:-9]}, "no signed checkpoint"),
        (lambda form: form | {"first": 5}, "no signed checkpoint"),
        (lambda form: form | {"first": {}}, "or it is damaged"),
        (lambda form: form | {"first": anchor().to_form() | {"x": 1}}, "or it is damaged"),
        (lambda form: form | {"first": anchor().to_form() | {"size": -1}}, "or it is damaged"),
        (lambda form: form | {"first": anchor().to_form() | {"contract": "x"}}, "is damaged"),
        (lambda form: form | {"root": "zz"}, "or it is damaged"),
        (lambda form: form | {"root": None}, "or it is damaged"),
        (lambda form: form | {"path": "zz"}, "a list is missing"),
        (lambda form: form | {"path": [5]}, "or it is damaged"),
        (lambda form: form | {"keys": [5]}, "or it is damaged"),
        (lambda form: form | {"keys": [{}]}, "or it is damaged"),
        (lambda form: form | {"keys": form["keys"] * 2}, "or it is damaged"),
        (lambda form: form | {"keys": [form["keys"][0] | {"index": True}]}, "or it is damaged"),
        (lambda form: form | {"path": form["path"][1:]}, "accuses nobody"),
        (lambda form: form | {"path": []}, "accuses nobody"),
        (lambda form: form | {"root": "0" * 64}, "accuses nobody"),
        (lambda form: form | {"first": form["second"], "second": form["first"]}, "accuses nobody"),
        (lambda form: form | {"keys": []}, "is signed by the key"),
        (lambda form: form | {"keys": [form["keys"][0] | {"index": 1}]}, "not in charge"),
    ],
)
def test_what_is_no_evidence_is_refused(
    maker: Maker, alter: Callable[[dict[str, Any]], dict[str, Any]], words: str
) -> None:
    log, key = maker.log(5), maker.key()
    log.rotate(key, maker.key(2), maker.time)
    with pytest.raises(ForkError) as error:
        list(check_log(log, key.verifier, known=false(3, key)))
    form = error.value.evidence
    assert len(list(Evidence.from_json(json.dumps(form)).check(key.verifier))) == 4
    with pytest.raises(PublicationError, match=words):
        list(Evidence.from_json(json.dumps(alter(form))).check(key.verifier))


def test_an_entry_of_another_kind_is_no_change_of_keys(maker: Maker) -> None:
    form = found_in(maker.log(5), anchor()).to_form()
    form["keys"] = [{"index": 0, "entry": maker.release().text}]
    with pytest.raises(PublicationError, match="or it is damaged"):
        Evidence.from_json(json.dumps(form))


def test_what_agrees_is_no_evidence(maker: Maker) -> None:
    log, key = maker.log(5), maker.key()
    kept = log.checkpoint_of(3)
    assert kept is not None
    for first in (kept, anchor(root=kept.checkpoint.root)):
        with pytest.raises(PublicationError, match="they agree"):
            list(found_in(log, first).check(key.verifier))
