"""A whole log, read by somebody who believes nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.publication.test_anchoring import anchor

from supm import PublicationError
from supm.publication.entry import LogEntry
from supm.publication.evidence import ForkError, ForkEvidence, check_same_log
from supm.publication.log import Log
from supm.publication.merkle import EMPTY_ROOT
from supm.publication.monitoring import check_log
from supm.publication.proof import make_proof, verify_log
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey, VerifierKey
from supm.publication.story import entries_of, rebuilt

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

HASH, OTHER = "5" * 64, "6" * 64


class Liar:
    """A log that shows other texts than it signed for."""

    def __init__(self, log: Log, texts: list[str], now: SignedCheckpoint | None = None) -> None:
        self._log, self._texts = log, texts
        self._now = now or log.checkpoint()

    @property
    def first_key(self) -> VerifierKey:
        return self._log.first_key

    def checkpoint(self) -> SignedCheckpoint:
        return self._now

    def entries(self, start: int, stop: int) -> list[str]:
        return self._texts[start:stop]

    def places(self, kind: str) -> list[int]:
        return self._log.places(kind)

    def find(self, content: str) -> int | None:
        return self._log.find(content)

    def inclusion(self, index: int, size: int) -> list[bytes]:
        return self._log.inclusion(index, size)

    def consistency(self, first: int, second: int) -> list[bytes]:
        return self._log.consistency(first, second)


def resigned(texts: list[str], key: SigningKey) -> SignedCheckpoint:
    size, root, _ = rebuilt(texts)
    return Checkpoint(name=key.verifier.name, size=size, root=root).signed(key)


def test_roots_are_rebuilt_at_every_size_asked_for(maker: Maker) -> None:
    log = maker.log(9)
    told = list[int]()
    count, root, roots = rebuilt(entries_of(log, 9), range(20), told.append)
    assert (count, root) == (9, log.checkpoint().root)
    assert told == list(range(1, 10))
    for size, each in roots.items():
        kept = log.checkpoint_of(size)
        assert kept is not None
        assert each == kept.root
    assert sorted(roots) == list(range(10))
    assert rebuilt([]) == (0, EMPTY_ROOT, {})


def test_a_good_log_is_told_step_by_step(maker: Maker) -> None:
    log, key = maker.log(3), maker.key()
    known = log.checkpoint()
    log.append([maker.round(0, HASH, ""), maker.round(1, "", OTHER), maker.contract()], key)
    log.append([maker.joint_release((HASH, ""), ("", OTHER))], key)
    log.rotate(key, maker.key(2), maker.time)
    anchors = [anchor(2, _root(log, 2), 0), anchor(3, known.root, 1)]
    seen = list[int]()
    told = list(check_log(log, key.verifier, known=known, anchors=anchors, tell=seen.append))
    assert len(told) == 5
    assert "of 8 entries, is signed by the key" in told[0]
    assert "Releases: 4, no file twice; rounds of parties: 2; changes of keys: 1" in told[2]
    assert "begins with the 3 entries" in told[3]
    assert "every anchor on the chain: 2" in told[4]
    assert seen == list(range(1, 9))
    assert len(list(check_log(log, maker.key(2).verifier))) == 3


def test_an_empty_log_is_good(maker: Maker) -> None:
    log = maker.log()
    assert len(list(check_log(log, maker.key().verifier, known=log.checkpoint()))) == 4


def test_another_key_is_refused(maker: Maker) -> None:
    log = maker.log(2)
    for key in (maker.key(2), maker.key(1, "other.example")):
        with pytest.raises(PublicationError):
            list(check_log(log, key.verifier))


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda texts: [*texts[:2], texts[2].replace("model-2", "model-9"), *texts[3:]], "altered"),
        (lambda texts: [*texts[:2], *texts[3:]], "some are gone"),
        (lambda texts: texts[:-1], "some are gone"),
        (lambda texts: [*texts[:3], texts[1], *texts[4:]], "it is double"),
        (lambda texts: [texts[1], texts[0], *texts[2:]], "moved"),
        (lambda texts: texts[::-1], "moved"),
        (lambda texts: [texts[0].replace(",", ", ", 1), *texts[1:]], "canonical"),
        (lambda texts: ["", *texts[1:]], "not JSON"),
        (lambda texts: ["\ud800", *texts[1:]], "not JSON"),
        (lambda _: [], "some are gone"),
    ],
)
def test_other_entries_than_were_signed_for_are_seen(
    maker: Maker, lie: Callable[[list[str]], list[str]], words: str
) -> None:
    log = maker.log(6)
    texts = log.entries(0, 6)
    assert list(check_log(Liar(log, texts), maker.key().verifier))
    with pytest.raises(PublicationError, match=words):
        list(check_log(Liar(log, lie(texts)), maker.key().verifier))


def test_a_doubled_release_is_seen_though_the_log_signed_it(maker: Maker) -> None:
    log, key = maker.log(3), maker.key()
    texts = [*log.entries(0, 3), replace(maker.release(1), time="2027-01-01T00:00:00Z").text]
    with pytest.raises(PublicationError, match="entry 3 publishes a file that was published"):
        list(check_log(Liar(log, texts, resigned(texts, key)), key.verifier))


def test_a_log_that_was_cut_is_seen_by_who_kept_a_checkpoint(maker: Maker) -> None:
    log, key = maker.log(6), maker.key()
    texts = log.entries(0, 4)
    shorter = Liar(log, texts, resigned(texts, key))
    assert list(check_log(shorter, key.verifier))
    with pytest.raises(PublicationError, match="signed for 6 before: it was cut"):
        list(check_log(shorter, key.verifier, known=log.checkpoint()))


def test_a_kept_checkpoint_must_be_the_logs_own(maker: Maker) -> None:
    log = maker.log(3)
    forged = Checkpoint(name="log.example", size=2, root=bytes(32)).signed(maker.key(2))
    with pytest.raises(PublicationError, match="is signed by the key"):
        list(check_log(log, maker.key().verifier, known=forged))


def fork_of(maker: Maker, count: int) -> Log:
    """Return a log of the same key whose second entry is another one."""
    log = maker.log(1, f"fork{count}.db")
    log.append([maker.release(100)], maker.key())
    for number in range(2, count):
        log.append([maker.release(number)], maker.key())
    return log


def sees_a_fork(evidence: str, key: VerifierKey) -> bool:
    """Judge with the evidence and the log's key alone, as somebody who was told of it would."""
    return len(list(ForkEvidence.from_json(evidence).check(key))) == 4


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8])
def test_a_log_cannot_keep_the_evidence_back(
    maker: Maker, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, fork, key = maker.log(size), fork_of(maker, size + 3), maker.key().verifier
    known = log.checkpoint()
    # Whoever read all entries needs no other answer.
    for name in ("consistency", "inclusion"):
        monkeypatch.setattr(fork, name, None)
    with pytest.raises(ForkError) as error:
        list(check_log(fork, key, known=known))
    assert error.value.found.root == rebuilt(fork.entries(0, size))[1]
    assert sees_a_fork(json.dumps(error.value.evidence), key)


def test_two_roots_of_one_size_are_a_fork_before_an_entry_is_read(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, fork, key = maker.log(3), fork_of(maker, 3), maker.key().verifier
    monkeypatch.setattr(fork, "entries", None)
    with pytest.raises(ForkError) as error:
        list(check_log(fork, key, known=log.checkpoint()))
    assert sees_a_fork(json.dumps(error.value.evidence), key)
    stranger = Checkpoint(name="log.example", size=3, root=bytes(32)).signed(maker.key(2))
    with pytest.raises(PublicationError, match="is signed by the key") as refused:
        list(check_log(fork, key, known=stranger))
    assert not isinstance(refused.value, ForkError)


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("later", [0, 1, 5])
def test_a_fork_is_seen_with_evidence_that_somebody_else_can_check(
    maker: Maker, size: int, later: int
) -> None:
    log, fork, key = maker.log(size), fork_of(maker, size + later), maker.key().verifier
    known = log.checkpoint()
    with pytest.raises(ForkError, match="is forked") as error:
        list(check_log(fork, key, known=known))
    assert (error.value.found.first, error.value.found.second) == (known, fork.checkpoint())
    assert sees_a_fork(json.dumps(error.value.evidence), key)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("later", [0, 1, 3])
def test_a_fork_is_seen_by_who_has_a_proof(maker: Maker, size: int, later: int) -> None:
    log, fork, key = maker.log(size), fork_of(maker, size + later), maker.key().verifier
    with pytest.raises(ForkError, match="is forked") as error:
        list(verify_log(fork, make_proof(log, 1), key))
    found = error.value.evidence
    assert (found["first"], found["second"]) == (log.checkpoint().text, fork.checkpoint().text)
    assert sees_a_fork(json.dumps(found), key)


def test_one_log_at_two_times_is_no_fork(maker: Maker) -> None:
    log = maker.log(7)
    for size in range(8):
        kept = log.checkpoint_of(size)
        assert kept is not None
        check_same_log(kept, log.checkpoint(), log)
        assert len(list(check_log(log, maker.key().verifier, known=kept))) == 4


def test_anchors_must_agree(maker: Maker) -> None:
    log, fork, key = maker.log(5), fork_of(maker, 5), maker.key().verifier
    anchors = [anchor(size, _root(log, size), size) for size in (1, 3, 5)]
    assert list(check_log(log, key, anchors=anchors))
    with pytest.raises(ForkError, match="another root for the first 3 entries") as error:
        list(check_log(fork, key, anchors=anchors[::-1]))
    found = ForkEvidence.from_json(json.dumps(error.value.evidence))
    assert found.first == anchors[1]
    assert len(list(found.check(key))) == 3
    for size in (6, (1 << 64) - 1):
        more = [*anchors, anchor(size, bytes(32), 6)]
        with pytest.raises(PublicationError, match=f"of {size} entries, the log has 5: it was cut"):
            list(check_log(log, key, anchors=more))
    assert list(check_log(log, key, anchors=()))[-1].endswith("holds no anchor of it yet.")


def test_contracts_are_those_that_the_entries_name(maker: Maker) -> None:
    log, key, named = maker.log(2), maker.key(), maker.contract()
    log.append([named], key)
    assert len(list(check_log(log, key.verifier, contracts=[named], anchors=()))) == 4
    other = replace(named, contract="0x" + "ef" * 20)
    for told in ([], [other], [named, named], [other, named]):
        with pytest.raises(PublicationError, match="names other contracts in its entries"):
            list(check_log(log, key.verifier, contracts=told, anchors=()))


def _root(log: Log, size: int) -> bytes:
    kept = log.checkpoint_of(size)
    assert kept is not None
    return kept.root


@pytest.mark.parametrize(
    "other",
    [
        {"commitments": (HASH, "")},
        {"commitments": (OTHER, HASH)},
        {"commitments": (HASH,)},
        {"asked": (0.5,)},
        {"study": OTHER},
    ],
)
def test_a_round_has_one_story(maker: Maker, other: dict[str, object]) -> None:
    log, key = maker.log(), maker.key()
    told = maker.round(0, HASH, OTHER)
    log.append([told, replace(told, time="2027-01-01T00:00:00Z")], key)
    assert list(check_log(log, key.verifier))
    log.append([replace(told, time="2027-01-01T00:00:00Z", **other)], key)  # type: ignore[arg-type]  # of several kinds
    with pytest.raises(PublicationError, match="entry 2 tells another story of a round"):
        list(check_log(log, key.verifier))


def test_rounds_of_different_runs_do_not_contradict_each_other(maker: Maker) -> None:
    log, told = maker.log(), maker.round(0, HASH, OTHER)
    log.append([told, replace(told, run=OTHER, commitments=("", HASH))], maker.key())
    assert list(check_log(log, maker.key().verifier))


def test_a_release_counts_what_its_rounds_showed_before_it(maker: Maker) -> None:
    key = maker.key()
    rounds: list[LogEntry] = [maker.round(0, HASH, OTHER), maker.round(1, HASH, "")]
    good = maker.joint_release((HASH, OTHER), (HASH, ""))
    cases: list[tuple[list[LogEntry], bool]] = [
        ([*rounds, good], True),
        ([*rounds, maker.joint_release((HASH, ""), (HASH, ""))], False),
        ([*rounds, maker.joint_release((HASH, OTHER), (HASH, OTHER))], False),
        ([*rounds, maker.joint_release((HASH, OTHER), (HASH, ""), (HASH, ""))], False),
        ([rounds[0], good], False),
        ([good], False),
        ([good, *rounds], False),
        ([rounds[0], good, rounds[1]], False),
        ([replace(maker.round(0, HASH, OTHER), study=OTHER), rounds[1], good], False),
    ]
    for number, (entries, right) in enumerate(cases):
        log = maker.log(name=f"{number}.db")
        log.append(entries, key)
        if right:
            assert len(list(check_log(log, key.verifier))) == 3
            continue
        with pytest.raises(PublicationError, match="counts other contributions than the log"):
            list(check_log(log, key.verifier))
