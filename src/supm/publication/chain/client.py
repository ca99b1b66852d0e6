"""The client of the contract: deploy it, check it, anchor a root, read what was anchored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, cast

from supm.publication.chain.accounts import ChainAccount
from supm.publication.chain.contract import (
    SIZE,
    Anchor,
    ChainError,
    ChainReceipt,
    OtherChainError,
    artefact,
    check_32_bytes,
    one_line,
)
from supm.publication.chain.node import (
    BaseProvider,
    ChecksumAddress,
    Contract,
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
# Ten anchors a day for 28 years.
_MOST: Final = 100_000
_PAGE: Final = 64  # of the contract


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
        raise ChainError(
            f"the account {sender} holds {balance} wei and this transaction may cost {most} wei; "
            "send it more first."
        )


def _sent(web3: Web3, name: str, signed: bytes) -> None:
    try:
        web3.eth.send_raw_transaction(signed)
    except ChainError as error:  # of the way to the node; what the node refuses is another kind
        raise ChainError(
            f"transaction {name} may have been sent; look it up before you repeat it: {error}"
        ) from None


def _waited(web3: Web3, name: str) -> TxReceipt:
    try:
        with explained("the receipt"):
            receipt = _polled(web3, name)
    except ChainError as error:
        raise ChainError(
            f"transaction {name} was sent, and what became of it is not known: {error}"
        ) from None
    if receipt["status"] != 1:
        raise ChainError(
            f"the contract refused transaction {name}, whose gas is spent; nothing changed."
        )
    return receipt


def _polled(web3: Web3, name: str) -> TxReceipt:
    try:
        return web3.eth.wait_for_transaction_receipt(
            HexStr(name), timeout=WAIT_SECONDS, poll_latency=_POLL_SECONDS
        )
    except TimeExhausted:
        raise ChainError(f"it is in no block after {WAIT_SECONDS:g} seconds.") from None


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
    supm.publication.chain.contract.ChainError: the node's URL must begin with http:// or https://
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
    """The contract of one log at an address, through one node; nothing is asked before its time.

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
        self._web3 = connect(url)
        self._address = checksummed("contract", contract)
        self._expected = chain

    def __repr__(self) -> str:
        return f"Chain(contract={self._address!r})"

    def check_code(self, *, log: bytes, publisher: str | None = None) -> str:
        """Raise ChainError unless the address holds this package's contract, made as it should be.

        The code is compared byte for byte. That is not enough: whoever makes a contract can leave
        false roots and times in its storage and this very code above them. So the transaction that
        made it is looked up in its block, and must have carried what this package sends.
        """
        check_32_bytes("log", log)
        wanted = None if publisher is None else checksummed("publisher", publisher)
        found_log, found, born = self._fixed_words
        if found_log != log:
            raise ChainError(f"the contract {self._address} is for another log.")
        if wanted not in {None, found}:
            told = f"{found}, and {wanted} is expected"
            raise ChainError(f"the publisher of the contract {self._address} is {told}.")
        self._check_birth(log, born)
        return found

    def anchor(self, account: ChainAccount, size: int, root: bytes) -> ChainReceipt:
        """Store the root of a size, larger than all before, for ever."""
        size, root = SIZE.check(size), check_32_bytes("root", root)
        last = self._call("latest")
        if size <= last:
            raise ChainError(f"size {size} must be larger than {last}, the last anchored size.")
        data = bytes.fromhex(self._contract.encode_abi("anchor", [size, root])[2:])
        done = send(self._web3, account, data, self._address, self._chain)
        return _receipt(done, self._address, self._chain)

    def anchored(self, size: int) -> Anchor | None:
        """Return what was anchored for exactly this size, or None."""
        record = self._call("record", SIZE.check(size))
        if not any(record[2]):
            return None
        found = self._read(record)
        if found.size != size:
            raise ChainError(self._impossible)
        return found

    def latest(self) -> Anchor | None:
        """Return the anchor of the largest size, or None where there is none."""
        size = self._call("latest")
        return self.anchored(size) if size else None

    def anchors(self) -> list[Anchor]:
        """Return all anchors, from the first to the last, page by page."""
        count, found = self._call("count"), list[Sequence[Any]]()
        if count > _MOST:
            raise ChainError(self._impossible)
        while len(found) < count:
            page = self._call("page", len(found))
            self._check_page(found, page, count)
            found += page
        return list(map(self._read, found))

    def _check_page(
        self, before: list[Sequence[Any]], page: Sequence[Sequence[Any]], count: int
    ) -> None:
        """Refuse what the contract cannot have answered, with which we might ask for ever."""
        places = range(len(before), min(len(before) + _PAGE, count))
        numbered = [each[0] for each in page] == list(places)
        grows = all(a[1] < b[1] for a, b in pairwise([*before[-1:], *page]))
        if not (numbered and grows):
            raise ChainError(self._impossible)

    @cached_property
    def _chain(self) -> int:
        """The id of the node's chain, which is the one that is meant."""
        return check_chain(self._web3, self._expected)

    @cached_property
    def _contract(self) -> Contract:
        """The functions of the contract."""
        return self._web3.eth.contract(address=self._address, abi=artefact().abi)

    @cached_property
    def _fixed_words(self) -> tuple[bytes, str, int]:
        """Log, publisher and block of birth, from code that is this package's but for them."""
        chain = self._chain
        with explained(f"the contract {self._address}"):
            code = bytes(self._web3.eth.get_code(self._address))
        if not code:
            raise ChainError(f"there is no contract at {self._address} on chain {chain}.")
        words = artefact().fixed_words(code)
        if words is None:
            raise ChainError(
                f"the code at {self._address} is not the contract of this version of SUPM."
            )
        return words[0], Web3.to_checksum_address(words[1]), words[2]

    def _check_birth(self, log: bytes, born: int) -> None:
        """Raise ChainError unless the contract was made by a transaction like ours."""
        with explained(f"block {born}"):
            block = self._web3.eth.get_block(born, full_transactions=True)
            carried = cast("list[Mapping[str, Any]]", block["transactions"])
            made = [self._made_by(each, log) for each in carried]
        if self._address not in made:
            raise ChainError(
                f"the contract {self._address} was not made as this version of SUPM makes it in "
                f"block {born}, so that its first anchors may be false."
            )

    def _made_by(self, transaction: Mapping[str, Any], log: bytes) -> str | None:
        """Return the address of the contract that a transaction made, if it made it as we would."""
        # The chain in a process, with which tests run, says "data".
        carried = bytes(transaction["input"] if "input" in transaction else transaction["data"])
        if transaction.get("to") or carried != artefact().creation(log):
            return None
        receipt = self._web3.eth.get_transaction_receipt(transaction["hash"])
        return receipt["contractAddress"] if receipt["status"] == 1 else None

    def _call(self, name: str, *words: int) -> Any:  # noqa: ANN401  the contract's interface types it
        """Return what a function of the contract answers."""
        _ = self._fixed_words  # another contract's answers would be taken for ours
        with explained(f"the question {name}"):
            return self._contract.functions[name](*words).call()

    def _read(self, record: Sequence[Any]) -> Anchor:
        """Return the anchor of a record: its index, its size, its root, its time and its block."""
        _, size, root, time, block = record
        with explained("the records"):
            return Anchor(
                chain=self._chain,
                contract=self._address,
                size=size,
                root=bytes(root),
                time=time,
                block=block,
            )

    @property
    def _impossible(self) -> str:
        return f"the node's answer is not one that the contract {self._address} can give."


def _receipt(done: TxReceipt, contract: str, chain: int) -> ChainReceipt:
    return ChainReceipt(
        contract=contract,
        chain=chain,
        transaction=done["transactionHash"].to_0x_hex(),
        gas=done["gasUsed"],
        block=done["blockNumber"],
    )


def checksummed(name: str, value: object) -> ChecksumAddress:
    """Return an address with its checksum, or raise ChainError."""
    if isinstance(value, str) and re.fullmatch("0x[0-9a-fA-F]{40}", value):
        address = Web3.to_checksum_address(value)
        if value[2:] in {address[2:], address[2:].lower(), address[2:].upper()}:
            return address
    raise ChainError(
        f"{name} must be an address, 0x and 40 digits whose large and small letters agree with "
        f"its checksum, got {one_line(repr(value))}."
    )


def check_chain(web3: Web3, expected: int | None) -> int:
    """Return the id of the node's chain, or raise OtherChainError if another one is expected."""
    with explained("the chain's id"):
        found = int(web3.eth.chain_id)
    if expected is not None and found != expected:
        raise OtherChainError(
            f"the node is on chain {found}, and chain {expected} is expected; check its URL."
        )
    return found
