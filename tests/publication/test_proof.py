"""Proofs: made from a log, written and read, and each part of them doubted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from supm import PublicationError
from supm._json import canonical
from supm.messages.update import Commitments
from supm.publication.log import Log
from supm.publication.proof import (
    Included,
    Proof,
    make_proof,
    verify_file,
    verify_log,
    verify_receipt,
)

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

HASH, OTHER = "5" * 64, "6" * 64
STRANGE: tuple[Any, ...] = (None, True, 0, -1, 2.5, "", "x", "\ud800", [], {}, [None], {"a": 1})


@pytest.fixture
def log(maker: Maker) -> Log:
    """Return a log of 9 entries with a change of keys and a contract in it."""
    log, old, new = maker.log(5), maker.key(1), maker.key(2)
    log.append([maker.contract()], old)
    log.rotate(old, new, maker.time)
    log.append([maker.release(5), maker.joint_release((HASH, ""), ("", OTHER))], new)
    return log


def places(form: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(form, dict | list):
        for key in form if isinstance(form, dict) else range(len(form)):
            yield from places(form[key], (*path, key))


def changed(form: Any, path: tuple[Any, ...], value: object) -> Any:
    if not path:
        return value
    copy = deepcopy(form)
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def test_a_proof_is_read_as_it_was_written(log: Log) -> None:
    proof = make_proof(log, 2)
    again = Proof.from_json(proof.to_json())
    assert again == proof
    assert again.to_json() == proof.to_json()


def test_a_proof_holds_what_a_reader_needs(maker: Maker, log: Log) -> None:
    proof = make_proof(log, 2)
    assert proof.entry == maker.release(2)
    assert proof.contract == maker.contract()
    assert [each.index for each in proof.changes] == [6]
    assert proof.checkpoint == log.checkpoint()
    assert len(proof.release.path) == 4


@pytest.mark.parametrize("index", [0, 4, 7])
def test_a_file_is_verified_with_the_first_key_and_with_the_later_one(
    maker: Maker, log: Log, index: int
) -> None:
    number = min(index, 5)
    proof = Proof.from_json(make_proof(log, index).to_json())
    for key, words in ((1, "took over from the one you gave"), (2, "by the key you gave")):
        told = list(verify_file(maker.content(number), proof, maker.key(key).verifier))
        assert len(told) == 3
        assert words in told[1]
        steps = len(proof.release.path)
        assert told[2].endswith("1 hash shows it." if steps == 1 else f"{steps} hashes show it.")
        assert list(verify_log(log, proof, maker.key(key).verifier))


def test_a_proof_under_an_older_checkpoint_tells_no_more_than_was_known_then(
    maker: Maker, log: Log
) -> None:
    for size, keys, chain in ((3, 0, False), (6, 0, True), (7, 1, True)):
        proof = make_proof(log, 2, log.checkpoint_of(size))
        assert (len(proof.keys), proof.chain is not None) == (keys, chain)
        assert len(list(verify_file(maker.content(2), proof, maker.key().verifier))) == 3
        assert list(verify_log(log, proof, maker.key().verifier))


def test_what_is_not_in_the_log_has_no_proof(log: Log) -> None:
    for index in (-1, 9, 10**6):
        with pytest.raises(PublicationError):
            make_proof(log, index)
    with pytest.raises(PublicationError, match="no entry 4 among the first 3"):
        make_proof(log, 4, log.checkpoint_of(3))


def test_another_file_or_key_is_refused(maker: Maker, log: Log) -> None:
    proof = make_proof(log, 2)
    with pytest.raises(PublicationError, match="not the one that was published"):
        list(verify_file(maker.content(3), proof, maker.key().verifier))
    for key in (maker.key(3), maker.key(1, "other.example")):
        with pytest.raises(PublicationError):
            list(verify_file(maker.content(2), proof, key.verifier))


def test_an_entry_of_another_kind_is_no_release(maker: Maker, log: Log) -> None:
    proof = make_proof(log, 5)
    with pytest.raises(PublicationError, match="entry 5 is no release"):
        list(verify_file(b"", proof, maker.key().verifier))
    good = make_proof(log, 2)
    with pytest.raises(PublicationError, match="by an entry of another kind"):
        _ = replace(good, chain=good.release).contract
    with pytest.raises(PublicationError, match="out of order, or by other entries"):
        _ = replace(good, keys=(good.release,)).changes
    with pytest.raises(PublicationError, match="out of order, or by other entries"):
        _ = replace(good, keys=good.keys * 2).changes


def test_a_change_of_keys_must_be_in_the_log(maker: Maker, log: Log) -> None:
    proof = make_proof(log, 2)
    moved = replace(proof.keys[0], index=5)
    with pytest.raises(PublicationError, match="does not lead to the root"):
        list(verify_file(maker.content(2), replace(proof, keys=(moved,)), maker.key().verifier))
    with pytest.raises(PublicationError, match="is signed by the key"):
        list(verify_file(maker.content(2), replace(proof, keys=()), maker.key().verifier))


def test_every_strange_value_in_every_place_is_refused(maker: Maker, log: Log) -> None:
    """No other error leaves than PublicationError, whatever is where."""
    proof = make_proof(log, 2)
    form = json.loads(proof.to_json())
    for path in places(form):
        for strange in STRANGE:
            text = json.dumps(changed(form, path, strange))
            try:
                found = Proof.from_json(text)
                list(verify_file(maker.content(2), found, maker.key().verifier))
                _ = found.contract
                if found.chain is not None:
                    found.chain.check(found.checkpoint)
            except PublicationError:
                continue
            # A proof need not name a contract.
            assert (path, strange) == (("chain",), None)


def test_a_field_more_or_less_is_refused(log: Log) -> None:
    form = json.loads(make_proof(log, 2).to_json())
    for inner in (form, form["release"], form["keys"][0]):
        for name in list(inner):
            value = inner.pop(name)
            with pytest.raises(PublicationError, match=r"has the fields|must be 1|its fields are"):
                Proof.from_json(canonical(form))
            inner[name] = value
        inner["surplus"] = 1
        with pytest.raises(PublicationError, match=r"has the fields|must be 1|its fields are"):
            Proof.from_json(canonical(form))
        del inner["surplus"]


def test_a_path_is_of_hashes_and_not_endless(log: Log) -> None:
    good = make_proof(log, 2).release.to_form()
    for wrong in (["00"], [HASH.upper().replace("5", "A")], [HASH + " "], [7]):
        with pytest.raises(PublicationError, match=r"hexadecimal|of 32 bytes"):
            Included.from_form(good | {"path": wrong})
    with pytest.raises(PublicationError, match="not of the right form"):
        Included.from_form(good | {"path": [HASH] * 63})


def test_every_digit_of_a_path_and_every_other_place_counts(maker: Maker, log: Log) -> None:
    proof, key = make_proof(log, 2), maker.key().verifier
    for place, each in enumerate(proof.release.path):
        for byte in range(32):
            wrong = each[:byte] + bytes([each[byte] ^ 1]) + each[byte + 1 :]
            path = (*proof.release.path[:place], wrong, *proof.release.path[place + 1 :])
            with pytest.raises(PublicationError, match="does not lead to the root"):
                replace(proof.release, path=path).check(proof.checkpoint)
    for index in (-1, 0, 1, 3, 4, 8, 9, 10**30):
        with pytest.raises(PublicationError):  # noqa: PT012  some are refused when they are made
            altered = replace(proof, release=replace(proof.release, index=index))
            list(verify_file(maker.content(2), altered, key))


def test_a_party_finds_what_it_sent(maker: Maker, log: Log) -> None:
    proof = make_proof(log, 8)
    receipt = Commitments(study="0b" * 32, run=maker.run, number=0, rounds=(HASH, OTHER))
    with pytest.raises(PublicationError, match="what party 0 sent was not counted"):
        list(verify_receipt(proof, receipt))
    for wrong in (replace(receipt, run=OTHER), replace(receipt, study=OTHER)):
        with pytest.raises(PublicationError, match="another study or another run"):
            list(verify_receipt(proof, wrong))
    with pytest.raises(PublicationError, match="what party 7 sent"):
        list(verify_receipt(proof, replace(receipt, number=7)))


def test_a_party_that_was_counted_in_all_rounds_is_told_so(maker: Maker) -> None:
    log = maker.log()
    rounds = ((HASH, OTHER), (OTHER, HASH))
    log.append([maker.joint_release(*rounds)], maker.key())
    receipt = Commitments(study="0b" * 32, run=maker.run, number=1, rounds=(OTHER, HASH))
    [words] = verify_receipt(make_proof(log, 0), receipt)
    assert words == "What party 1 sent is counted in all 2 rounds of the release."
    with pytest.raises(PublicationError, match="not as it was sent"):
        list(verify_receipt(make_proof(log, 0), replace(receipt, rounds=(OTHER,))))


def test_the_hash_and_the_size_of_a_file_both_count(maker: Maker) -> None:
    log, key, content = maker.log(), maker.key(), maker.content(1)
    for size in (len(content) + 1, 0):
        entry = replace(maker.release(1), size=size)
        one = maker.log(name=f"{size}.db")
        one.append([entry], key)
        with pytest.raises(PublicationError, match="not the one that was published"):
            list(verify_file(content, make_proof(one, 0), key.verifier))
    log.append([maker.release(1)], key)
    assert list(verify_file(content, make_proof(log, 0), key.verifier))


def test_the_contract_of_a_proof_is_under_its_root(maker: Maker) -> None:
    log, key = maker.log(2), maker.key()
    log.append([maker.contract()], key)
    proof = make_proof(log, 1)
    assert proof.chain is not None
    assert list(verify_file(maker.content(1), proof, key.verifier))
    other = replace(maker.contract(), chain=7).text
    for chain in (replace(proof.chain, text=other), replace(proof.chain, index=0), proof.release):
        with pytest.raises(PublicationError, match=r"does not lead|another kind|inclusion proof"):
            list(verify_file(maker.content(1), replace(proof, chain=chain), key.verifier))
