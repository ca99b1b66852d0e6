"""A SQLite file of ours: for its owner alone, and opened by many at once."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from supm import _sqlite
from supm._sqlite import keep_a_log_ahead, make_for_its_owner
from supm.owner import Wallet
from supm.publication.entry import ChainEntry
from supm.publication.log import Log
from supm.publication.signing import SigningKey


def test_a_new_file_is_its_owners_alone_and_an_old_one_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    assert make_for_its_owner(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"kept")
    assert not make_for_its_owner(path)
    assert path.read_bytes() == b"kept"


def held(path: Path) -> sqlite3.Connection:
    """Hold the file as a program does that writes to it in the old way."""
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("CREATE TABLE made (one INTEGER)")
    return holder


def test_the_switch_waits_for_who_holds_the_file(tmp_path: Path) -> None:
    path = tmp_path / "held.db"
    holder = held(path)
    release = threading.Timer(0.2, lambda: holder.execute("COMMIT"))
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    release.start()
    keep_a_log_ahead(connection)
    release.join()
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()
    holder.close()


def test_the_switch_gives_up_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite, "SECONDS_FOR_A_LOCK", 0.05)
    holder = held(tmp_path / "held.db")
    connection = sqlite3.connect(tmp_path / "held.db", timeout=0, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        keep_a_log_ahead(connection)
    connection.close()
    holder.close()


def test_a_file_that_nobody_changed_is_read_anew_once_somebody_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, key = tmp_path / "log.db", SigningKey("log.example", bytes(31) + b"1")
    log = Log.create(path, key)
    log.close()
    assert not path.with_name("log.db-wal").exists()
    # As for a reader who may write nothing there.
    monkeypatch.setattr("supm._sqlite.os.access", lambda *_: False)
    with Log(path, read_only=True) as reader:
        assert reader.size == 0
        with Log(path) as writer:
            for number in range(1, 40):
                writer.append([entry(number)], key)
                assert reader.size == number
        assert (reader.size, len(reader.entries(0, 100))) == (39, 39)
    with Log(path, read_only=True) as reader:
        assert reader.size == 39
        with Log(path) as writer:
            writer.append([entry(40)], key)
        # The other is gone again, with the file beside it.
        assert reader.size == 40


def entry(number: int) -> ChainEntry:
    return ChainEntry(
        time="2026-11-18T14:00:00Z",
        chain=number,
        contract="0x" + "0" * 40,
        publisher="0x" + "0" * 40,
        log="0" * 64,
    )


def test_a_wallet_opens_while_another_program_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "wallet.db"
    Wallet(path).close()
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    # Back in the old way, and read: the switch is refused for as long as the reader reads.
    reader.execute("PRAGMA journal_mode = DELETE")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM answers").fetchone()
    release = threading.Timer(0.2, lambda: reader.execute("COMMIT"))
    release.start()
    with Wallet(path) as wallet:
        assert wallet.answers() == ()
    release.join()
    reader.close()
