"""What the entries of a log tell: together, to a reader of all of them, and as a list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from supm._errors import ParameterError, PublicationError
from supm._json import canonical
from supm.messages import ReleaseStatement, Statement
from supm.publication.entry import (
    ChainEntry,
    KeyChange,
    KeyEntry,
    LogEntry,
    ReleaseEntry,
    RoundEntry,
    read_entry,
)
from supm.publication.history import KeyHistory, LogReader, history_of
from supm.publication.merkle import Peaks
from supm.publication.opening import AnyLog, open_log
from supm.publication.signing import SignedCheckpoint, VerifierKey
from supm.reporting import Result, Table, counted

# The ends of a release of no run, as `canonical` writes it. What is between is compared.
_HEAD: Final = re.compile(
    r'\{"commitments":\[\],"content":"([0-9a-f]{64})","kind":"release","name":"([^"\\]+)",'
    r'"promised":(\{.*\})',
    re.DOTALL,
)
_SIZE: Final = re.compile("0|[1-9][0-9]{0,18}")
_TAIL: Final = re.compile(r'([0-9a-f]{64})","time":"([^"\\]+)","version":1\}')
_MOST_KNOWN: Final = 1_000
_LONGEST_KNOWN: Final = 1 << 14


class EntryReader:
    """Reads many entries as `read_entry` does; a statement that was read is not read anew.

    Most releases of a log state the same, but for the hash of their study, in the same words. A
    text whose promise and statement are, sign by sign, those of an entry that was accepted can
    differ from it only in name, content, size, time and study, and those are checked each time.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Statement | ReleaseStatement] = {}

    def read(self, text: str) -> LogEntry:
        """Return the entry of a text, or raise what `read_entry` raises."""
        like = self._like_another(text)
        if like is not None:
            return like
        entry = read_entry(text)
        self._remember(entry)
        return entry

    def _like_another(self, text: str) -> ReleaseEntry | None:
        start, _, rest = text.partition(',"run":"","size":')
        size, _, rest = rest.partition(',"statement":')
        statement, _, end = rest.rpartition(',"study":"')
        head, tail = _HEAD.fullmatch(start), _TAIL.fullmatch(end)
        if head is None or tail is None or _SIZE.fullmatch(size) is None:
            return None
        (content, name, promised), (study, time) = head.groups(), tail.groups()
        known = self._known.get((promised, _without(study, statement)))
        if known is None:
            return None
        if known.study != study:
            known = replace(known, study=study)
        try:
            return ReleaseEntry(
                time=time, name=name, content=content, size=int(size), statement=known
            )
        except ParameterError:
            return None  # for read_entry to say what is wrong

    def _remember(self, entry: LogEntry) -> None:
        if not isinstance(entry, ReleaseEntry) or entry.run or len(self._known) >= _MOST_KNOWN:
            return
        statement = canonical(entry.statement.to_form())
        if len(statement) <= _LONGEST_KNOWN and (text := _without(entry.study, statement)):
            self._known[canonical(entry.promised), text] = entry.statement


def _without(study: str, statement: str) -> str:
    """Return a statement with a hole for the hash of its study; nothing where it has not one.

    In canonical text a quotation mark within a text has a backslash before it, so that what is
    looked for is the field itself, which a statement has once.
    """
    before, mark, after = statement.partition(f'"study":"{study}"')
    return f'{before}"study":""{after}' if mark else ""


_SHOWN: Final = 3


