"""Two things said of one log that cannot both be true, as evidence that anybody can check.

Whoever lacks the log's keys can make none, since the signatures are checked; and an honest log
whose keys nobody stole cannot be accused. A path of the right shape that leads to a signed root
holds the hashes of the very tree that was signed, or SHA-256 has a collision; so the root at its
other end is the one root of those first entries, and an honest log signed and anchored that one
only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias

from supm._errors import ParameterError, PublicationError
from supm.messages.codec import Message
from supm.publication.chain.contract import Anchor, check_32_bytes
from supm.publication.entry import KeyChange
from supm.publication.history import KeyHistory, LogReader
from supm.publication.merkle import EMPTY_ROOT, check_consistency, roots_by_consistency
from supm.publication.signing import SignedCheckpoint, VerifierKey
from supm.reporting import counted

Told: TypeAlias = SignedCheckpoint | Anchor

_AS_GIVEN: Final = (
    "WARNING: this holds for the key as it was given. A file need not hold every change of keys, "
    "so it cannot show that none of them was revoked as stolen: supm log check names those that "
    "the log itself revoked."
)


@dataclass(frozen=True, kw_only=True)
class ForkEvidence(Message):
    """A signed checkpoint, and what was said before of its first entries, which is not so.

    Parameters
    ----------
    first : SignedCheckpoint or Anchor
        Of the smaller size, or of the same.
    second : SignedCheckpoint
        Of the larger.
    path : tuple of bytes
        Leads from ``root`` to the root of the second.
    root : bytes
        The root with which the second begins instead of the first's.
    keys : tuple of KeyChange, default ()
        The changes of the log's keys, with their places. Each is signed by the key before; the
        places are the word of whoever wrote the evidence, which harms nobody: a key that was stolen
        could sign for its true sizes just as well. Changes that were left out are not missed, a
        revocation among them.
    """

    noun = "a file of evidence"
    version = 1
    refusal = PublicationError
    first: Told
    second: SignedCheckpoint
    path: tuple[bytes, ...]
    root: bytes
    keys: tuple[KeyChange, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.first, Told):
            raise ParameterError("first", "a signed checkpoint or an anchor", type(self.first))
        for each in (self.root, *self.path):
            check_32_bytes("each hash", each)
        if any(one.index >= other.index for one, other in pairwise(self.keys)):
            raise ParameterError("keys", "in order", "another order")

    def check(self, key: VerifierKey) -> Iterator[str]:
        """Yield in words what it shows, with no network, and what it cannot show."""
        history = KeyHistory.followed(key, self.keys)
        before, now = self.first, self.second
        for each in (before, now):
            if isinstance(each, SignedCheckpoint):
                yield from _signature(each, history)
        self._check_path()
        yield (
            f"Its {counted(now.size, 'entry')} {'begins' if now.size == 1 else 'begin'} with "
            f"{before.size} whose root is {self.root.hex()[:16]}…"
            f"; what was said before of these is {before.root.hex()[:16]}…"
        )
        yield _AS_GIVEN

    def _check_path(self) -> None:
        before, now = self.first, self.second
        try:
            check_consistency(before.size, self.root, now.size, now.root, self.path)
        except PublicationError:
            raise PublicationError(
                "the path does not lead to the signed root, so it accuses nobody."
            ) from None
        if self.root == before.root:
            raise PublicationError(
                "the second checkpoint begins with what was said before: they agree."
            )


def _signature(signed: SignedCheckpoint, history: KeyHistory) -> Iterator[str]:
    signer = history.signer(signed)
    told = f"A checkpoint of {counted(signed.size, 'entry')} is signed by the log's key"
    yield f"{told} {signer.hash.hex()}."
    if signer in history.revoked:
        yield f"WARNING: {signer.hash.hex()} was revoked: who stole it may have signed."


class ForkError(PublicationError):
    """The keys of a log signed something else than they signed, or anchored, before.

    Parameters
    ----------
    found : ForkEvidence
        What shows it to everybody.
    """

    def __init__(self, found: ForkEvidence) -> None:
        super().__init__(_told(found))
        self.found = found

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence as plain values for JSON."""
        return self.found.to_form()


def _told(found: ForkEvidence) -> str:
    before, now = found.first, found.second
    if isinstance(before, Anchor):
        return (
            f"the chain has another root for the first {before.size} entries than the log "
            f"{now.name}, which signed for {now.size}: it was rewritten, or another log is "
            "anchored in the same contract. Keep the evidence and show it."
        )
    return (
        f"the log {now.name} is forked: its signed checkpoints of {before.size} and {now.size} "
        "entries cannot both be true. Keep both and show them."
    )


def check_root(
    first: Told,
    now: SignedCheckpoint,
    root: bytes,
    path: Sequence[bytes],
    keys: Sequence[KeyChange] = (),
) -> None:
    """Raise a ForkError where the beginning of what is signed now is not what was said before."""
    if root != first.root:
        found = ForkEvidence(first=first, second=now, path=tuple(path), root=root, keys=tuple(keys))
        raise ForkError(found)


def check_same_log(
    first: SignedCheckpoint,
    second: SignedCheckpoint,
    log: LogReader,
    keys: Sequence[KeyChange] = (),
) -> None:
    """Raise unless the larger checkpoint's log begins with the smaller one's.

    A path that does not lead to the larger root may be the fault of whoever carried it, and accuses
    nobody. One that leads there from another root than the smaller one is evidence.
    """
    shown = beginning(log, first, second)
    if shown is None:
        raise PublicationError(
            f"the log did not show that its {second.size} entries begin with the {first.size} that "
            "were signed before: it was rewritten, or its answer was."
        )
    check_root(first, second, *shown, keys)


def beginning(
    log: LogReader, before: Told, now: SignedCheckpoint
) -> tuple[bytes, tuple[bytes, ...]] | None:
    """Return the root of a log's first entries, and the path from there to a signed root."""
    size = before.size
    if size in (0, now.size):
        return (now.root if size == now.size else EMPTY_ROOT), ()
    path = tuple(log.consistency(size, now.size))
    for start in chain([before.root], _starts(log, size, now.size)):
        # What cannot be asked is not suppressed: it says nothing of the log.
        with suppress(PublicationError):
            root, larger = roots_by_consistency(size, start, now.size, path)
            if larger == now.root:
                return root, path
    return None


def _starts(log: LogReader, size: int, now: int) -> Iterator[bytes]:
    """Yield where a path can begin: it leaves out a first tree that is one complete subtree.

    That tree's root is beside the subtree that follows it, so on the way up from the next entry.
    """
    if size & (size - 1) == 0:
        yield from log.inclusion(size, now)
