"""Whether a log agrees with what is anchored of it on a chain, and which contract that is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from supm._errors import ParameterError, PublicationError
from supm.publication import chain as chains
from supm.publication.chain.contract import Anchor, ChainReceipt, OtherChainError
from supm.publication.entry import ChainEntry
from supm.publication.evidence import beginning, check_root
from supm.publication.history import KeyHistory, LogReader, changes_of
from supm.publication.proof import Proof, verify_log
from supm.publication.signing import SignedCheckpoint, VerifierKey
from supm.reporting import counted

if TYPE_CHECKING:
    from supm.publication.chain import Chain

# Each costs the log a question; who reads the whole log compares any number of them.
_MOST: Final = 100
_FORM: Final = re.compile("(?:([1-9][0-9]{0,18}):)?(0x[0-9a-fA-F]{40})")


def chain_at(url: str, named: ChainEntry | Anchor | ChainReceipt) -> Chain:
    """Return a contract on the node at an address; it is asked nothing yet."""
    return chains.Chain(url, named.contract, chain=named.chain)


@dataclass(frozen=True)
class KnownContract:
    """A contract that a reader knows from elsewhere than the log."""

    address: str
    chain: int | None

    @classmethod
    def on(cls, url: str | None, text: str) -> KnownContract:
        """Read the number of a chain and an address, or an address alone, to ask a node for it."""
        found = _FORM.fullmatch(text)
        if found is None:
            wanted = "the number of a chain and an address, 1:0x… with 40 digits"
            raise ParameterError("contract", wanted, text)
        if not url:
            hint = "It is compared on a chain: name a node of it with --chain URL."
            raise ParameterError("contract", "given with a node to ask", text, hint)
        chain, address = found.groups()
        return cls(address, None if chain is None else int(chain))

    def check(self, named: ChainEntry | Anchor, by: str = "the log names") -> None:
        """Raise PublicationError where another contract is named."""
        same = self.address.lower() == named.contract.lower()
        if not same or self.chain not in {None, named.chain}:
            told = f"{by} the contract {named.chain}:{named.contract}"
            raise PublicationError(f"{told}, not the one that you gave.")


def contract_in(proof: Proof) -> ChainEntry:
    """Return the contract that a proof names, which its checkpoint holds."""
    named = proof.contract
    if named is None or proof.chain is None:
        raise PublicationError(
            "the proof names no contract: the log was not anchored when it was made."
        )
    proof.chain.check(proof.checkpoint)
    return named


def verify_chain(chain: Chain, proof: Proof, key: VerifierKey) -> Iterator[str]:
    """Yield in words that a chain holds the root of a proof's checkpoint.

    Parameters
    ----------
    chain : Chain
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
    named = contract_in(proof)
    began = not any(each.hands_over_to(key) for each in proof.changes)
    if began and named.log != key.identity.hex():
        raise PublicationError(
            f"the contract {named.contract} is bound to another log than the key you gave."
        )
    chain.check_code(log=bytes.fromhex(named.log), publisher=named.publisher)
    yield (
        f"The contract {named.contract}, which the log names, has SUPM's code; only "
        f"{named.publisher} can anchor in it."
    )
    checkpoint = proof.checkpoint
    anchor, told = chain.anchored(checkpoint.size), counted(checkpoint.size, "entry")
    if anchor is None:
        raise PublicationError(
            f"the chain has no anchor of {told}; get a proof under one that it has: supm log prove."
        )
    if (anchor.root, anchor.chain) != (checkpoint.root, named.chain):
        raise PublicationError(
            f"the chain holds another root for {told} than the checkpoint, or it is another chain "
            "than the log names."
        )
    yield (
        f"The root of {told} is on chain {anchor.chain} since "
        f"{_date(anchor.time)} (block {anchor.block})."
    )


def _date(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        raise PublicationError("the node tells a time of the anchor that is none.") from None


def verify_anchors(chain: Chain, log: LogReader, proof: Proof, key: VerifierKey) -> Iterator[str]:
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


def _check_anchor(anchor: Anchor, log: LogReader, now: SignedCheckpoint, key: VerifierKey) -> None:
    size, anchored = now.size, counted(anchor.size, "entry")
    if anchor.size > size:
        raise PublicationError(
            f"the chain has an anchor of {anchored}, and the log shows {size}: it was cut, is "
            "behind, or another log is anchored in the same contract."
        )
    shown = beginning(log, anchor, now)
    if shown is None:
        raise PublicationError(
            f"the log did not show that it begins with the {anchored} whose root is on the "
            "chain: another log is anchored in the same contract, or its answer was altered."
        )
    if shown[0] != anchor.root:
        changes = changes_of(log, size)
        KeyHistory.followed(key, changes).check(now)  # the log may answer otherwise this time
        check_root(anchor, now, *shown, changes)


def doubts(known: KnownContract | None, named: ChainEntry) -> Iterator[str]:
    """Yield a warning where only the log says which contract it is, or on which chain."""
    if known is None:
        yield (
            "WARNING: which contract it is, only the log says; to be sure that everybody sees the "
            "same log, get it from elsewhere and give it with --contract."
        )
    elif known.chain is None:
        yield (
            "WARNING: that it is on this chain, only the log says, for another chain can have a "
            f"contract at the same address; give --contract {named.chain}:0x… if you know it."
        )


def anchors_of(
    url: str, named: Sequence[ChainEntry], known: KnownContract | None
) -> tuple[list[Anchor], list[str]]:
    """Return the anchors in every contract that a log ever named on a node's chain."""
    if not named:
        raise PublicationError("the log names no contract on a chain; leave --chain out.")
    here = chains.chain_of(url)
    found = [each for each in named if each.chain == here]
    _check_chain(here, named, known)
    if known is not None:
        known.check(found[-1] if found else named[-1])
    return _anchors(url, found), [*doubts(known, found[-1]), *_elsewhere(named, here)]


def _check_chain(here: int, named: Sequence[ChainEntry], known: KnownContract | None) -> None:
    wanted = sorted({each.chain for each in named})
    if known is not None and known.chain is not None:
        wanted = [known.chain]
    if here not in wanted:
        told = ", ".join(map(str, wanted))
        raise OtherChainError(
            f"the node is on chain {here}, and the contract is on {told}; check its URL."
        )


def _elsewhere(named: Sequence[ChainEntry], here: int) -> Iterator[str]:
    for each in named:
        if each.chain != here:
            yield (
                f"WARNING: the contract {each.contract} is on chain {each.chain}, and the node is "
                "not: its anchors are not compared. Ask a node of that chain, too."
            )


def _anchors(url: str, named: Sequence[ChainEntry]) -> list[Anchor]:
    found: dict[int, Anchor] = {}
    for each in named:
        chain = chain_at(url, each)
        chain.check_code(log=bytes.fromhex(each.log), publisher=each.publisher)
        for anchor in chain.anchors():
            if found.setdefault(anchor.size, anchor).root != anchor.root:
                told = counted(anchor.size, "entry")
                raise PublicationError(f"two contracts of the log hold different roots of {told}.")
    return list(found.values())
