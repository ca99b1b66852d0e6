"""The log: entries in order in one SQLite file, with a signed checkpoint after each step.

Entries are only ever added. Each step is on the disk, with the checkpoint that holds it, before it
is acknowledged, or nothing of it is.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from supm._errors import PublicationError, SupmError
from supm._sqlite import SqliteFile
from supm.publication.entry import LogEntry, ReleaseEntry, read_entry
from supm.publication.history import KeyHistory, entry_at, history_of, revoking, rotating
from supm.publication.merkle import (
    EMPTY_ROOT,
    consistency_path,
    grown,
    hash_leaf,
    inclusion_path,
    root_of,
)
from supm.publication.proof import Proof, make_proof
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey, VerifierKey
from supm.reporting import counted

_MOST_BYTES: Final = 1 << 26


class _LogFile(SqliteFile):
    noun: ClassVar[str] = "log"
    hint: ClassVar[str] = "name another file, or make one with supm log create"
    refusal: ClassVar[type[SupmError]] = PublicationError
    application: ClassVar[int] = 0x53555050  # "SUPP"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = (
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE entries (place INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL)",
        "CREATE INDEX kinds ON entries (kind)",
        "CREATE TABLE contents (content TEXT PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE nodes (
            level INTEGER, place INTEGER, hash BLOB NOT NULL, PRIMARY KEY (level, place)
        ) WITHOUT ROWID""",
        "CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        "CREATE TABLE anchors (size INTEGER PRIMARY KEY, receipt TEXT NOT NULL)",
        "CREATE TABLE files (content TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
    )

    def _prepare(self) -> None:
        super()._prepare()
        # Hashes of files come in no order, so a batch touches pages all over their index: hold the
        # index in memory (64 MB), and write pages home once for many batches (every 256 MB).
        self.run("PRAGMA cache_size = -65536")
        self.run("PRAGMA wal_autocheckpoint = 65536")


