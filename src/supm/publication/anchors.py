"""Whether a log agrees with everything that is anchored in its contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from supm._errors import PublicationError
from supm.publication.checkpoint import Checkpoint
from supm.publication.keys import VerifierKey
from supm.publication.merkle import check_consistency
from supm.publication.proof import Proof
from supm.publication.reading import LogReader
from supm.publication.verification import AnchoredRoot, AnchoredRoots, verify_log

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
        If the log does not begin with what is anchored, or with what the proof shows.
    """
    # The chain first: what is anchored by then, the log must hold already.
    anchors = chain.anchors()
    now = log.checkpoint()
    for _ in verify_log(log, proof, key, now=now):
        pass
    for each in reversed(anchors[-_MOST:]):
        _check_anchor(each, log, now.checkpoint)
    if len(anchors) > _MOST:
        yield (
            f"WARNING: the log agrees with the newest {_MOST} of {len(anchors)} anchors in the "
            "contract; supm log check --chain compares all of them."
        )
    else:
        yield f"The log agrees with every anchor in the contract: {len(anchors)} of them."


def _check_anchor(anchor: AnchoredRoot, log: LogReader, now: Checkpoint) -> None:
    if anchor.size > now.size:
        message = (
            f"the chain has an anchor of {anchor.size} entries, and the log shows {now.size}: it "
            "was cut, is behind, or another log is anchored in the same contract."
        )
        raise PublicationError(message)
    path = log.consistency(anchor.size, now.size) if anchor.size < now.size else []
    try:
        check_consistency(anchor.size, anchor.root, now.size, now.root, path)
    except PublicationError:
        message = (
            f"the log did not show that it begins with the {anchor.size} entries whose root is on "
            "the chain: another log is anchored in the same contract, or its answer was altered."
        )
        raise PublicationError(message) from None
