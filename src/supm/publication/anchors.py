"""Whether a log agrees with everything that is anchored in its contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from supm._errors import PublicationError
from supm.publication.checkpoint import SignedCheckpoint
from supm.publication.evidence import AnchorTold, Evidence
from supm.publication.forks import ForkError, beginning
from supm.publication.history import KeyHistory
from supm.publication.keys import VerifierKey
from supm.publication.proof import Proof
from supm.publication.reading import LogReader, changes_of
from supm.publication.verification import AnchoredRoot, AnchoredRoots, verify_log
from supm.publication.words import entries_in_words

__all__ = ["verify_anchors"]

# Each costs the log a question; who reads the whole log compares any number of them.
_MOST: Final = 100


def verify_anchors(
    chain: AnchoredRoots, log: LogReader, proof: Proof, key: VerifierKey
) -> Iterator[str]:
    """Yield in words that a log agrees with the anchors of a contract, the newest first.

    One contract takes one root for a size, but nothing ties the root of a size to that of the one
    before it: two logs under one key can take turns in it. Whoever compares all roots sees that.

    Parameters
    ----------
    chain : AnchoredRoots
        The contract; `verify_chain` has checked it.
    log : LogReader
        The log.
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
        If the log does not begin with what is anchored, or with what the proof shows: a ForkError,
        with the evidence, where the log's own answers show it.
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
        found = Evidence(first=told, second=now, path=path, root=root, keys=tuple(changes))
        raise ForkError(found)
