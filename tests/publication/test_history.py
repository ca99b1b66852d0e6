"""Which key speaks for a log at which size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from supm import PublicationError
from supm.publication import history as module
from supm.publication.entry import KeyChange, KeyEntry
from supm.publication.history import (
    KeyHistory,
    changes_of,
    contracts_of,
    history_of,
    revoking,
    rotating,
)
from supm.publication.merkle import grown
from supm.publication.monitoring import check_log
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

    from supm.publication.log import Log

TIME = "2026-11-18T14:00:00Z"
ONE, TWO, THREE, FOUR = (SigningKey("log.example", bytes([each]) * 32) for each in range(1, 5))


def at(index: int, entry: KeyEntry) -> KeyChange:
    return KeyChange(index=index, entry=entry)


# One hands over to two in entry 10, two to three in entry 20, and three revokes one in entry 30.
FIRST = at(10, rotating(TIME, TWO.verifier, ONE))
SECOND = at(20, rotating(TIME, THREE.verifier, TWO))
STOLEN = at(30, revoking(TIME, ONE.verifier, THREE))


def signed(key: SigningKey, size: int) -> SignedCheckpoint:
    return Checkpoint(name="log.example", size=size, root=bytes(32)).signed(key)


def followed(key: SigningKey, *changes: KeyChange) -> KeyHistory:
    return KeyHistory.followed(key.verifier, changes)


def test_one_key_speaks_for_all_sizes() -> None:
    history = followed(ONE)
    assert history.current == ONE.verifier
    for size in (0, 1, 10**9):
        assert history.check(signed(ONE, size)) == ONE.verifier


def test_keys_take_over_from_each_other() -> None:
    history = followed(ONE, FIRST, SECOND)
    assert history.keys == (ONE.verifier, TWO.verifier, THREE.verifier)
    assert history.current == THREE.verifier


@pytest.mark.parametrize(
    ("key", "sizes", "others"),
    [(ONE, (0, 10), (11, 20)), (TWO, (11, 20), (0, 10, 21)), (THREE, (21, 10**9), (0, 11, 20))],
)
def test_each_key_signs_while_it_is_in_charge_and_stays_good_for_that(
    key: SigningKey, sizes: tuple[int, ...], others: tuple[int, ...]
) -> None:
    history = followed(ONE, FIRST, SECOND)
    for size in sizes:
        assert history.check(signed(key, size)) == key.verifier
    for size in others:
        with pytest.raises(PublicationError, match="was not in charge then"):
            history.check(signed(key, size))


def test_a_stranger_of_the_same_name_signs_nothing() -> None:
    with pytest.raises(PublicationError, match="is signed by the key"):
        followed(ONE, FIRST).check(signed(FOUR, 11))


def test_a_signature_under_a_borrowed_name_is_seen() -> None:
    """The four bytes that name a key are no secret: the signature itself must be its own."""
    forged = replace(signed(FOUR, 11), key_hash=TWO.verifier.hash)
    with pytest.raises(PublicationError, match="altered"):
        followed(ONE, FIRST).check(forged)


def test_a_reader_may_trust_a_later_key() -> None:
    history = followed(TWO, FIRST, SECOND, STOLEN)
    assert history.keys == (TWO.verifier, THREE.verifier)
    assert history.since == 11
    assert history.check(signed(TWO, 11)) == TWO.verifier
    assert history.check(signed(THREE, 31)) == THREE.verifier
    with pytest.raises(PublicationError, match="was not in charge"):
        history.check(signed(TWO, 10))
    with pytest.raises(PublicationError, match="is signed by the key"):
        history.check(signed(ONE, 5))


def test_a_reader_who_trusts_the_last_key_needs_no_older_signature() -> None:
    forged = at(10, rotating(TIME, TWO.verifier, FOUR))
    history = followed(THREE, forged, SECOND)
    assert history.keys == (THREE.verifier,)
    assert history.check(signed(THREE, 21)) == THREE.verifier


def test_a_reader_who_trusts_a_key_that_never_took_over_follows_nothing() -> None:
    with pytest.raises(PublicationError, match="has not signed it"):
        followed(FOUR, FIRST)


@pytest.mark.parametrize(
    "forged",
    [
        rotating(TIME, FOUR.verifier, FOUR),
        rotating(TIME, FOUR.verifier, TWO),
        KeyEntry(time=TIME, act="rotate", key=str(FOUR.verifier)),
        KeyEntry(time=TIME, act="rotate", key=str(FOUR.verifier), signature="0" * 128),
        KeyEntry(time=TIME, act="rotate", key=str(FOUR.verifier), signature=FIRST.entry.signature),
        KeyEntry(
            time="2026-11-18T14:00:01Z",
            act="rotate",
            key=str(TWO.verifier),
            signature=FIRST.entry.signature,
        ),
        KeyEntry(time=TIME, act="revoke", key=str(TWO.verifier), signature=FIRST.entry.signature),
    ],
)
def test_a_change_that_the_key_in_charge_did_not_sign_is_refused(forged: KeyEntry) -> None:
    with pytest.raises(PublicationError, match="entry 10 changes keys, and the key in charge"):
        followed(ONE, at(10, forged))


def test_a_retired_key_changes_nothing_any_more() -> None:
    with pytest.raises(PublicationError, match="entry 15 changes keys"):
        followed(ONE, FIRST, at(15, rotating(TIME, FOUR.verifier, ONE)))


def test_a_key_of_another_log_or_an_old_one_does_not_take_over() -> None:
    other = SigningKey("other.example", bytes(32)).verifier
    with pytest.raises(PublicationError, match="a key of another log"):
        followed(ONE, at(10, rotating(TIME, other, ONE)))
    with pytest.raises(PublicationError, match="or to an old one"):
        followed(ONE, FIRST, at(20, rotating(TIME, ONE.verifier, TWO)))
    with pytest.raises(PublicationError, match="or to an old one"):
        followed(ONE, at(10, rotating(TIME, ONE.verifier, ONE)))


def test_a_stolen_first_key_is_not_brought_back() -> None:
    for thief in (ONE, FOUR):
        back = at(40, rotating(TIME, ONE.verifier, thief))
        with pytest.raises(PublicationError, match="entry 40 changes keys"):
            followed(ONE, FIRST, SECOND, STOLEN, back)


def test_what_a_revoked_key_signed_proves_nothing() -> None:
    before, after = followed(ONE, FIRST, SECOND), followed(ONE, FIRST, SECOND, STOLEN)
    assert before.check(signed(ONE, 5)) == ONE.verifier
    with pytest.raises(PublicationError, match="which was revoked"):
        after.check(signed(ONE, 5))
    assert after.check(signed(TWO, 15)) == TWO.verifier
    assert after.check(signed(THREE, 31)) == THREE.verifier


def test_only_an_old_key_can_be_revoked() -> None:
    for key in (ONE, FOUR):
        with pytest.raises(PublicationError, match="revokes a key that is not an old one"):
            followed(ONE, at(10, revoking(TIME, key.verifier, ONE)))
    with pytest.raises(PublicationError, match="has not signed it"):
        followed(ONE, FIRST, SECOND, at(30, revoking(TIME, TWO.verifier, ONE)))


def test_a_log_tells_its_own_history(maker: Maker) -> None:
    log = maker.log(3, key=ONE)
    assert log.rotate(ONE, TWO, TIME) == 3
    log.append([maker.release(3)], TWO)
    assert log.revoke(ONE.verifier, TWO, TIME) == 5
    history = log.history()
    assert history.keys == (ONE.verifier, TWO.verifier)
    assert history.until == (3,)
    assert history.revoked == {ONE.verifier}
    assert history.check(log.checkpoint()) == TWO.verifier
    for size in (4, 5, 6):
        kept = log.checkpoint_of(size)
        assert kept is not None
        assert history.check(kept) == TWO.verifier


class Saying:
    """A log that answers as another one does, except where it says that entries are."""

    def __init__(self, log: Log, places: list[int]) -> None:
        self._log, self._places = log, places
        self.questions = 0

    def places(self, _: str) -> list[int]:
        return self._places

    def entries(self, start: int, stop: int) -> list[str]:
        self.questions += 1
        return self._log.entries(start, stop)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


def grown_log(maker: Maker) -> Log:
    """Return a log of a release, a contract, a change of keys, and a release."""
    log, key, new = maker.log(1), maker.key(), maker.key(2)
    log.append([maker.contract()], key)
    log.rotate(key, new, maker.time)
    log.append([maker.release(9)], new)
    return log


def test_changes_and_contracts_are_found_with_their_places(maker: Maker) -> None:
    log = grown_log(maker)
    assert [each.index for each in changes_of(log)] == [2]
    assert contracts_of(log) == [(1, maker.contract())]
    assert not changes_of(log, 2)
    assert not contracts_of(log, 1)
    assert history_of(log, 2).current == maker.key().verifier
    assert history_of(log).current == maker.key(2).verifier


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([2, 2], "out of order"),
        ([3, 2], "out of order"),
        ([-1, 2], "or one that is none"),
        ([0], "that entry 0 is of kind key, and it is not"),
        ([1, 2], "that entry 1 is of kind key, and it is not"),
        ([9], "the log has no entry 9"),
    ],
)
def test_a_log_cannot_name_places_at_will(maker: Maker, places: list[int], words: str) -> None:
    saying: Any = Saying(grown_log(maker), places)
    with pytest.raises(PublicationError, match=words):
        changes_of(saying)
    assert saying.questions <= 1


def test_places_are_so_many_at_most(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 5)
    saying: Any = Saying(grown_log(maker), list(range(6)))
    with pytest.raises(PublicationError, match="too many places of entries of kind key"):
        changes_of(saying)
    assert saying.questions == 0
    # What was added since the checkpoint is not asked for.
    saying = Saying(grown_log_again(maker), [2, *range(4, 1000)])
    assert [each.index for each in changes_of(saying, 4)] == [2]


def grown_log_again(maker: Maker) -> Log:
    log, key = maker.log(2, "again.db"), maker.key()
    log.rotate(key, maker.key(2), maker.time)
    return log


def test_a_change_of_keys_that_is_left_out_of_the_places_is_seen(maker: Maker) -> None:
    log, key, new = maker.log(2), maker.key(), maker.key(2)
    unsigned = rotating(maker.time, new.verifier, maker.key(5))
    assert isinstance(unsigned, KeyEntry)
    with log.step():
        leaves = log._store(2, [unsigned])
        log._file.run_many("INSERT INTO nodes VALUES (?, ?, ?)", list(grown(2, leaves, log._node)))
        log._sign(3, key)
    hiding: Any = Saying(log, [])
    with pytest.raises(PublicationError, match="the key in charge has not signed it"):
        list(check_log(hiding, key.verifier))
