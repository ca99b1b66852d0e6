"""A transaction from its data to its block: priced, signed here, sent, waited for."""

from __future__ import annotations

from typing import Any, Final

from supm.publication.chain._library import (
    ChecksumAddress,
    HexStr,
    TimeExhausted,
    TxParams,
    TxReceipt,
    Web3,
)
from supm.publication.chain.accounts import Account
from supm.publication.chain.errors import ChainError
from supm.publication.chain.node import explained

__all__ = ["send"]

WAIT_SECONDS: Final = 180.0
_POLL_SECONDS: Final = 0.1


def send(
    web3: Web3, account: Account, data: bytes, to: ChecksumAddress | None, chain: int
) -> TxReceipt:
    """Sign a transaction here, send it, and return its receipt once it is in a block.

    Parameters
    ----------
    web3 : Web3
        On the node that takes it.
    account : Account
        Who signs and pays.
    data : bytes
        What it carries.
    to : str or None
        The contract; None makes one.
    chain : int
        The id of the chain, outside of which the signature is worth nothing.

    Returns
    -------
    TxReceipt
        Of a transaction that succeeded.
    """
    with explained("the transaction"):
        transaction = _prepared(web3, account.address, data, to) | {"chainId": chain}
        _check_funds(web3, account.address, transaction)
        name, signed = account.sign(transaction)
        _sent(web3, name, signed)
    return _waited(web3, name)


def _prepared(web3: Web3, sender: str, data: bytes, to: ChecksumAddress | None) -> dict[str, Any]:
    call: dict[str, Any] = {"from": sender, "data": "0x" + data.hex(), "value": 0}
    call |= {} if to is None else {"to": to}
    # The estimate runs the contract, so that what it would refuse is refused before it costs.
    gas = web3.eth.estimate_gas(TxParams(**call))  # type: ignore[typeddict-item]  # keys are above
    # Of the last block: one sent again takes the place of one that waits, and never follows it.
    nonce = web3.eth.get_transaction_count(Web3.to_checksum_address(sender), "latest")
    del call["from"]
    return call | {"gas": gas * 5 // 4, "nonce": nonce} | _fees(web3)


def _fees(web3: Web3) -> dict[str, int]:
    """Offer twice the base fee, which then may grow for five blocks; what is over is not taken."""
    price, base = web3.eth.gas_price, web3.eth.get_block("latest").get("baseFeePerGas")
    if base is None:
        return {"gasPrice": price}
    tip = max(price - base, 0)
    return {"maxPriorityFeePerGas": tip, "maxFeePerGas": 2 * base + tip}


def _check_funds(web3: Web3, sender: str, transaction: dict[str, Any]) -> None:
    price = transaction.get("gasPrice", transaction.get("maxFeePerGas"))
    most = price * transaction["gas"]
    balance = web3.eth.get_balance(Web3.to_checksum_address(sender))
    if balance < most:
        message = (
            f"the account {sender} holds {balance} wei and this transaction may cost {most} wei; "
            "send it more first."
        )
        raise ChainError(message)


def _sent(web3: Web3, name: str, signed: bytes) -> None:
    try:
        web3.eth.send_raw_transaction(signed)
    except ChainError as error:  # of the way to the node; what the node refuses is another kind
        message = f"transaction {name} may have been sent; look it up before you repeat it: {error}"
        raise ChainError(message) from None


def _waited(web3: Web3, name: str) -> TxReceipt:
    try:
        with explained("the receipt"):
            receipt = _polled(web3, name)
    except ChainError as error:
        message = f"transaction {name} was sent, and what became of it is not known: {error}"
        raise ChainError(message) from None
    if receipt["status"] != 1:
        message = f"the contract refused transaction {name}, whose gas is spent; nothing changed."
        raise ChainError(message)
    return receipt


def _polled(web3: Web3, name: str) -> TxReceipt:
    try:
        return web3.eth.wait_for_transaction_receipt(
            HexStr(name), timeout=WAIT_SECONDS, poll_latency=_POLL_SECONDS
        )
    except TimeExhausted:
        message = f"it is in no block after {WAIT_SECONDS:g} seconds."
        raise ChainError(message) from None
