"""A SQLite file of ours: for its owner alone, written in whole steps, opened by many at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from supm._errors import SupmError

SECONDS_FOR_A_LOCK: Final = 30
_SECONDS_BETWEEN: Final = 0.01
_HELD: Final = "another program holds it; try again when that is done"
_REASONS: Final = {
    "SQLITE_BUSY": _HELD,
    "SQLITE_LOCKED": _HELD,
    "SQLITE_FULL": "the disk is full; make room and try again",
    "SQLITE_READONLY": "it may not be written; change its mode or choose another",
    "SQLITE_CANTOPEN": "it cannot be opened; choose another",
}


def make_for_its_owner(path: Path) -> bool:
    """Make a new file that nobody else on the machine reads; SQLite gives its log the same mode.

    Parameters
    ----------
    path : Path
        Where it is to be; a file that is there already is left alone.

    Returns
    -------
    bool
        Whether the file was made.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return False
    return True


def keep_a_log_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging with commits that wait for the disk.

    Of all statements, the switch alone does not wait for a lock, however patient the connection
    is: two programs that open a new file at once would have one of them refused. So it is tried
    again for as long as any other statement would wait.

    Parameters
    ----------
    connection : sqlite3.Connection
        In no transaction.
    """
    give_up = time.monotonic() + SECONDS_FOR_A_LOCK
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorname.startswith("SQLITE_BUSY")
            if not busy or time.monotonic() > give_up:
                raise
            time.sleep(_SECONDS_BETWEEN)
        else:
            break
    connection.execute("PRAGMA synchronous = FULL")


class SqliteFile:
    """A SQLite file that one thread of one process writes at a time, in steps that are whole.

    Parameters
    ----------
    path : Path
        Where it is; it is made where it is not.
    read_only : bool, default False
        To read a file that is there, also where nothing may be written.
    """

    noun: ClassVar[str]
    hint: ClassVar[str]
    refusal: ClassVar[type[SupmError]]
    # In the header of the file, so that another program's database is not taken for ours.
    application: ClassVar[int]
    version: ClassVar[int]
    tables: ClassVar[tuple[str, ...]]

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._depth = 0
        self._process = os.getpid()
        # Of a file that is read as one that nobody changes: what it looked like.
        self._seen: tuple[bool, int, int, int] | None = None
        with self._explained():
            if not read_only:
                self._make()
            self._link = self._opened(read_only=read_only)
        try:
            if read_only:
                self._check_kind(self._kind())
            else:
                self._prepare()
        except BaseException:
            self._link.close()
            raise

    def run(self, statement: str, *values: object) -> list[Any]:
        """Run one statement and return its rows."""
        with self._lock, self._explained():
            self._check_process()
            self._look_again()
            return self._link.execute(statement, values).fetchall()

    def run_many(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Run one statement for each of many rows."""
        with self._lock, self._explained():
            self._check_process()
            self._link.executemany(statement, rows)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Do all within as one step: it is on the disk when this ends, or nothing of it ever.

        A step within a step is undone alone where it fails, and lasts if the outer one does.
        """
        with self._lock:
            depth = self._depth
            self.run(f"SAVEPOINT step{depth}" if depth else "BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                self._undo(depth)
                raise
            self._depth -= 1
            self.run(f"RELEASE step{depth}" if depth else "COMMIT")

    def _undo(self, depth: int) -> None:
        # After an error of the disk, SQLite may have gone back to the beginning by itself.
        if not self._link.in_transaction:
            return
        if depth:
            self.run(f"ROLLBACK TO step{depth}")
            self.run(f"RELEASE step{depth}")
        else:
            self.run("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._process == os.getpid():
                self._link.close()

    def _opened(self, *, read_only: bool) -> sqlite3.Connection:
        """Open the file.

        Beside others who write, SQLite needs a file of its own beside the database. Where none is
        there and none may be made, the database is read as one that nobody changes.
        """
        where = f"{self.path.absolute().as_uri()}?mode=ro" if read_only else str(self.path)
        self._seen = None
        if read_only and not os.access(self.path.parent, os.W_OK):
            seen = self._look()
            if not seen[0]:
                self._seen, where = seen, where.replace("?mode=ro", "?immutable=1")
        return sqlite3.connect(
            where,
            timeout=SECONDS_FOR_A_LOCK,
            isolation_level=None,
            check_same_thread=False,
            uri=read_only,
        )

    def _look(self) -> tuple[bool, int, int, int]:
        """Return whether somebody writes to the file, and what shows that it was changed."""
        found = self.path.stat()
        beside = self.path.with_name(f"{self.path.name}-wal").exists()
        return beside, found.st_ino, found.st_size, found.st_mtime_ns

    def _look_again(self) -> None:
        """Open anew a file that was read as one that nobody changes, and that somebody changed."""
        if self._seen is not None and self._look() != self._seen:
            self._link.close()
            self._link = self._opened(read_only=True)

    def _make(self) -> None:
        make_for_its_owner(self.path)

    def _prepare(self) -> None:
        with self.step():
            known = self._kind()
            if known == (0, 0) and not self.run("SELECT name FROM sqlite_master"):
                self._create()
            else:
                self._check_kind(known)
        # Not before: it changes the file, which might have been another program's.
        with self._explained():
            keep_a_log_ahead(self._link)

    def _create(self) -> None:
        for table in self.tables:
            self.run(table)
        self.run(f"PRAGMA application_id = {self.application}")
        self.run(f"PRAGMA user_version = {self.version}")

    def _kind(self) -> tuple[int, int]:
        return self._number("application_id"), self._number("user_version")

    def _check_kind(self, known: tuple[int, int]) -> None:
        if known != (self.application, self.version):
            raise self.refusal(
                f"{self.path} is no {self.noun} that this release reads; {self.hint}."
            )

    def _number(self, name: str) -> int:
        return int(self.run(f"PRAGMA {name}")[0][0])

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise self.refusal(
                f"a {self.noun} cannot be carried into another process; open it there anew."
            )

    @property
    def damaged(self) -> str:
        """What to say of a file that is not whole."""
        return f"the {self.noun} {self.path} is damaged or is no {self.noun}; {self.hint}."

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in one sentence what the disk or the library complained about."""
        try:
            yield
        except sqlite3.Error as error:
            message = self._sentence(error)
        except OSError as error:
            message = f"the {self.noun} {self.path} cannot be opened: {error.strerror}."
        else:
            return
        raise self.refusal(message)

    def _sentence(self, error: sqlite3.Error) -> str:
        name = str(getattr(error, "sqlite_errorname", ""))
        reason = next((words for code, words in _REASONS.items() if name.startswith(code)), None)
        if reason is not None:
            return f"the {self.noun} {self.path} cannot be used: {reason}."
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return self.damaged
        return f"the {self.noun} {self.path} cannot be used ({name or type(error).__name__})."
