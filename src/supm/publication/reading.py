"""What a reader asks of a log, wherever it is: a file here, or an address."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Protocol

from supm._errors import PublicationError
from supm.publication.checkpoint import SignedCheckpoint
from supm.publication.entry import ChainEntry, Entry, KeyEntry, read_entry
from supm.publication.history import KeyHistory
from supm.publication.keys import VerifierKey

__all__ = ["LogReader", "changes_of", "contracts_of", "entry_at", "history_of"]

# Changes of keys, or contracts: more than a log has in its life.
_MOST: Final = 10_000


class LogReader(Protocol):
    """A log that can be read. Nothing that it answers is believed before it is checked."""

    @property
    def first_key(self) -> VerifierKey:
        """The key with which it began."""

    def checkpoint(self) -> SignedCheckpoint:
        """Return the newest signed checkpoint."""

    def entries(self, start: int, stop: int) -> list[str]:
        """Return the texts of entries from one place up to another."""

    def places(self, kind: str) -> list[int]:
        """Return where the entries of kind "key" or "chain" are, in order."""

    def find(self, content: str) -> int | None:
        """Return the place of the release of a file, by its SHA-256."""

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the path from an entry to the root of the first ``size`` entries."""

    def consistency(self, first: int, second: int) -> list[bytes]:
        """Return the path that shows that the first entries are the beginning of more."""


def entry_at(log: LogReader, place: int) -> str:
    """Return the text of one entry.

    Raises
    ------
    PublicationError
        If the log has none there.
    """
    found = log.entries(place, place + 1)
    if len(found) != 1:
        message = f"the log has no entry {place}."
        raise PublicationError(message)
    return found[0]


def changes_of(log: LogReader, size: int | None = None) -> list[tuple[int, KeyEntry]]:
    """Return the entries by which keys changed, with their places.

    Parameters
    ----------
    log : LogReader
        The log.
    size : int, optional
        Of how many entries; what was added since is left out. Of all by default.

    Returns
    -------
    list of tuple of int and KeyEntry

    Raises
    ------
    PublicationError
        If the log names places out of order, too many, or where something else is.
    """
    return [
        (place, entry)
        for place, entry in _told(log, KeyEntry.kind, size)
        if isinstance(entry, KeyEntry)
    ]


def history_of(log: LogReader, size: int | None = None) -> KeyHistory:
    """Return the keys of a log, as its own entries tell them.

    Raises
    ------
    PublicationError
        If a change is not signed by the key in charge.
    """
    history = KeyHistory.followed(log.first_key, changes_of(log, size))
    if history.since:
        message = "the log says that its first key took over from another one."
        raise PublicationError(message)
    return history


def contracts_of(log: LogReader, size: int | None = None) -> list[tuple[int, ChainEntry]]:
    """Return every contract in which a log was ever anchored, with the places of the entries."""
    return [
        (place, entry)
        for place, entry in _told(log, ChainEntry.kind, size)
        if isinstance(entry, ChainEntry)
    ]


def _told(log: LogReader, kind: str, size: int | None) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of a kind: each costs a question, so a log cannot name them at will."""
    places = [place for place in log.places(kind) if size is None or place < size]
    if len(places) > _MOST or any(each < 0 for each in places[:1]):
        message = f"the log names too many places of entries of kind {kind}, or one that is none."
        raise PublicationError(message)
    if any(first >= second for first, second in pairwise(places)):
        message = f"the log names the places of entries of kind {kind} out of order."
        raise PublicationError(message)
    for place in places:
        entry = read_entry(entry_at(log, place))
        if entry.kind != kind:
            message = f"the log says that entry {place} is of kind {kind}, and it is not."
            raise PublicationError(message)
        yield place, entry
