"""Which contract a reader knows, and what it holds: compared with what the log names."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from supm._errors import ParameterError, PublicationError
from supm.cli._published import UsageError, chain_at, chain_of
from supm.publication.chain.errors import OtherChainError
from supm.publication.merkle import entries_in_words

if TYPE_CHECKING:
    from supm.publication.checks import AnchoredRoot
    from supm.publication.entry import ChainEntry

__all__ = ["KnownContract", "anchors_of", "doubts", "known_contract"]

_FORM: Final = re.compile("(?:([1-9][0-9]{0,18}):)?(0x[0-9a-fA-F]{40})")


@dataclass(frozen=True)
class KnownContract:
    """A contract that a reader knows from elsewhere than the log.

    Parameters
    ----------
    address : str
        Its address: the same on every chain on which one account deployed as often.
    chain : int or None
        The number of its chain, where the reader knows it.
    """

    address: str
    chain: int | None

    def check(self, named: ChainEntry) -> None:
        """Raise PublicationError where the log names another contract."""
        told = f"{named.chain}:{named.contract}"
        same = self.address.lower() == named.contract.lower()
        if not same or self.chain not in {None, named.chain}:
            message = f"the log names the contract {told}, not the one that you gave."
            raise PublicationError(message)


def known_contract(arguments: argparse.Namespace) -> KnownContract | None:
    """Return what ``--contract`` names.

    Raises
    ------
    UsageError
        If no node is named to ask.
    ParameterError
        If it is no contract.
    """
    if arguments.contract is None:
        return None
    found = _FORM.fullmatch(arguments.contract)
    if found is None:
        wanted = "the number of a chain and an address, 1:0x… with 40 digits"
        raise ParameterError("--contract", wanted, arguments.contract)
    if not arguments.chain:
        message = "--contract is compared on a chain: name a node of it with --chain URL."
        raise UsageError(message)
    chain, address = found.groups()
    return KnownContract(address, None if chain is None else int(chain))


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
) -> tuple[list[AnchoredRoot], list[str]]:
    """Return the anchors in every contract that a log ever named on a node's chain.

    Parameters
    ----------
    url : str
        The node.
    named : sequence of ChainEntry
        The contracts, as the log told them.
    known : KnownContract, optional
        The one that the reader knows: the newest of those on the node's chain.

    Returns
    -------
    tuple of list of AnchoredRoot and list of str
        The anchors, and warnings.

    Raises
    ------
    PublicationError
        If the log names none, or another one than the reader knows, or two contradict each other.
    OtherChainError
        If the node is on a chain on which the log names none.
    """
    if not named:
        message = "the log names no contract on a chain; leave --chain out."
        raise PublicationError(message)
    here = chain_of(url)
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
        message = f"the node is on chain {here}, and the contract is on {told}; check its URL."
        raise OtherChainError(message)


def _elsewhere(named: Sequence[ChainEntry], here: int) -> Iterator[str]:
    for each in named:
        if each.chain != here:
            yield (
                f"WARNING: the contract {each.contract} is on chain {each.chain}, and the node is "
                "not: its anchors are not compared. Ask a node of that chain, too."
            )


def _anchors(url: str, named: Sequence[ChainEntry]) -> list[AnchoredRoot]:
    found: dict[int, AnchoredRoot] = {}
    for each in named:
        chain = chain_at(url, each)
        chain.check_code(log=bytes.fromhex(each.log), publisher=each.publisher)
        for anchor in chain.anchors():
            if found.setdefault(anchor.size, anchor).root != anchor.root:
                told = entries_in_words(anchor.size)
                message = f"two contracts of the log hold different roots of {told}."
                raise PublicationError(message)
    return list(found.values())
