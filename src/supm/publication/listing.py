"""What a log holds, as a list for people and machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from supm._errors import PublicationError
from supm.publication.entry import LogEntry, RoundEntry, read_entry
from supm.publication.history import KeyHistory, history_of
from supm.publication.monitoring import entries_of, rebuilt
from supm.publication.opening import AnyLog, open_log
from supm.publication.signing import SignedCheckpoint, VerifierKey
from supm.publication.story import EntryReader
from supm.reporting import Result, Table, counted

_SHOWN: Final = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class LogListing(Result):
    """What a log holds: its keys, and its entries or the newest of them.

    Parameters
    ----------
    history : KeyHistory
        Its keys.
    total : int
        How many entries it has.
    entries : tuple of LogEntry
        The last of them, or all.
    """

    history: KeyHistory
    total: int
    entries: tuple[LogEntry, ...]

    @property
    def headline(self) -> str:
        """Its name, its size and its keys."""
        *old, current = self.history.keys
        told = f"The log {current.name} has {counted(self.total, 'entry')}. Its key in charge:"
        return "\n".join([told, f"  {current}", *map(self._fate, old)])

    def _fate(self, key: VerifierKey) -> str:
        fate = "revoked: do not use it" if key in self.history.revoked else "retired"
        return f"  {key} ({fate})"

    def to_form(self) -> dict[str, Any]:
        """Return the keys and the entries as plain values for JSON."""
        return {
            "name": self.history.current.name,
            "keys": list(map(str, self.history.keys)),
            "size": self.total,
            "revoked": list(map(str, self.history.revoked)),
            "entries": [json.loads(each.text) for each in self.entries],
        }

    def tables(self) -> Sequence[Table]:
        """Return the newest entries, one in each row."""
        newest = self.entries[-_SHOWN:]
        rows = [
            [str(place), each.time, each.kind, *_named(each)]
            for place, each in enumerate(newest, self.total - len(newest))
        ]
        head = ["entry", "time", "kind", "what", "SHA-256"]
        return [Table(head=head, rows=rows, words=5)] if rows else []

    def words(self) -> Sequence[str]:
        """Say where there are more entries than the table shows."""
        return (f"(the newest {_SHOWN}; --json writes all)",) if self.total > _SHOWN else ()


def list_log(log: str | Path | AnyLog, *, whole: bool = False) -> LogListing:
    """Return what a log holds.

    Parameters
    ----------
    log : str, Path, Log or RemoteLog
        The log, by its file or its address.
    whole : bool, default False
        Whether all entries are listed: then they are those that the log signed for, and no others.

    Returns
    -------
    LogListing
    """
    opened = open_log(log)
    now = opened.checkpoint()
    size = now.size
    history = history_of(opened, size)
    history.check(now)
    if whole:
        found = _all_entries(opened, now)
    else:
        found = list(map(read_entry, opened.entries(max(0, size - _SHOWN), size)))
    return LogListing(history=history, total=size, entries=tuple(found))


def _all_entries(log: AnyLog, now: SignedCheckpoint) -> list[LogEntry]:
    reader, found = EntryReader(), list[LogEntry]()

    def taken(text: str) -> str:
        found.append(reader.read(text))
        return text

    _, root, _ = rebuilt(map(taken, entries_of(log, now.size)))
    if root != now.root:
        message = "the entries of the log are not those that it signed for; see supm log check."
        raise PublicationError(message)
    return found


def _named(entry: LogEntry) -> tuple[str, str]:
    names = {"round": "run", "key": "act", "chain": "contract"}
    name = str(getattr(entry, names.get(entry.kind, "name")))
    if isinstance(entry, RoundEntry):
        name = f"round {entry.round} of run {name[:8]}…"
    content = str(getattr(entry, "content", ""))
    return name, f"{content[:16]}…" if content else ""
