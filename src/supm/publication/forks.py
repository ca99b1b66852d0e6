"""Whether a log begins as was said before; where it does not, the evidence is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from supm._errors import PublicationError
from supm.publication.checkpoint import Checkpoint, SignedCheckpoint
from supm.publication.entry import KeyEntry
from supm.publication.evidence import AnchorTold, Evidence
from supm.publication.merkle import EMPTY_ROOT, roots_by_consistency
from supm.publication.reading import LogReader

__all__ = ["ForkError", "beginning", "check_same_log"]


class ForkError(PublicationError):
    """The keys of a log signed something else than they signed, or anchored, before.

    Parameters
    ----------
    found : Evidence
        What shows it to everybody.
    """

    def __init__(self, found: Evidence) -> None:
        super().__init__(_told(found))
        self.found = found

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence as plain values for JSON."""
        return self.found.to_form()


def _told(found: Evidence) -> str:
    name, size = found.second.checkpoint.name, found.second.checkpoint.size
    if isinstance(found.first, AnchorTold):
        return (
            f"the chain has another root for the first {found.first.size} entries than the log "
            f"{name}, which signed for {size}: it was rewritten, or another log is anchored in the "
            "same contract. Keep the evidence and show it."
        )
    return (
        f"the log {name} is forked: its signed checkpoints of {found.before.size} and {size} "
        "entries cannot both be true. Keep both and show them."
    )


def check_same_log(
    first: SignedCheckpoint,
    second: SignedCheckpoint,
    log: LogReader,
    keys: Sequence[tuple[int, KeyEntry]] = (),
) -> None:
    """Raise unless the larger checkpoint's log begins with the smaller one's.

    A path that does not lead to the larger root may be the fault of whoever carried it, and accuses
    nobody. One that leads there from another root than the smaller one is evidence.

    Parameters
    ----------
    first, second : SignedCheckpoint
        The smaller and the larger; their signatures were checked.
    log : LogReader
        The log that shows the larger one.
    keys : sequence of tuple of int and KeyEntry, default ()
        The changes of its keys, for the evidence.

    Raises
    ------
    ForkError
        If both cannot be true.
    PublicationError
        If the log does not show how the larger one begins.
    """
    small, large = first.checkpoint, second.checkpoint
    shown = beginning(log, small.size, small.root, large)
    if shown is None:
        message = (
            f"the log did not show that its {large.size} entries begin with the {small.size} that "
            "were signed before: it was rewritten, or its answer was."
        )
        raise PublicationError(message)
    root, path = shown
    if root != small.root:
        found = Evidence(first=first, second=second, path=path, root=root, keys=tuple(keys))
        raise ForkError(found)


def beginning(
    log: LogReader, size: int, expected: bytes, now: Checkpoint
) -> tuple[bytes, tuple[bytes, ...]] | None:
    """Return the root of a log's first entries, and the path from there to a signed root.

    Parameters
    ----------
    log : LogReader
        Where to ask for the path.
    size : int
        How many entries, at most as many as the checkpoint has.
    expected : bytes
        What the root should be.
    now : Checkpoint
        The signed one.

    Returns
    -------
    tuple of bytes and tuple, or None
        None where what the log answers does not lead to the signed root.
    """
    if size in (0, now.size):
        return (now.root if size == now.size else EMPTY_ROOT), ()
    path = tuple(log.consistency(size, now.size))
    for start in chain([expected], _starts(log, size, now.size)):
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