class LogStory:
    """What a reader remembers of all entries: enough to see what does not fit together."""

    def __init__(self) -> None:
        self.changes: list[KeyChange] = []
        self.contracts: list[ChainEntry] = []
        self.time = ""
        self._reader = EntryReader()
        self._count = 0
        self._contents: set[str] = set()
        self._runs: dict[tuple[str, int], RoundEntry] = {}
        self._released: list[tuple[ReleaseEntry, tuple[tuple[str, ...], ...]]] = []

    @property
    def words(self) -> str:
        """What was read, in one sentence."""
        rounds, changes = len(self._runs), len(self.changes)
        return (
            f"Every entry can be read, and times go forwards. Releases: {len(self._contents)}, no "
            f"file twice; rounds of parties: {rounds}; changes of keys: {changes}."
        )

    def take(self, text: str) -> str:
        """Read the next entry and return its text; raise PublicationError where it does not fit."""
        entry, place = self._reader.read(text), self._count
        if entry.time < self.time:
            raise PublicationError(
                f"entry {place} is dated {entry.time}, before the one before it."
            )
        self._count, self.time = place + 1, entry.time
        self._note(place, entry)
        return text

    def _note(self, place: int, entry: LogEntry) -> None:
        if isinstance(entry, KeyEntry):
            self.changes.append(KeyChange(index=place, entry=entry))
        elif isinstance(entry, ChainEntry):
            self.contracts.append(entry)
        elif isinstance(entry, RoundEntry):
            before = self._runs.setdefault((entry.run, entry.round), entry)
            if replace(entry, time=before.time) != before:
                raise PublicationError(
                    f"entry {place} tells another story of a round than one before it."
                )
        elif isinstance(entry, ReleaseEntry):
            if entry.content in self._contents:
                raise PublicationError(
                    f"entry {place} publishes a file that was published before: it is double."
                )
            self._contents.add(entry.content)
            if entry.run:
                self._released.append((entry, self._shown(entry)))

    def _shown(self, entry: ReleaseEntry) -> tuple[tuple[str, ...], ...]:
        """Return what the log has shown so far of the run of a release: all of its rounds."""
        found, number = list[tuple[str, ...]](), 0
        while (each := self._runs.get((entry.run, number))) is not None:
            found.append(each.commitments if each.study == entry.study else ())
            number += 1
        return tuple(found)

    def check_runs(self) -> None:
        """Raise where a release counts other parties than the rounds before it."""
        for entry, shown in self._released:
            if entry.commitments != shown:
                raise PublicationError(
                    f"the release {entry.content[:16]}… counts other contributions than the log "
                    "showed when its rounds were held."
                )

    def warnings(self, clock: str | None) -> Iterator[str]:
        """Yield warnings of what may be right and may be wrong.

        A run that was never released may only have been given up. But who sees a result and
        dislikes it could repeat the run without a party: each run is one more look at the data.
        """
        ended = {entry.run for entry, _ in self._released}
        left = sorted({run for run, _ in self._runs} - ended)
        if left:
            which = ", ".join(f"{run[:8]}…" for run in left[:_SHOWN])
            more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
            yield (
                f"WARNING: rounds of parties were held and no release followed, in run {which}"
                f"{more}: it is not over, was given up, or its result was discarded. Ask why."
            )
        if clock is not None and self.time > clock:
            yield (
                f"WARNING: the last entry is dated {self.time}, and it is {clock} by your clock: "
                "one of the two clocks is wrong."
            )


_PAGE: Final = 10_000


def entries_of(log: LogReader, size: int) -> Iterator[str]:
    """Yield the texts of the first entries, page by page."""
    for start in range(0, size, _PAGE):
        yield from log.entries(start, min(start + _PAGE, size))


def rebuilt(
    texts: Iterable[str],
    sizes: Iterable[int] = (),
    tell: Callable[[int], None] | None = None,
    nodes: dict[tuple[int, int], bytes] | None = None,
) -> tuple[int, bytes, dict[int, bytes]]:
    """Return how many entries there are, their root, and the root of some beginnings."""
    wanted, peaks = frozenset(sizes), Peaks(nodes)
    roots = {0: peaks.root()} if 0 in wanted else {}
    for text in texts:
        peaks.add([text.encode()])
        if peaks.size in wanted:
            roots[peaks.size] = peaks.root()
        if tell is not None:
            tell(peaks.size)
    return peaks.size, peaks.root(), roots


_LISTED: Final = 20


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
        newest = self.entries[-_LISTED:]
        rows = [
            [str(place), each.time, each.kind, *_named(each)]
            for place, each in enumerate(newest, self.total - len(newest))
        ]
        head = ["entry", "time", "kind", "what", "SHA-256"]
        return [Table(head=head, rows=rows, words=5)] if rows else []

    def words(self) -> Sequence[str]:
        """Say where there are more entries than the table shows."""
        return (f"(the newest {_LISTED}; --json writes all)",) if self.total > _LISTED else ()


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
        found = list(map(read_entry, opened.entries(max(0, size - _LISTED), size)))
    return LogListing(history=history, total=size, entries=tuple(found))


def _all_entries(log: AnyLog, now: SignedCheckpoint) -> list[LogEntry]:
    reader, found = EntryReader(), list[LogEntry]()

    def taken(text: str) -> str:
        found.append(reader.read(text))
        return text

    _, root, _ = rebuilt(map(taken, entries_of(log, now.size)))
    if root != now.root:
        raise PublicationError(
            "the entries of the log are not those that it signed for; see supm log check."
        )
    return found


def _named(entry: LogEntry) -> tuple[str, str]:
    names = {"round": "run", "key": "act", "chain": "contract"}
    name = str(getattr(entry, names.get(entry.kind, "name")))
    if isinstance(entry, RoundEntry):
        name = f"round {entry.round} of run {name[:8]}…"
    content = str(getattr(entry, "content", ""))
    return name, f"{content[:16]}…" if content else ""
