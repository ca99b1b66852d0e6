"""What a file of evidence shows, and all that is no evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import PublicationError
from supm.publication.chain.contract import Anchor
from supm.publication.evidence import ForkError, ForkEvidence, beginning, check_same_log
from supm.publication.log import Log
from supm.publication.merkle import (
    EMPTY_ROOT,
    consistency_path,
    grown,
    hash_leaf,
    inclusion_path,
    root_of,
)
from supm.publication.monitoring import check_log
from supm.publication.proof import make_proof, verify_log
from supm.publication.remote import UnreachableError
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey

if TYPE_CHECKING:
    from tests.publication.conftest import Maker


def anchor(**other: Any) -> Anchor:
    good: dict[str, Any] = {"chain": 1, "contract": "0x" + "ab" * 20, "size": 3, "root": b"r" * 32}
    return Anchor(**good | {"time": 1_800_000_000, "block": 7} | other)


def found_in(log: Log, first: SignedCheckpoint | Anchor) -> ForkEvidence:
    now, kept = log.checkpoint(), log.checkpoint_of(first.size)
    assert kept is not None
    path = tuple(log.consistency(first.size, now.size))
    return ForkEvidence(first=first, second=now, path=path, root=kept.root)


def false(size: int, key: SigningKey) -> SignedCheckpoint:
    return Checkpoint(name="log.example", size=size, root=b"f" * 32).signed(key)


def read(found: ForkEvidence) -> ForkEvidence:
    return ForkEvidence.from_json(json.dumps(found.to_form()))


def test_evidence_is_read_as_it_was_written(maker: Maker) -> None:
    log, key = maker.log(5), maker.key()
    for first in (false(3, key), anchor()):
        found = found_in(log, first)
        assert read(found) == found
        told = list(read(found).check(key.verifier))
        assert "entries begin with 3 whose root is" in told[-2]
        assert told[-1].startswith("WARNING: this holds for the key as it was given.")
        assert len(told) == (3 if isinstance(first, Anchor) else 4)


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
    found = ForkEvidence(first=kept, second=false(3, old), path=(), root=b"f" * 32)
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
        (lambda form: form | {"version": 2}, "of evidence must be 1"),
        (lambda form: form | {"version": True}, "of evidence must be 1"),
        (lambda form: form | {"version": 1.0}, "of evidence must be 1"),
        (lambda form: form | {"more": 1}, "its fields are version, first"),
        (lambda form: {"path": form["path"]}, "of evidence must be 1"),
        (lambda form: form | {"first": form["second"][:-9]}, "no signed checkpoint"),
        (lambda form: form | {"first": 5}, "no signed checkpoint"),
        (lambda form: form | {"first": {}}, "a signed checkpoint or an anchor"),
        (lambda form: form | {"first": anchor().to_form() | {"x": 1}}, "a signed checkpoint or an"),
        (
            lambda form: form | {"first": anchor().to_form() | {"size": -1}},
            "a whole number as text",
        ),
        (lambda form: form | {"first": anchor().to_form() | {"contract": "x"}}, "40 hexadecimal"),
        (lambda form: form | {"root": "zz"}, "must be hexadecimal digits"),
        (lambda form: form | {"root": None}, "must be hexadecimal digits"),
        (lambda form: form | {"root": "00"}, "must be 32 bytes"),
        (lambda form: form | {"path": "zz"}, "must be a list"),
        (lambda form: form | {"path": [5]}, "must be hexadecimal digits"),
        (lambda form: form | {"keys": [5]}, "must be a JSON object"),
        (lambda form: form | {"keys": [{}]}, "has the fields index, entry"),
        (lambda form: form | {"keys": form["keys"] * 2}, "keys must be in order"),
        (lambda form: form | {"keys": [form["keys"][0] | {"index": True}]}, "a whole number in"),
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
    assert len(list(ForkEvidence.from_json(json.dumps(form)).check(key.verifier))) == 4
    with pytest.raises(PublicationError, match=words):
        list(ForkEvidence.from_json(json.dumps(alter(form))).check(key.verifier))


def test_an_entry_of_another_kind_is_no_change_of_keys(maker: Maker) -> None:
    form = found_in(maker.log(5), anchor()).to_form()
    form["keys"] = [{"index": 0, "entry": maker.release().to_form()}]
    with pytest.raises(PublicationError, match="name is not a field of an entry"):
        ForkEvidence.from_json(json.dumps(form))


def test_what_agrees_is_no_evidence(maker: Maker) -> None:
    log, key = maker.log(5), maker.key()
    kept = log.checkpoint_of(3)
    assert kept is not None
    for first in (kept, anchor(root=kept.root)):
        with pytest.raises(PublicationError, match="they agree"):
            list(found_in(log, first).check(key.verifier))


MOST = 70
KEY, STRANGER = SigningKey("log.example", b"k" * 32), SigningKey("log.example", b"s" * 32)


@dataclass
class Tree:
    """What a log answers of its tree; the leaves from some place on are of another history."""

    since: int = MOST
    bent: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        leaves = [hash_leaf(b"%d %d" % (place, place >= self.since)) for place in range(MOST)]
        known: dict[tuple[int, int], bytes] = {}
        for level, place, each in grown(0, leaves, lambda *where: known[where]):
            known[level, place] = each
        self.known = known

    def fetch(self, level: int, place: int) -> bytes:
        return self.known[level, place]

    def signed(self, size: int, key: SigningKey = KEY) -> SignedCheckpoint:
        return Checkpoint(name="log.example", size=size, root=root_of(size, self.fetch)).signed(key)

    def consistency(self, first: int, second: int) -> list[bytes]:
        return self.bent.get("consistency", consistency_path(first, second, self.fetch))  # type: ignore[no-any-return]  # what a test put there

    def inclusion(self, index: int, size: int) -> list[bytes]:
        return self.bent.get("inclusion", inclusion_path(index, size, self.fetch))  # type: ignore[no-any-return]  # the same


TREE = Tree()
FORKS = [Tree(since) for since in range(MOST)]
HASHES = st.one_of(
    st.binary(min_size=32, max_size=32),
    # Those of true subtrees, in wrong places.
    st.builds(
        lambda level, place: TREE.fetch(level, place % (MOST >> level)),
        st.integers(0, 5),
        st.integers(0, MOST),
    ),
)
PAIRS = st.integers(1, MOST).flatmap(
    lambda second: st.tuples(st.integers(0, second), st.just(second))
)


def compared(first: SignedCheckpoint, second: SignedCheckpoint, log: Tree) -> None:
    check_same_log(first, second, log)  # type: ignore[arg-type]  # no entries are asked for


def accused(first: SignedCheckpoint, second: SignedCheckpoint, log: Tree) -> bool:
    try:
        compared(first, second, log)
    except PublicationError as error:
        return isinstance(error, ForkError)
    return False


def judged(form: object, key: SigningKey = KEY) -> list[str]:
    """Judge with a file and the log's key, as somebody who was told of it would."""
    return list(ForkEvidence.from_json(json.dumps(form)).check(key.verifier))


