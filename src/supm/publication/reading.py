"""What a reader asks of a log, wherever it is: a file here, or an address."""

from __future__ import annotations

from typing import Protocol

from supm._errors import PublicationError
from supm.publication.checkpoint import SignedCheckpoint
from supm.publication.entry import ChainEntry, KeyEntry, read_entry
from supm.publication.history import KeyHistory
from supm.publication.keys import VerifierKey

__all__ = ["LogReader", "changes_of", "contracts_of", "entry_at", "history_of"]


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


def changes_of(log: LogReader) -> list[tuple[int, KeyEntry]]:
    """Return the entries by which keys changed, with their places."""
    found = [(place, read_entry(entry_at(log, place))) for place in log.places("key")]
    return [(place, entry) for place, entry in found if isinstance(entry, KeyEntry)]


def history_of(log: LogReader) -> KeyHistory:
    """Return the keys of a log, as its own entries tell them.

    Raises
    ------
    PublicationError
        If a change is not signed by the key in charge.
    """
    history = KeyHistory.followed(log.first_key, changes_of(log))
    if history.since:
        message = "the log says that its first key took over from another one."
        raise PublicationError(message)
    return history


def contracts_of(log: LogReader) -> list[tuple[int, ChainEntry]]:
    """Return every contract in which a log was ever anchored, with the places of the entries."""
    found = [(place, read_entry(entry_at(log, place))) for place in log.places("chain")]
    return [(place, entry) for place, entry in found if isinstance(entry, ChainEntry)]
