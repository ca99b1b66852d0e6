"""A proof of publication: with the file and the log's key, all that a reader needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from supm._errors import PublicationError
from supm.messages.codec import Message
from supm.publication.entry import ChainEntry, KeyEntry, LogEntry, ReleaseEntry, read_entry
from supm.publication.history import LogReader, contracts_of, entry_at
from supm.publication.merkle import hash_leaf, root_by_inclusion
from supm.publication.signing import SignedCheckpoint

__all__ = ["Included", "Proof", "make_proof"]

_HASH_BYTES: Final = 32
_LONGEST_PATH: Final = 62


@dataclass(frozen=True, kw_only=True)
class Included(Message):
    """An entry, its place, and the path from it to the root.

    Parameters
    ----------
    index : int
        Its place in the log.
    text : str
        The entry.
    path : tuple of bytes
        The hashes beside it, lowest first.
    """

    noun = "an entry in a proof"
    refusal = PublicationError
    index: int
    text: str
    path: tuple[bytes, ...]

    def __post_init__(self) -> None:
        good = type(self.index) is int and isinstance(self.text, str)
        if not good or len(self.path) > _LONGEST_PATH:
            message = "an entry in a proof is not of the right form."
            raise PublicationError(message)
        if any(len(each) != _HASH_BYTES for each in self.path):
            message = f"a path in a proof is a list of hashes of {_HASH_BYTES} bytes."
            raise PublicationError(message)

    @property
    def entry(self) -> LogEntry:
        """The entry that the text holds."""
        return read_entry(self.text)

    def check(self, checkpoint: SignedCheckpoint) -> None:
        """Raise unless the entry is under the root of a checkpoint."""
        inner = checkpoint.checkpoint
        leaf = hash_leaf(self.entry.text.encode())
        if root_by_inclusion(leaf, self.index, inner.size, self.path) != inner.root:
            message = (
                f"entry {self.index} does not lead to the root of the checkpoint: the entry, its "
                "path or the checkpoint is another one."
            )
            raise PublicationError(message)


@dataclass(frozen=True, kw_only=True)
class Proof(Message):
    """What shows that a file was published.

    Parameters
    ----------
    release : Included
        The entry of the file.
    checkpoint : SignedCheckpoint
        Under whose root it is.
    keys : tuple of Included
        The changes of the log's keys so far, in order.
    chain : Included or None
        The entry that names the contract in which the log is anchored.
    """

    noun = "a proof"
    version = 1
    refusal = PublicationError
    release: Included
    checkpoint: SignedCheckpoint
    keys: tuple[Included, ...] = ()
    chain: Included | None = None

    @property
    def entry(self) -> ReleaseEntry:
        """The entry of the file."""
        entry = self.release.entry
        if not isinstance(entry, ReleaseEntry):
            message = f"entry {self.release.index} is no release of a file."
            raise PublicationError(message)
        return entry

    @property
    def contract(self) -> ChainEntry | None:
        """The contract in which the log is anchored, if one is named."""
        entry = None if self.chain is None else self.chain.entry
        if entry is not None and not isinstance(entry, ChainEntry):
            message = "the proof names a contract by an entry of another kind."
            raise PublicationError(message)
        return entry

    @property
    def changes(self) -> list[tuple[int, KeyEntry]]:
        """The changes of keys, with their places."""
        found = [(each.index, each.entry) for each in self.keys]
        known = [(index, entry) for index, entry in found if isinstance(entry, KeyEntry)]
        if len(known) < len(found) or [index for index, _ in known] != sorted(
            {index for index, _ in known}
        ):
            message = "the proof tells changes of keys out of order, or by other entries."
            raise PublicationError(message)
        return known


def make_proof(log: LogReader, index: int, checkpoint: SignedCheckpoint | None = None) -> Proof:
    """Return the proof of an entry.

    Parameters
    ----------
    log : LogReader
        The log.
    index : int
        The place of the release.
    checkpoint : SignedCheckpoint, optional
        Under which; by default the newest.

    Returns
    -------
    Proof
    """
    checkpoint = checkpoint or log.checkpoint()
    size = checkpoint.checkpoint.size

    def included(place: int) -> Included:
        path = tuple(log.inclusion(place, size))
        return Included(index=place, text=entry_at(log, place), path=path)

    changes = [place for place in log.places("key") if place < size]
    # The contract that was named when the checkpoint was signed: a later one has not its root.
    contracts = [place for place, _ in contracts_of(log) if place < size]
    return Proof(
        release=included(index),
        checkpoint=checkpoint,
        keys=tuple(included(place) for place in changes),
        chain=included(contracts[-1]) if contracts else None,
    )
