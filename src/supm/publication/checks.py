"""Is this file what was published? Each step is said in words once it is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

from supm._errors import PublicationError
from supm.messages.commitments import Commitments
from supm.publication.evidence import AnchorTold, ForkError, ForkEvidence, beginning, check_same_log
from supm.publication.history import KeyHistory, LogReader, changes_of
from supm.publication.merkle import entries_in_words
from supm.publication.proof import Proof
from supm.publication.signing import SignedCheckpoint, VerifierKey

__all__ = [
    "AnchoredRoot",
    "AnchoredRoots",
    "PlacedContract",
    "verify_anchors",
    "verify_chain",
    "verify_file",
    "verify_log",
    "verify_receipt",
]


class AnchoredRoots(Protocol):
    """A contract that keeps roots of a log; ``supm.publication.chain.Chain`` is one."""

    def check_code(self, *, log: bytes, publisher: str | None = None) -> str:
        """Raise unless the contract is SUPM's, for this log; return who may anchor."""

    def anchored(self, size: int) -> AnchoredRoot | None:
        """Return what was anchored at a size."""

    def anchors(self) -> Sequence[AnchoredRoot]:
        """Return all anchors, from the first to the last."""


class PlacedContract(Protocol):
    """Where a contract is: on a chain, at an address."""

    @property
    def chain(self) -> int:
        """On which chain."""

    @property
    def contract(self) -> str:
        """At which address."""


class AnchoredRoot(PlacedContract, Protocol):
    """What a chain says of one size."""

    @property
    def size(self) -> int:
        """Of how many entries."""

    @property
    def root(self) -> bytes:
        """The root."""

    @property
    def time(self) -> int:
        """When, in seconds since 1970."""

    @property
    def block(self) -> int:
        """In which block."""


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


def verify_chain(chain: AnchoredRoots, proof: Proof, key: VerifierKey) -> Iterator[str]:
    """Yield in words that a chain holds the root of a proof's checkpoint.

    Parameters
    ----------
    chain : AnchoredRoots
        The contract that the proof names, on the node that the reader asks. Who signs for a log
        can name any contract: a reader who knows its address from elsewhere compares it.
    proof : Proof
        Of the release; `verify_file` has checked it.
    key : VerifierKey
        The key of the log that the reader trusts.

    Yields
    ------
    str

    Raises
    ------
    PublicationError
        If the contract is another, or has another root or none for that size.
    """
    named = proof.contract
    if named is None or proof.chain is None:
        message = "the proof names no contract: the log was not anchored when it was made."
        raise PublicationError(message)
    proof.chain.check(proof.checkpoint)
    began = not any((entry.act, entry.key) == ("rotate", str(key)) for _, entry in proof.changes)
    if began and named.log != key.identity.hex():
        message = f"the contract {named.contract} is bound to another log than the key you gave."
        raise PublicationError(message)
    chain.check_code(log=bytes.fromhex(named.log), publisher=named.publisher)
    yield (
        f"The contract {named.contract}, which the log names, has SUPM's code; only "
        f"{named.publisher} can anchor in it."
    )
    checkpoint = proof.checkpoint.checkpoint
    anchor, told = chain.anchored(checkpoint.size), entries_in_words(checkpoint.size)
    if anchor is None:
        message = (
            f"the chain has no anchor of {told}; get a proof under one that it has: supm log prove."
        )
        raise PublicationError(message)
    if (anchor.root, anchor.chain) != (checkpoint.root, named.chain):
        message = (
            f"the chain holds another root for {told} than the checkpoint, or it is another chain "
            "than the log names."
        )
        raise PublicationError(message)
    yield (
        f"The root of {told} is on chain {anchor.chain} since "
        f"{_date(anchor.time)} (block {anchor.block})."
    )


def _date(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        message = "the node tells a time of the anchor that is none."
        raise PublicationError(message) from None


# Each costs the log a question; who reads the whole log compares any number of them.
_MOST: Final = 100


def verify_anchors(
    chain: AnchoredRoots, log: LogReader, proof: Proof, key: VerifierKey
) -> Iterator[str]:
    """Yield in words that a log agrees with the anchors of a contract, the newest first.

    One contract takes one root for a size, but nothing ties the root of a size to that of the one
    before it: two logs under one key can take turns in it. Whoever compares all roots sees that.
    """
    # The chain first: what is anchored by then, the log must hold already.
    anchors = chain.anchors()
    now = log.checkpoint()
    for _ in verify_log(log, proof, key, now=now):
        pass
    for each in reversed(anchors[-_MOST:]):
        _check_anchor(each, log, now, key)
    if len(anchors) > _MOST:
        yield (
            f"WARNING: the log agrees with the newest {_MOST} of {len(anchors)} anchors in the "
            "contract; supm log check --chain compares all of them."
        )
    else:
        yield f"The log agrees with every anchor in the contract: {len(anchors)} of them."


def _check_anchor(
    anchor: AnchoredRoot, log: LogReader, now: SignedCheckpoint, key: VerifierKey
) -> None:
    size, anchored = now.checkpoint.size, entries_in_words(anchor.size)
    if anchor.size > size:
        message = (
            f"the chain has an anchor of {anchored}, and the log shows {size}: it was cut, is "
            "behind, or another log is anchored in the same contract."
        )
        raise PublicationError(message)
    shown = beginning(log, anchor.size, anchor.root, now.checkpoint)
    if shown is None:
        message = (
            f"the log did not show that it begins with the {anchored} whose root is on the "
            "chain: another log is anchored in the same contract, or its answer was altered."
        )
        raise PublicationError(message)
    root, path = shown
    if root != anchor.root:
        changes = changes_of(log, size)
        KeyHistory.followed(key, changes).check(now)  # the log may answer otherwise this time
        told = AnchorTold.of(anchor)
        found = ForkEvidence(first=told, second=now, path=path, root=root, keys=tuple(changes))
        raise ForkError(found)
