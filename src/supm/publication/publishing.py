"""Enter a file into a log, and anchor the log on a chain."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from supm._errors import PublicationError, SupmError
from supm._json import canonical
from supm.messages import ReleaseStatement, Statement
from supm.publication.entry import ChainEntry, ReleaseEntry
from supm.publication.history import contracts_of
from supm.publication.log import Log
from supm.publication.merkle import entries_in_words
from supm.publication.signing import SigningKey

if TYPE_CHECKING:
    from supm.publication.chain import Anchor, Chain, ChainAccount, ChainReceipt

__all__ = ["anchor", "contract_of", "name_contract", "publish"]


def publish(  # noqa: PLR0913  each is a fact of the entry
    log: Log,
    key: SigningKey,
    content: bytes,
    *,
    name: str,
    statement: Statement | ReleaseStatement,
    time: str,
    run: str = "",
    commitments: tuple[tuple[str, ...], ...] = (),
) -> int:
    """Enter a file into a log and keep a copy; to publish it twice is to publish it once.

    Parameters
    ----------
    log : Log
        Where to.
    key : SigningKey
        The log's key in charge.
    content : bytes
        The file.
    name : str
        What it is called.
    statement : Statement or ReleaseStatement
        What is promised to those whose data made it.
    time : str
        When, in UTC.
    run : str, default ""
        The fingerprint of all parties' keys, where parties made it.
    commitments : tuple of tuple of str, default ()
        What they sent in each round, as hashes.

    Returns
    -------
    int
        The place of the entry.
    """
    digest = hashlib.sha256(content).hexdigest()
    entry = ReleaseEntry(
        time=time,
        name=name,
        content=digest,
        size=len(content),
        statement=statement,
        run=run,
        commitments=commitments,
    )
    # In one step: no entry without its file, and no file without its entry.
    with log.step():
        log.keep(digest, content)
        return log.append([entry], key)[0]


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
        message = "this log has no contract on a chain yet; make one with supm log deploy."
        raise PublicationError(message)
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
    named, checkpoint = contract_of(log), log.checkpoint().checkpoint
    chain.check_code(log=bytes.fromhex(named.log), publisher=named.publisher)
    before = chain.anchored(checkpoint.size)
    if before is not None and before.root != checkpoint.root:
        told = entries_in_words(checkpoint.size)
        message = f"the chain has another root for {told} than the log."
        raise PublicationError(message)
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
