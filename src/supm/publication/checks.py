"""Is this file what was published? Each step is said in words once it is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from supm._errors import PublicationError
from supm.messages.commitments import Commitments
from supm.publication.evidence import check_same_log
from supm.publication.history import KeyHistory, LogReader, changes_of
from supm.publication.merkle import entries_in_words
from supm.publication.proof import Proof
from supm.publication.signing import SignedCheckpoint, VerifierKey

__all__ = ["verify_file", "verify_log", "verify_receipt"]


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
        message = (
            f"the file is not the one that was published: its SHA-256 is {found[:16]}…, and the "
            f"entry says {entry.content[:16]}…"
        )
        raise PublicationError(message)
    yield f"The file is the one of the entry: {len(content)} bytes with SHA-256 {found}."
    signer = _signer(proof, key)
    followed = "the key you gave" if signer == key else "a key that took over from the one you gave"
    size, name = entries_in_words(checkpoint.checkpoint.size), checkpoint.checkpoint.name
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
        message = "the release was published without its rounds: nobody can tell who was counted."
        raise PublicationError(message)
    if (receipt.study, receipt.run) != (entry.study, entry.run):
        message = "the receipt is of another study or another run than the release."
        raise PublicationError(message)
    if not receipt.rounds:
        message = "the receipt holds no round: the party had sent nothing."
        raise PublicationError(message)
    counted = tuple(each[number] if number < len(each) else "" for each in entry.commitments)
    if counted != receipt.rounds:
        message = f"what party {number} sent was not counted, or not as it was sent."
        raise PublicationError(message)
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
    changes = changes_of(log, now.checkpoint.size)
    history = KeyHistory.followed(key, changes)
    history.check(now)
    history.check(proof.checkpoint)
    sizes = proof.checkpoint.checkpoint.size, now.checkpoint.size
    if sizes[1] < sizes[0]:
        shown = entries_in_words(sizes[1])
        message = f"the log shows {shown}, and signed for {sizes[0]} before: it was cut."
        raise PublicationError(message)
    check_same_log(proof.checkpoint, now, log, changes)
    yield f"The log, now of {entries_in_words(sizes[1])}, begins with those of the proof."
