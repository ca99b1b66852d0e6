"""The log: entries are added whole or not at all, in one order, by whoever is in charge."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from supm import PublicationError
from supm.publication.entry import read_entry
from supm.publication.history import contracts_of, entry_at, rotating
from supm.publication.log import Log
from supm.publication.merkle import check_consistency, hash_leaf, root_by_inclusion
from supm.publication.monitoring import check_log
from supm.publication.signing import SignedCheckpoint
from supm.publication.story import rebuilt

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

HASH = "5" * 64
# Both children wait for the parent to close a pipe, so that they append at once.
APPENDING = """
import hashlib, os, sys
from pathlib import Path
from supm.publication.entry import ChainEntry
from supm.publication.signing import SigningKey
from supm.publication.log import Log

key = SigningKey("log.example", bytes([1]) * 32)
def entry(who, number):
    return ChainEntry(time="2026-11-18T14:00:00Z", chain=1 + number, contract="0x" + "0" * 40,
                      publisher="0x" + str(who) * 40, log="0" * 64)
ready, go = os.pipe()
for who in range(2):
    if os.fork() == 0:
        os.close(go)
        os.read(ready, 1)
        with Log(Path(sys.argv[1])) as log:
            for number in range(0, 40, 2):
                log.append([entry(who, number), entry(who, number + 1)], key)
        os._exit(0)
