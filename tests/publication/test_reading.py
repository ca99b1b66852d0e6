"""What a log says of its own keys and contracts: asked for, and never more than it may say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from supm._errors import PublicationError
from supm.publication import reading
from supm.publication.entry import KeyEntry
from supm.publication.history import rotating
from supm.publication.merkle import grown
from supm.publication.monitoring import check_log
from supm.publication.reading import changes_of, contracts_of, history_of

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

    from supm.publication.log import Log


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
    assert [place for place, _ in changes_of(log)] == [2]
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
    monkeypatch.setattr(reading, "_MOST", 5)
    saying: Any = Saying(grown_log(maker), list(range(6)))
    with pytest.raises(PublicationError, match="too many places of entries of kind key"):
        changes_of(saying)
    assert saying.questions == 0
    # What was added since the checkpoint is not asked for.
    saying = Saying(grown_log_again(maker), [2, *range(4, 1000)])
    assert [place for place, _ in changes_of(saying, 4)] == [2]


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