@given(st.data())
def test_two_histories_give_evidence_at_all_sizes(data: st.DataObject) -> None:
    first, second = data.draw(PAIRS.filter(lambda sizes: sizes[0] > 0))
    other = FORKS[data.draw(st.integers(0, first - 1))]
    for one, two in ((TREE, other), (other, TREE)):
        with pytest.raises(ForkError, match="cannot both be true") as error:
            compared(one.signed(first), two.signed(second), two)
        assert error.value.found.root == root_of(first, two.fetch)
        assert len(judged(error.value.evidence)) == 4


@given(PAIRS)
def test_one_history_at_two_times_is_good(sizes: tuple[int, int]) -> None:
    """Whatever is found wrong is raised, a fork or anything else: not to raise is all there is."""
    compared(TREE.signed(sizes[0]), TREE.signed(sizes[1]), TREE)


@given(PAIRS, st.lists(HASHES, max_size=8), st.lists(HASHES, max_size=8), st.data())
def test_whoever_carries_the_answers_cannot_accuse_an_honest_log(
    sizes: tuple[int, int], path: list[bytes], spare: list[bytes], data: st.DataObject
) -> None:
    first, second = TREE.signed(sizes[0]), TREE.signed(sizes[1])
    true = TREE.consistency(*sizes) if 0 < sizes[0] < sizes[1] else []
    given_path = data.draw(st.sampled_from([path, true, [*true, *path], [*path, *true], true[1:]]))
    bent = Tree(bent={"consistency": given_path, "inclusion": spare})
    assert not accused(first, second, bent)
    for root in [*path, *spare, EMPTY_ROOT, first.root, second.root]:
        claim = ForkEvidence(first=first, second=second, path=tuple(given_path), root=root)
        with pytest.raises(PublicationError, match=r"accuses nobody|they agree"):
            list(claim.check(KEY.verifier))


