"""The client of the contract: deploy it, check it, anchor a root, read what was anchored."""

from __future__ import annotations

from typing import Any, Final

from supm.publication.chain.accounts import ChainAccount
from supm.publication.chain.contract import (
    SIZE,
    Anchor,
    ChainReceipt,
    ContractReader,
    artefact,
    check_32_bytes,
    check_chain,
    checksummed,
)
from supm.publication.chain.errors import ChainError
from supm.publication.chain.node import (
    BaseProvider,
    ChecksumAddress,
    HexStr,
    TimeExhausted,
    TxParams,
    TxReceipt,
    Web3,
    connect,
    explained,
)

WAIT_SECONDS: Final = 180.0
_POLL_SECONDS: Final = 0.1


def send(
    web3: Web3, account: ChainAccount, data: bytes, to: ChecksumAddress | None, chain: int
) -> TxReceipt:
    """Sign a transaction here, send it, and return its receipt once it is in a block."""
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


def deploy(
    url: str | BaseProvider, account: ChainAccount, log: bytes, *, chain: int | None = None
) -> ChainReceipt:
    """Make the contract of a log; the account is its publisher for ever.

    Parameters
    ----------
    url : str or web3 provider
        A node that speaks JSON-RPC over HTTP.
    account : ChainAccount
        Who signs and pays, and who alone can anchor later.
    log : bytes
        The 32 bytes that name the log: the SHA-256 of the first line of its verifier key.
    chain : int, optional
        The id of the chain that is meant; a node on another one is refused.

    Returns
    -------
    ChainReceipt
        With the contract's address.

    Examples
    --------
    >>> publisher = ChainAccount(bytes(31) + b"1")
    >>> deploy("node.example", publisher, bytes(32))
    Traceback (most recent call last):
    supm.publication.chain.errors.ChainError: the node's URL must begin with http:// or https://
    and name a host.
    """
    check_32_bytes("log", log)
    web3 = connect(url)
    found = check_chain(web3, chain)
    done = send(web3, account, artefact().creation(log), None, found)
    return _receipt(done, str(done["contractAddress"]), found)


def chain_of(url: str | BaseProvider) -> int:
    """Return the id of the chain that a node is on.

    Parameters
    ----------
    url : str or web3 provider
        A node that speaks JSON-RPC over HTTP.

    Returns
    -------
    int
        1 is Ethereum's main network.
    """
    return check_chain(connect(url), None)


class Chain:
    """The contract of one log at an address, through one node.

    Parameters
    ----------
    url : str or web3 provider
        A node that speaks JSON-RPC over HTTP. It is believed: where much depends on an answer, ask
        a node of your own, or two of different people.
    contract : str
        The address of the contract. Call `check_code` before believing it.
    chain : int, optional
        The id of the chain that is meant; a node on another one is refused.

    Examples
    --------
    >>> chain = Chain("https://node.example", "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf")
    >>> chain  # nothing was asked yet; the node's URL may hold a password, so it is not shown
    Chain(contract='0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf')
    """

    def __init__(self, url: str | BaseProvider, contract: str, *, chain: int | None = None) -> None:
        self._reader = ContractReader(url, contract, chain)

    def __repr__(self) -> str:
        return f"Chain(contract={self._reader.address!r})"

    def check_code(self, *, log: bytes, publisher: str | None = None) -> str:
        """Raise ChainError unless the address holds this package's contract, made as it should be.

        The code is compared byte for byte. That is not enough: whoever makes a contract can leave
        false roots and times in its storage and this very code above them. So the transaction that
        made it is looked up in its block, and must have carried what this package sends.
        """
        check_32_bytes("log", log)
        wanted = None if publisher is None else checksummed("publisher", publisher)
        found_log, found, _ = self._reader.fixed_words
        if found_log != log:
            message = f"the contract {self._reader.address} is for another log."
            raise ChainError(message)
        if wanted not in {None, found}:
            message = (
                f"the publisher of the contract {self._reader.address} is {found}, and {wanted} is "
                "expected."
            )
            raise ChainError(message)
        self._reader.check_birth()
        return found

    def anchor(self, account: ChainAccount, size: int, root: bytes) -> ChainReceipt:
        """Store the root of a size, larger than all before, for ever."""
        size, root, reader = SIZE.check(size), check_32_bytes("root", root), self._reader
        last = reader.call("latest")
        if size <= last:
            message = f"size {size} must be larger than {last}, the last anchored size."
            raise ChainError(message)
        data = bytes.fromhex(reader.contract.encode_abi("anchor", [size, root])[2:])
        done = send(reader.web3, account, data, reader.address, reader.chain)
        return _receipt(done, reader.address, reader.chain)

    def anchored(self, size: int) -> Anchor | None:
        """Return what was anchored for exactly this size, or None."""
        return self._reader.anchor(SIZE.check(size))

    def latest(self) -> Anchor | None:
        """Return the anchor of the largest size, or None where there is none."""
        size = self._reader.call("latest")
        return self._reader.anchor(size) if size else None

    def anchors(self) -> list[Anchor]:
        """Return all anchors, from the first to the last."""
        return self._reader.anchors()


def _receipt(done: TxReceipt, contract: str, chain: int) -> ChainReceipt:
    return ChainReceipt(
        contract=contract,
        chain=chain,
        transaction=done["transactionHash"].to_0x_hex(),
        gas=done["gasUsed"],
        block=done["blockNumber"],
    )
