"""A publisher's contract on a chain: made, named in the log, and given the log's roots."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supm._errors import ParameterError, PublicationError, SupmError
from supm._json import canonical
from supm.publication import chain as chains
from supm.publication.anchoring import chain_at
from supm.publication.entry import ChainEntry
from supm.publication.history import contracts_of
from supm.publication.log import Log
from supm.publication.signing import SigningKey, VerifierKey
from supm.reporting import Result, counted

if TYPE_CHECKING:
    from supm.publication.chain import Anchor, Chain, ChainAccount, ChainReceipt


def name_contract(
    log: Log, key: SigningKey, receipt: ChainReceipt, publisher: str, time: str
) -> int:
    """Enter into a log in which contract it is anchored, and return the place of that entry."""
    entry = ChainEntry(
        time=time,
        chain=receipt.chain,
        contract=receipt.contract,
        publisher=publisher,
        log=log.first_key.identity.hex(),
    )
    return log.append([entry], key)[0]


def contract_of(log: Log) -> ChainEntry:
    """Return the contract in which a log is anchored."""
    found = contracts_of(log)
    if not found:
        raise PublicationError(
            "this log has no contract on a chain yet; make one with supm log deploy."
        )
    return found[-1][1]


def anchor(log: Log, chain: Chain, account: ChainAccount) -> tuple[int, ChainReceipt | None]:
    """Put the root of the newest checkpoint on a chain, unless it is there already.

    Parameters
    ----------
    log : Log
        The log.
    chain : Chain
        The contract that the log names.
    account : ChainAccount
        Who pays; the contract's publisher.

    Returns
    -------
    tuple of int and ChainReceipt or None
        The size, and what the chain said; None where the root was on it before.

    Raises
    ------
    PublicationError
        If the chain has another root for that size.
    """
    named, checkpoint = contract_of(log), log.checkpoint()
    chain.check_code(log=bytes.fromhex(named.log), publisher=named.publisher)
    before = chain.anchored(checkpoint.size)
    if before is not None and before.root != checkpoint.root:
        told = counted(checkpoint.size, "entry")
        raise PublicationError(f"the chain has another root for {told} than the log.")
    receipt = None
    if before is None:
        receipt = chain.anchor(account, checkpoint.size, checkpoint.root)
        # At once: it is on the chain, whatever becomes of the next question.
        _note(log, checkpoint.size, receipt)
        with suppress(SupmError):
            before = chain.anchored(checkpoint.size)
    if before is not None:
        _note(log, checkpoint.size, before)
    return checkpoint.size, receipt


def _note(log: Log, size: int, told: Anchor | ChainReceipt) -> None:
    """Remember what the chain says of an anchor, beside what it said of the same one before."""
    known = log.anchor_note(size)
    note = {} if known is None else json.loads(known)
    if note.get("contract") != told.contract:
        note = {}
    names = ("chain", "contract", "block", "transaction", "time")
    note |= {name: getattr(told, name) for name in names if hasattr(told, name)}
    log.note_anchor(size, canonical(note))


@dataclass(frozen=True, kw_only=True, repr=False)
class Anchoring(Result):
    """What it took to put the root of a log on a chain.

    Parameters
    ----------
    named : ChainEntry
        The contract, as the log names it.
    total : int
        Of how many entries the root is.
    entries : int
        How many of them were anchored for the first time.
    receipt : ChainReceipt or None
        What the chain said; None where the root was on it before.
    """

    named: ChainEntry
    total: int
    entries: int
    receipt: ChainReceipt | None

    @property
    def headline(self) -> str:
        """What was done, and what it cost, in one sentence."""
        whole, chain, receipt = counted(self.total, "entry"), self.named.chain, self.receipt
        if receipt is None:
            return f"The root of {whole} was on chain {chain} before."
        new, each = counted(self.entries, "new entry"), receipt.gas / max(self.entries, 1)
        done = f"The root of {whole} is on chain {chain} in block {receipt.block}:"
        return f"{done} {receipt.gas} gas for {new}, {each:.0f} for each."

    def to_form(self) -> dict[str, Any]:
        """Return what was done as plain values for JSON."""
        told = {"size": self.total, "contract": self.named.contract, "chain": self.named.chain}
        if self.receipt is None:
            return told
        cost = {"gas": self.receipt.gas, "entries": self.entries}
        return told | cost | {"transaction": self.receipt.transaction}


def anchor_log(log: Log, url: str, account: ChainAccount) -> Anchoring:
    """Put the newest root of a log into its contract, on the node at an address.

    Parameters
    ----------
    log : Log
        The log.
    url : str
        A node of the chain (JSON-RPC).
    account : ChainAccount
        Who pays; the contract's publisher.

    Returns
    -------
    Anchoring
    """
    named, before = contract_of(log), log.anchored()
    size, receipt = anchor(log, chain_at(url, named), account)
    entries = size - (0 if before is None else before.size)
    return Anchoring(named=named, total=size, entries=entries, receipt=receipt)


def deploy_contract(
    log: Log, key: SigningKey, url: str, account: ChainAccount, time: str, *, again: bool = False
) -> ChainReceipt:
    """Make the contract of a log on the node at an address, and let the log name it.

    Parameters
    ----------
    log : Log
        The log.
    key : SigningKey
        Its key in charge.
    url : str
        A node of the chain (JSON-RPC).
    account : ChainAccount
        Who pays, and who alone can anchor later.
    time : str
        When, in UTC.
    again : bool, default False
        Even though the log names a contract already.

    Returns
    -------
    ChainReceipt
    """
    log.check_charge(key)
    known = contracts_of(log)
    if known and not again:
        raise PublicationError(
            f"the log is anchored in {known[-1][1].contract} already; another contract costs and "
            "begins anew. Use supm log anchor, or --again."
        )
    receipt = chains.deploy(url, account, log.first_key.identity)
    _check_deployed(url, receipt, log.first_key, account.address)
    name_contract(log, key, receipt, account.address, time)
    return receipt


def _check_deployed(url: str, made: ChainReceipt, first: VerifierKey, publisher: str) -> None:
    """Check what was made as readers will: the log must not name what they would refuse."""
    try:
        chain_at(url, made).check_code(log=first.identity, publisher=publisher)
    except chains.ChainError as error:
        raise PublicationError(
            f"{made.contract} was made, and the log does not name it: {error}"
        ) from None


def account_in(path: str | Path) -> ChainAccount:
    """Return the account of a file, which is made where it is not."""
    return chains.read_account(path) if Path(path).exists() else chains.make_account(path)


def payer(path: str | Path) -> ChainAccount:
    """Return the account of a file, which must be there."""
    if not Path(path).exists():
        hint = f"Make one with supm log account {path}."
        raise ParameterError("account", "a file that can be read", str(path), hint)
    return chains.read_account(path)