@given(PAIRS.filter(lambda sizes: sizes[0] > 0))
def test_nobody_makes_evidence_without_the_key(sizes: tuple[int, int]) -> None:
    other = FORKS[0]
    path = tuple(other.consistency(*sizes)) if sizes[0] < sizes[1] else ()
    root = root_of(sizes[0], other.fetch)
    for keys in ((KEY, STRANGER), (STRANGER, KEY), (STRANGER, STRANGER)):
        first, second = (t.signed(n, k) for t, n, k in zip((TREE, other), sizes, keys, strict=True))
        claim = ForkEvidence(first=first, second=second, path=path, root=root)
        with pytest.raises(PublicationError, match="is signed by the key"):
            list(claim.check(KEY.verifier))


def test_a_signed_empty_log_has_one_root() -> None:
    false = Checkpoint(name="log.example", size=0, root=bytes(32)).signed(KEY)
    with pytest.raises(ForkError) as error:
        compared(false, TREE.signed(5), TREE)
    assert (error.value.found.root, error.value.found.path) == (EMPTY_ROOT, ())
    assert len(judged(error.value.evidence)) == 4


def test_a_log_that_gives_no_path_is_not_accused(maker: Maker) -> None:
    log, fork = TREE.signed(4), FORKS[1]
    for answer in ([], [bytes(32)] * 2, [bytes(32)] * 40):
        with pytest.raises(PublicationError, match="did not show that its 7 entries") as doubt:
            compared(log, fork.signed(7), Tree(1, {"consistency": answer}))
        assert not isinstance(doubt.value, ForkError)
    # The path alone does not tell where it begins, for a tree that is one complete subtree.
    with pytest.raises(PublicationError, match="did not show that its 7 entries"):
        compared(log, fork.signed(7), Tree(1, {"inclusion": []}))
    held = maker.log(3)
    assert beginning(held, anchor(size=2), held.checkpoint()) is not None


def test_a_log_that_cannot_be_asked_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def consistency(*_: int) -> list[bytes]:
        message = "the log refused with status 503."
        raise UnreachableError(message)

    log = Tree()
    monkeypatch.setattr(log, "consistency", consistency)
    with pytest.raises(UnreachableError):
        compared(TREE.signed(4), TREE.signed(7), log)


def test_a_log_that_stops_answering_half_way_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork whose evidence cannot be had yet is no log that was rewritten."""

    def inclusion(*_: int) -> list[bytes]:
        message = "the log refused with status 503."
        raise UnreachableError(message)

    fork = Tree(1)
    monkeypatch.setattr(fork, "inclusion", inclusion)
    with pytest.raises(UnreachableError):
        compared(TREE.signed(4), fork.signed(7), fork)
