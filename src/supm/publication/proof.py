"""A proof of publication: with the file and the log's key, all that a reader needs to check it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from supm._errors import PublicationError
from supm.messages.codec import Message
from supm.messages.update import Commitments
from supm.publication.entry import (
    ChainEntry,
    KeyChange,
    KeyEntry,
    LogEntry,
    ReleaseEntry,
    read_entry,
)
from supm.publication.evidence import check_same_log
from supm.publication.history import KeyHistory, LogReader, changes_of, contracts_of, entry_at
from supm.publication.merkle import hash_leaf, root_by_inclusion
from supm.publication.signing import SignedCheckpoint, VerifierKey
from supm.reporting import counted

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
        good = type(self.index) is int and self.index >= 0 and isinstance(self.text, str)
        if not good or len(self.path) > _LONGEST_PATH:
            raise PublicationError("an entry in a proof is not of the right form.")
        if any(len(each) != _HASH_BYTES for each in self.path):
            raise PublicationError(f"a path in a proof is a list of hashes of {_HASH_BYTES} bytes.")

    @property
    def entry(self) -> LogEntry:
        """The entry that the text holds."""
        return read_entry(self.text)

    def check(self, checkpoint: SignedCheckpoint) -> None:
        """Raise unless the entry is under the root of a checkpoint."""
        leaf = hash_leaf(self.entry.text.encode())
        if root_by_inclusion(leaf, self.index, checkpoint.size, self.path) != checkpoint.root:
            raise PublicationError(
                f"entry {self.index} does not lead to the root of the checkpoint: the entry, its "
                "path or the checkpoint is another one."
            )


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
            raise PublicationError(f"entry {self.release.index} is no release of a file.")
        return entry

    @property
    def contract(self) -> ChainEntry | None:
        """The contract in which the log is anchored, if one is named."""
        entry = None if self.chain is None else self.chain.entry
        if entry is not None and not isinstance(entry, ChainEntry):
            raise PublicationError("the proof names a contract by an entry of another kind.")
        return entry

    @property
    def changes(self) -> list[KeyChange]:
        """The changes of keys, with their places."""
        found = [
            KeyChange(index=each.index, entry=entry)
            for each in self.keys
            if isinstance(entry := each.entry, KeyEntry)
        ]
        places = [each.index for each in found]
        if len(found) < len(self.keys) or places != sorted(set(places)):
            raise PublicationError(
                "the proof tells changes of keys out of order, or by other entries."
            )
        return found


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
    size = checkpoint.size

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


def verify_file(content: bytes, proof: Proof, key: VerifierKey) -> Iterator[str]:
    """Yield in words what was checked of a file, a proof and a log's key, with no network.

    Parameters
    ----------
    content : bytes
        The file.
    proof : Proof
        What shows that it was published.
    key : VerifierKey
        The key of the log that the reader trusts.

    Yields
    ------
    str
        One sentence for each step that holds.

    Raises
    ------
    PublicationError
        At the first step that does not hold.
    """
    entry, checkpoint = proof.entry, proof.checkpoint
    found = hashlib.sha256(content).hexdigest()
    if (found, len(content)) != (entry.content, entry.size):
        raise PublicationError(
            f"the file is not the one that was published: its SHA-256 is {found[:16]}…, and the "
            f"entry says {entry.content[:16]}…"
        )
    yield f"The file is the one of the entry: {len(content)} bytes with SHA-256 {found}."
    signer = _signer(proof, key)
    followed = "the key you gave" if signer == key else "a key that took over from the one you gave"
    size, name = counted(checkpoint.size, "entry"), checkpoint.name
    yield f"The checkpoint of {size} is signed by {followed} ({signer.hash.hex()})."
    proof.release.check(checkpoint)
    if proof.contract is not None and proof.chain is not None:
        proof.chain.check(checkpoint)
    steps = len(proof.release.path)
    shown = "1 hash shows" if steps == 1 else f"{steps} hashes show"
    yield f"The entry is number {proof.release.index} of the log {name}: {shown} it."


def _signer(proof: Proof, key: VerifierKey) -> VerifierKey:
    signer = KeyHistory.followed(key, proof.changes).check(proof.checkpoint)
    for each in proof.keys:
        each.check(proof.checkpoint)
    return signer


def verify_receipt(proof: Proof, receipt: Commitments) -> Iterator[str]:
    """Yield in words that what a party sent was counted in every round.

    Parameters
    ----------
    proof : Proof
        Of the release.
    receipt : Commitments
        What the party kept of the run.

    Yields
    ------
    str

    Raises
    ------
    PublicationError
        If the release is of another run, or a round counts something else or nothing.
    """
    entry, number = proof.entry, receipt.number
    if not entry.commitments:
        raise PublicationError(
            "the release was published without its rounds: nobody can tell who was counted."
        )
    if (receipt.study, receipt.run) != (entry.study, entry.run):
        raise PublicationError("the receipt is of another study or another run than the release.")
    if not receipt.rounds:
        raise PublicationError("the receipt holds no round: the party had sent nothing.")
    counted = tuple(each[number] if number < len(each) else "" for each in entry.commitments)
    if counted != receipt.rounds:
        raise PublicationError(f"what party {number} sent was not counted, or not as it was sent.")
    yield f"What party {number} sent is counted in all {len(counted)} rounds of the release."


def verify_log(
    log: LogReader, proof: Proof, key: VerifierKey, *, now: SignedCheckpoint | None = None
) -> Iterator[str]:
    """Yield in words that a log, as it is now, begins with what a proof shows.

    Parameters
    ----------
    log : LogReader
        The log.
    proof : Proof
        Of the release; `verify_file` has checked it.
    key : VerifierKey
        The key of the log that the reader trusts.
    now : SignedCheckpoint, optional
        The log's checkpoint to check; the newest by default.

    Yields
    ------
    str

    Raises
    ------
    PublicationError
        If it does not (a ForkError, with the evidence), or the key was revoked in between.
    """
    now = now or log.checkpoint()
    changes = changes_of(log, now.size)
    history = KeyHistory.followed(key, changes)
    history.check(now)
    history.check(proof.checkpoint)
    sizes = proof.checkpoint.size, now.size
    if sizes[1] < sizes[0]:
        shown = counted(sizes[1], "entry")
        raise PublicationError(
            f"the log shows {shown}, and signed for {sizes[0]} before: it was cut."
        )
    check_same_log(proof.checkpoint, now, log, changes)
    yield f"The log, now of {counted(sizes[1], 'entry')}, begins with those of the proof."
