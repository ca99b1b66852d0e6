"""What the entries of a log tell together: releases, the rounds of runs, keys and contracts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

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
            message = f"entry {place} is dated {entry.time}, before the one before it."
            raise PublicationError(message)
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
                message = f"entry {place} tells another story of a round than one before it."
                raise PublicationError(message)
        elif isinstance(entry, ReleaseEntry):
            if entry.content in self._contents:
                message = f"entry {place} publishes a file that was published before: it is double."
                raise PublicationError(message)
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
                message = (
                    f"the release {entry.content[:16]}… counts other contributions than the log "
                    "showed when its rounds were held."
                )
                raise PublicationError(message)

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
