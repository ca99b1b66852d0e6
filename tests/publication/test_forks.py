"""Two histories under one key give evidence at all sizes; one history never does, however bent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import PublicationError
from supm.publication.checkpoint import Checkpoint, SignedCheckpoint
from supm.publication.evidence import Evidence
from supm.publication.forks import ForkError, beginning, check_same_log
from supm.publication.keys import SigningKey
from supm.publication.merkle import (
    EMPTY_ROOT,
    consistency_path,
    grown,
    hash_leaf,
    inclusion_path,
    root_of,
)
from supm.publication.remote import UnreachableError

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

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
    return list(Evidence.from_json(json.dumps(form)).check(key.verifier))


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
    for root in [*path, *spare, EMPTY_ROOT, first.checkpoint.root, second.checkpoint.root]:
        claim = Evidence(first=first, second=second, path=tuple(given_path), root=root)
        with pytest.raises(PublicationError, match=r"accuses nobody|they agree"):
            list(claim.check(KEY.verifier))


@given(PAIRS.filter(lambda sizes: sizes[0] > 0))
def test_nobody_makes_evidence_without_the_key(sizes: tuple[int, int]) -> None:
    other = FORKS[0]
    path = tuple(other.consistency(*sizes)) if sizes[0] < sizes[1] else ()
    root = root_of(sizes[0], other.fetch)
    for keys in ((KEY, STRANGER), (STRANGER, KEY), (STRANGER, STRANGER)):
        first, second = (t.signed(n, k) for t, n, k in zip((TREE, other), sizes, keys, strict=True))
        claim = Evidence(first=first, second=second, path=path, root=root)
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
    assert beginning(held, 2, bytes(32), held.checkpoint().checkpoint) is not None


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