os.close(go)
assert [os.wait()[1] for _ in range(2)] == [0, 0]
"""


def checkpoints(log: Log) -> list[SignedCheckpoint]:
    found = [log.checkpoint_of(size) for size in range(log.size + 1)]
    return [each for each in found if each is not None]


def held(log: Log) -> tuple[int, list[str], str]:
    return log.size, log.entries(0, 1000), log.checkpoint().text


def test_a_new_log_is_empty_signed_and_its_owners_alone(maker: Maker) -> None:
    log = maker.log()
    assert (log.size, log.name, log.entries(0, 10)) == (0, "log.example", [])
    assert log.first_key == maker.key().verifier
    log.checkpoint().check(maker.key().verifier)
    assert (maker.folder / "log.db").stat().st_mode & 0o777 == 0o600


def test_a_log_is_never_overwritten(maker: Maker) -> None:
    log = maker.log(2)
    with pytest.raises(PublicationError, match="never overwritten"):
        Log.create(maker.folder / "log.db", maker.key(2))
    assert log.size == 2


def test_entries_are_kept_in_order_under_the_root_that_is_signed(maker: Maker) -> None:
    log, key = maker.log(), maker.key()
    entries = [maker.release(0), maker.round(0, HASH), maker.contract(), maker.release(1)]
    assert log.append(entries[:3], key) == [0, 1, 2]
    assert log.append(entries[3:], key) == [3]
    texts = [each.text for each in entries]
    assert log.entries(0, 4) == texts
    assert log.entries(1, 3) == texts[1:3]
    assert log.places("release") == [0, 3]
    assert log.places("chain") == [2]
    assert contracts_of(log) == [(2, entries[2])]
    assert log.find(maker.release(1).content) == 3
    assert log.find(HASH) is None
    assert rebuilt(texts)[1] == log.checkpoint().root
    log.checkpoint().check(key.verifier)


def test_to_publish_twice_is_to_publish_once(maker: Maker) -> None:
    log, key = maker.log(3), maker.key()
    before = held(log)
    again = replace(maker.release(1), time="2027-01-01T00:00:00Z", name="other.json")
    assert log.append([again], key) == [1]
    assert held(log) == before
    new = maker.release(7)
    assert log.append([maker.release(2), new, maker.round(0, HASH), new], key) == [2, 3, 4, 3]
    assert log.size == 5
    assert log.append([], key) == []
    assert log.size == 5


def test_a_file_that_was_published_has_one_statement(maker: Maker) -> None:
    log, key = maker.log(2), maker.key()
    before = held(log)
    for batch in (
        [maker.release(1, epsilon=9.0)],
        [maker.release(5), maker.release(0, epsilon=9.0)],
        [maker.release(5), maker.release(5, epsilon=9.0)],
    ):
        with pytest.raises(PublicationError, match="with another statement"):
            log.append(batch, key)
        assert held(log) == before


def test_a_wrong_key_writes_nothing(maker: Maker) -> None:
    log = maker.log(2)
    before = held(log)
    for key in (maker.key(2), maker.key(1, "other.example")):
        with pytest.raises(PublicationError, match="is not in charge of this log"):
            log.append([maker.release(5)], key)
    with pytest.raises(PublicationError, match="has not signed it"):
        log.append([rotating(maker.time, maker.key(2).verifier, maker.key(3))], maker.key(2))
    assert held(log) == before
    assert log.find(maker.release(5).content) is None
    assert log.append([maker.release(5)], maker.key()) == [2]


def test_a_new_key_takes_over_and_the_old_one_is_done(maker: Maker) -> None:
    log, old, new = maker.log(2), maker.key(1), maker.key(2)
    assert log.rotate(old, new, maker.time) == 2
    log.checkpoint().check(new.verifier)
    before = held(log)
    with pytest.raises(PublicationError, match="not in charge"):
        log.append([maker.release(5)], old)
    with pytest.raises(PublicationError, match="not in charge"):
        log.rotate(old, maker.key(3), maker.time)
    with pytest.raises(PublicationError, match="another log"):
        log.rotate(new, maker.key(3, "other.example"), maker.time)
    with pytest.raises(PublicationError, match="an old one"):
        log.rotate(new, old, maker.time)
    forged = rotating(maker.time, old.verifier, maker.key(3))
    with pytest.raises(PublicationError, match="has not signed it"):
        log.append([forged], old)
    assert held(log) == before
    assert log.append([maker.release(5)], new) == [3]
    assert list(check_log(log, old.verifier))


def test_the_first_key_took_over_from_nobody(maker: Maker) -> None:
    log = maker.log(2)
    before = held(log)
    with pytest.raises(PublicationError, match="its first key took over"):
        log.append([rotating(maker.time, maker.key().verifier, maker.key(3))], maker.key())
    assert held(log) == before


def test_only_an_old_key_is_revoked_and_only_by_the_one_in_charge(maker: Maker) -> None:
    log, old, new = maker.log(1), maker.key(1), maker.key(2)
    with pytest.raises(PublicationError, match="only an old key"):
        log.revoke(old.verifier, old, maker.time)
    log.rotate(old, new, maker.time)
    with pytest.raises(PublicationError, match="only an old key"):
        log.revoke(new.verifier, new, maker.time)
    before = held(log)
    with pytest.raises(PublicationError, match="has not signed it"):
        log.revoke(old.verifier, old, maker.time)
    assert held(log) == before
    assert log.revoke(old.verifier, new, maker.time) == 2


def test_processes_that_append_at_once_lose_nothing(maker: Maker) -> None:
    log = maker.log()
    command = [sys.executable, "-c", APPENDING, str(maker.folder / "log.db")]
    subprocess.run(command, check=True, timeout=600)  # noqa: S603  our own program
    assert log.size == 80
    entries = [read_entry(each).to_form() for each in log.entries(0, 100)]
    for who in "01":
        mine = [each["chain"] for each in entries if each["publisher"] == "0x" + who * 40]
        assert mine == list(range(1, 41))
    assert [each.size for each in checkpoints(log)] == list(range(0, 81, 2))
    texts, key = log.entries(0, 80), maker.key().verifier
    for each in checkpoints(log):
        each.check(key)
        assert each.root == rebuilt(texts[: each.size])[1]


def test_every_checkpoint_is_the_beginning_of_every_later_one(maker: Maker) -> None:
    log, key = maker.log(), maker.key()
    for number, count in enumerate((1, 3, 1, 7, 2, 5, 1)):
        log.append([maker.release(10 * number + each) for each in range(count)], key)
    found = checkpoints(log)
    assert [each.size for each in found] == [0, 1, 4, 5, 12, 14, 19, 20]
    for small in found:
        for large in found:
            if small.size <= large.size:
                path = log.consistency(small.size, large.size)
                check_consistency(small.size, small.root, large.size, large.root, path)


def test_every_entry_is_under_every_later_checkpoint(maker: Maker) -> None:
    log = maker.log(11)
    for each in checkpoints(log):
        for index in range(each.size):
            leaf = hash_leaf(entry_at(log, index).encode())
            path = log.inclusion(index, each.size)
            assert root_by_inclusion(leaf, index, each.size, path) == each.root


def test_a_log_is_read_again_as_it_was_left(maker: Maker) -> None:
    log = maker.log(5)
    before = held(log)
    log.close()
    with Log(maker.folder / "log.db") as again:
        assert held(again) == before
        assert again.append([maker.release(5)], maker.key()) == [5]
        assert list(check_log(again, maker.key().verifier))


def test_only_sizes_at_which_it_signed_have_a_checkpoint(maker: Maker) -> None:
    log = maker.log()
    log.append([maker.release(each) for each in range(3)], maker.key())
    assert log.checkpoint_of(2) is None
    assert log.checkpoint_of(3) == log.checkpoint()
    assert log.checkpoint_of(4) is None


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0), (0, 4), (0, -1)])
def test_what_is_not_there_has_no_proof(maker: Maker, index: int, size: int) -> None:
    log = maker.log(3)
    with pytest.raises(PublicationError, match=r"no entry|are asked for"):
        log.inclusion(index, size)


@pytest.mark.parametrize(("first", "second"), [(-1, 2), (3, 2), (1, 4), (0, -1)])
def test_what_is_no_beginning_has_no_proof(maker: Maker, first: int, second: int) -> None:
    log = maker.log(3)
    with pytest.raises(PublicationError, match=r"do not begin|are asked for"):
        log.consistency(first, second)
    with pytest.raises(PublicationError, match="the log has no entry"):
        entry_at(log, 3 + abs(first))


def test_copies_are_kept_and_an_earlier_one_stays(maker: Maker) -> None:
    log = maker.log()
    log.keep(HASH, b"\x00first")
    log.keep(HASH, b"second")
    assert log.kept(HASH) == b"\x00first"
    assert log.kept("6" * 64) is None
    with pytest.raises(PublicationError, match="files of at most 67108864 bytes"):
        log.keep("6" * 64, bytes((1 << 26) + 1))


def test_the_newest_anchor_that_holds_an_entry_is_found(maker: Maker) -> None:
    log = maker.log(6)
    assert log.anchored() is None
    log.note_anchor(2, "{}")
    log.note_anchor(4, "{}")
    assert log.anchored() == log.anchored(3) == log.checkpoint_of(4)
    assert log.anchored(4) is None


def test_an_anchor_that_a_revoked_key_signed_is_passed_over(maker: Maker) -> None:
    log, old, new = maker.log(3), maker.key(), maker.key(2)
    log.note_anchor(2, "{}")
    log.rotate(old, new, maker.time)
    log.note_anchor(log.size, "{}")
    log.append([maker.release(9)], new)
    assert log.anchored() == log.anchored(1) == log.checkpoint_of(4)
    log.note_anchor(3, "{}")
    log._file.run("DELETE FROM anchors WHERE size = 4")
    assert log.anchored() == log.checkpoint_of(3)
    log.revoke(old.verifier, new, maker.time)
    assert log.anchored() is None


def test_an_entry_of_a_wrong_clock_does_not_end_a_log(maker: Maker) -> None:
    log, old, new = maker.log(1), maker.key(), maker.key(2)
    assert log.last_time == maker.time
    late = "2038-01-01T00:00:00Z"
    log.append([replace(maker.release(5), time=late)], old)
    with pytest.raises(PublicationError, match="cannot be dated before"):
        log.rotate(old, new, maker.time)
    log.rotate(old, new, log.last_time)
    log.revoke(old.verifier, new, log.last_time)
    log.append([replace(maker.release(6), time=log.last_time)], new)
    assert (log.size, log.last_time) == (5, late)
    assert maker.log(0, "empty.db").last_time == ""
    told = list(check_log(log, new.verifier, clock=maker.time))
    assert old.verifier.hash.hex() in told[3]
    assert told[4].startswith(f"WARNING: the last entry is dated {late}, and it is {maker.time}")
    assert len(list(check_log(log, new.verifier, clock=late))) == len(told) - 1


def test_there_must_be_a_log(tmp_path: Path) -> None:
    for path in (tmp_path / "none.db", tmp_path):
        with pytest.raises(PublicationError, match="there is no log at"):
            Log(path)
    assert not (tmp_path / "none.db").exists()


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (one INTEGER)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(PublicationError, match="is no log that this release reads"):
        Log(path)
    path_of_text = tmp_path / "text.db"
    path_of_text.write_text("a letter\n" * 1000)
    with pytest.raises(PublicationError, match="is damaged or is no log"):
        Log(path_of_text)
    assert path.read_bytes() == before
    assert path_of_text.read_text() == "a letter\n" * 1000


def test_a_log_that_was_not_finished_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.touch()
    with pytest.raises(PublicationError, match="an empty log that was not finished"):
        Log(path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DELETE FROM checkpoints", "is damaged or is no log"),
        ("UPDATE checkpoints SET body = 'x'", "no signed checkpoint"),
        ("UPDATE settings SET value = 'x'", "one line of the form"),
        ("DELETE FROM nodes", "lacks a hash"),
        ("DELETE FROM entries WHERE place = 0", "has no entry 0"),
        ("UPDATE entries SET body = 'x' WHERE place = 0", "not JSON"),
        ("DROP TABLE contents", "cannot be used"),
    ],
)
def test_damage_is_told_in_a_sentence(maker: Maker, damage: str, words: str) -> None:
    maker.log(3).close()
    path = maker.folder / "log.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(damage)
    other.close()

    def use() -> None:
        with Log(path) as log:
            log.append([maker.release(0), maker.release(8)], maker.key())

    with pytest.raises(PublicationError, match=words):
        use()


def test_bytes_torn_out_of_the_file_are_told(maker: Maker) -> None:
    maker.log(40).close()
    path = maker.folder / "log.db"
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(len(content) - 4096))
    with pytest.raises(PublicationError, match="damaged"):
        Log(path)


def test_a_disk_that_is_full_writes_nothing(maker: Maker) -> None:
    log = maker.log(2)
    before = held(log)
    pages = log._file.run("PRAGMA page_count")[0][0]
    log._file.run(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(PublicationError, match="the disk is full"):
        log.append([maker.release(each) for each in range(5, 500)], maker.key())
    log._file.run("PRAGMA max_page_count = 1000000")
    assert held(log) == before
    assert log.append([maker.release(5)], maker.key()) == [2]


def test_a_file_that_may_not_be_written_is_told(maker: Maker) -> None:
    log = maker.log(2)
    before = held(log)
    log._file.run("PRAGMA query_only = 1")
    with pytest.raises(PublicationError, match="may not be written"):
        log.append([maker.release(5)], maker.key())
    assert held(log) == before