class Log:
    """A log that this program may read and, with its key, add to.

    Parameters
    ----------
    path : Path
        The file; `create` makes one.
    read_only : bool, default False
        To read only, also where nothing may be written.

    Notes
    -----
    Cost: an entry of n bytes takes n, two hashes of 32 bytes and some 20 bytes of tables. A proof
    reads as many hashes as the number of entries has binary digits.

    Examples
    --------
    >>> import tempfile
    >>> from supm.publication.entry import ChainEntry
    >>> folder = Path(tempfile.mkdtemp())
    >>> key = SigningKey.made("log.example", folder / "log.key")
    >>> entry = ChainEntry(
    ...     time="2026-11-18T14:00:00Z", chain=1, contract="0x" + "0" * 40,
    ...     publisher="0x" + "0" * 40, log="0" * 64,
    ... )
    >>> with Log.create(folder / "log.db", key) as log:
    ...     places = log.append([entry], key)
    ...     places, log.checkpoint().size
    ([0], 1)
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        if not path.is_file():
            raise PublicationError(f"there is no log at {path}; make one with supm log create.")
        self._file = _LogFile(path, read_only=read_only)
        found = self._file.run("SELECT value FROM settings WHERE name = 'key'")
        if not found:
            self._file.close()
            raise PublicationError(
                f"{path} is an empty log that was not finished; remove it and create it anew."
            )
        self.first_key = VerifierKey.parse(found[0][0])

    @classmethod
    def create(cls, path: Path, key: SigningKey) -> Self:
        """Make a new log whose first key this is."""
        if path.exists():
            raise PublicationError(
                f"{path} is there already; a log is never overwritten. Name a new file."
            )
        file = _LogFile(path)
        with contextlib.closing(file), file.step():
            file.run("INSERT INTO settings VALUES ('key', ?)", str(key.verifier))
            empty = Checkpoint(name=key.verifier.name, size=0, root=EMPTY_ROOT)
            file.run("INSERT INTO checkpoints VALUES (0, ?)", empty.signed(key).text)
        return cls(path)

    @property
    def name(self) -> str:
        """The log's name."""
        return self.first_key.name

    @property
    def size(self) -> int:
        """How many entries it has."""
        return self.checkpoint().size

    @property
    def last_time(self) -> str:
        """When the last entry is dated; nothing where there is none."""
        size = self.size
        return self._entry(size - 1).time if size else ""

    def __enter__(self) -> Self:
        """Return the log."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def step(self) -> contextlib.AbstractContextManager[None]:
        """Do all within as one step: it is on the disk when this ends, or nothing of it ever."""
        return self._file.step()

    def append(self, entries: Sequence[LogEntry], key: SigningKey) -> list[int]:
        """Add entries and sign the checkpoint that holds them, as one step.

        A file that was published before keeps its place, so to publish twice is to publish once.
        """
        with self._file.step():
            size = self.size
            places, fresh = self._placed(entries, size)
            self._check_times(size, fresh)
            leaves = self._store(size, fresh)
            self.check_charge(key)
            if leaves:
                rows = grown(size, leaves, self._node)
                self._file.run_many("INSERT INTO nodes VALUES (?, ?, ?)", rows)
                self._sign(size + len(leaves), key)
            return places

    def _placed(self, entries: Sequence[LogEntry], size: int) -> tuple[list[int], list[LogEntry]]:
        """Return the place of each entry, and those that are new."""
        releases = [each for each in entries if isinstance(each, ReleaseEntry)]
        known, places, fresh = self._found(releases), list[int](), list[LogEntry]()
        for entry in entries:
            content = entry.content if isinstance(entry, ReleaseEntry) else ""
            place = known.get(content, size + len(fresh))
            if place == size + len(fresh):
                fresh.append(entry)
            else:
                before = fresh[place - size] if place >= size else self._entry(place)
                _check_same(place, before, entry)
            if content:
                known[content] = place
            places.append(place)
        return places, fresh

    def _check_times(self, size: int, fresh: Sequence[LogEntry]) -> None:
        # Equal times are allowed, so that an entry of a clock that was wrong does not end a log.
        times = [self._entry(size - 1).time] if size and fresh else []
        times += [each.time for each in fresh]
        if times != sorted(times):
            raise PublicationError(
                f"an entry cannot be dated before the one before it ({times[0]})."
            )

    def _found(self, releases: Sequence[ReleaseEntry]) -> dict[str, int]:
        """Return the places of those whose files were published before, in one question."""
        query = "SELECT * FROM contents WHERE content IN (SELECT value FROM json_each(?))"
        return dict(self._file.run(query, json.dumps([each.content for each in releases])))

    def _entry(self, place: int) -> LogEntry:
        return read_entry(entry_at(self, place))

    def _store(self, size: int, fresh: Sequence[LogEntry]) -> list[bytes]:
        """Store new entries and return their leaves."""
        rows = [(place, each.kind, each.text) for place, each in enumerate(fresh, size)]
        self._file.run_many("INSERT INTO entries VALUES (?, ?, ?)", rows)
        contents = [
            (each.content, place)
            for place, each in enumerate(fresh, size)
            if isinstance(each, ReleaseEntry)
        ]
        # In order, so that neighbours in the index are touched together.
        self._file.run_many("INSERT INTO contents VALUES (?, ?)", sorted(contents))
        return [hash_leaf(text.encode()) for _, _, text in rows]

    def _sign(self, size: int, key: SigningKey) -> None:
        root = root_of(size, self._node)
        signed = Checkpoint(name=self.name, size=size, root=root).signed(key)
        self._file.run("INSERT INTO checkpoints VALUES (?, ?)", size, signed.text)

    def check_charge(self, key: SigningKey) -> None:
        """Raise unless a key is the one in charge."""
        if key.verifier != self.history().current:
            raise PublicationError(
                f"the key {key.verifier.hash.hex()} is not in charge of this log; "
                f"{self.history().current.hash.hex()} is: name its file with --signing-key."
            )

    def rotate(self, old: SigningKey, new: SigningKey, time: str) -> int:
        """Let a new key take over, and return the place of the entry that says so."""
        self.check_charge(old)
        return self.append([rotating(time, new.verifier, old)], new)[0]

    def revoke(self, old: VerifierKey, charge: SigningKey, time: str) -> int:
        """Declare an old key stolen, and return the place of the entry that says so."""
        if old not in self.history().keys[:-1]:
            raise PublicationError(
                "only an old key of this log can be revoked; let a new one take over first."
            )
        return self.append([revoking(time, old, charge)], charge)[0]

    def checkpoint(self) -> SignedCheckpoint:
        """Return the newest signed checkpoint."""
        found = self._file.run("SELECT body FROM checkpoints ORDER BY size DESC LIMIT 1")
        if not found:
            raise PublicationError(self._file.damaged)
        return SignedCheckpoint.parse(found[0][0])

    def checkpoint_of(self, size: int) -> SignedCheckpoint | None:
        """Return the checkpoint that was signed at a size, if one was."""
        found = self._file.run("SELECT body FROM checkpoints WHERE size = ?", size)
        return SignedCheckpoint.parse(found[0][0]) if found else None

    def entries(self, start: int, stop: int) -> list[str]:
        """Return the texts of entries from one place up to another."""
        query = "SELECT body FROM entries WHERE place >= ? AND place < ? ORDER BY place"
        return [row[0] for row in self._file.run(query, start, stop)]

    def places(self, kind: str) -> list[int]:
        """Return where all entries of a kind are, in order."""
        rows = self._file.run("SELECT place FROM entries WHERE kind = ? ORDER BY place", kind)
        return [row[0] for row in rows]

    def releases(self, newest: int, skip: int = 0) -> list[int]:
        """Return where the newest releases are, the newest first."""
        query = "SELECT place FROM entries WHERE kind = ? ORDER BY place DESC LIMIT ? OFFSET ?"
        return [row[0] for row in self._file.run(query, ReleaseEntry.kind, newest, skip)]

    def count_releases(self) -> int:
        """Return how many files were published."""
        return int(self._file.run("SELECT count(*) FROM contents")[0][0])

    def find(self, content: str) -> int | None:
        """Return the place of the release of a file, by its SHA-256."""
        found = self._file.run("SELECT place FROM contents WHERE content = ?", content)
        if found and not isinstance(found[0][0], int):
            raise PublicationError(self._file.damaged)
        return found[0][0] if found else None

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the path from an entry to the root of the first ``size`` entries."""
        self._check_size(size)
        if not 0 <= index < size:
            raise PublicationError(f"there is no entry {index} among the first {size}.")
        return inclusion_path(index, size, self._node)

    def consistency(self, first: int, second: int) -> list[bytes]:
        """Return the path that shows that the first entries are the beginning of more."""
        self._check_size(second)
        if not 0 <= first <= second:
            raise PublicationError(f"the first {second} entries do not begin with {first}.")
        return consistency_path(first, second, self._node) if first else []

    def proof_at(self, place: int) -> Proof:
        """Return the proof of a release, under the newest checkpoint that is on a chain, if any."""
        return make_proof(self, place, self.anchored(place))

    def history(self) -> KeyHistory:
        """Return the keys of the log, as its own entries tell them."""
        return history_of(self)

    def keep(self, content: str, held: bytes) -> None:
        """Keep a copy of a published file, for those who download it."""
        if len(held) > _MOST_BYTES:
            raise PublicationError(f"the log keeps files of at most {_MOST_BYTES} bytes.")
        with self._file.step():
            self._file.run("INSERT OR IGNORE INTO files VALUES (?, ?)", content, held)

    def keeps(self, content: str) -> bool:
        """Say whether there is a copy of a published file."""
        return bool(self._file.run("SELECT 1 FROM files WHERE content = ?", content))

    def kept(self, content: str) -> bytes | None:
        """Return the copy of a published file, if there is one."""
        found = self._file.run("SELECT bytes FROM files WHERE content = ?", content)
        return bytes(found[0][0]) if found else None

    def note_anchor(self, size: int, receipt: str) -> None:
        """Remember that the checkpoint of a size is on a chain, and what the chain said."""
        with self._file.step():
            self._file.run("INSERT OR REPLACE INTO anchors VALUES (?, ?)", size, receipt)

    def anchor_note(self, size: int) -> str | None:
        """Return what was noted when the checkpoint of a size was found on a chain, if it was."""
        found = self._file.run("SELECT receipt FROM anchors WHERE size = ?", size)
        return str(found[0][0]) if found else None

    def anchored(self, index: int = -1) -> SignedCheckpoint | None:
        """Return the newest checkpoint that is on a chain, holds an entry, and can be believed."""
        revoked = {key.hash for key in self.history().revoked}
        query = "SELECT size FROM anchors WHERE size > ? ORDER BY size DESC"
        for (size,) in self._file.run(query, index):
            found = self.checkpoint_of(size)
            if found is not None and found.key_hash not in revoked:
                return found
        return None

    def _node(self, level: int, place: int) -> bytes:
        query = "SELECT hash FROM nodes WHERE level = ? AND place = ?"
        found = self._file.run(query, level, place)
        if not found or not isinstance(found[0][0], bytes):
            raise PublicationError(
                f"the log lacks a hash (level {level}, place {place}): it is damaged."
            )
        return found[0][0]

    def _check_size(self, size: int) -> None:
        if not 0 <= size <= self.size:
            raise PublicationError(
                f"the log has {counted(self.size, 'entry')}, and {size} are asked for."
            )


def _check_same(place: int, before: LogEntry, entry: LogEntry) -> None:
    told = [getattr(each, "statement", None) for each in (before, entry)]
    if None in told or told[0] != told[1]:
        raise PublicationError(
            f"this file was published before, as entry {place}, with another statement."
        )
