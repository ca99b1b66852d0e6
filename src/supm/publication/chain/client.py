"""The client of the contract: deploy it, check it, anchor a root, read what was anchored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm.publication.chain.accounts import Account
from supm.publication.chain.contract import artefact
from supm.publication.chain.errors import ChainError, needing_web3
from supm.publication.chain.values import SIZE, Anchor, Receipt, check_hash

if TYPE_CHECKING:
    from supm.publication.chain._library import BaseProvider, TxReceipt

__all__ = ["Chain", "chain_of", "deploy"]


def deploy(
    url: str | BaseProvider, account: Account, log: bytes, *, chain: int | None = None
) -> Receipt:
    """Make the contract of a log; the account is its publisher for ever.

    Parameters
    ----------
    url : str or web3 provider
        A node that speaks JSON-RPC over HTTP.
    account : Account
        Who signs and pays, and who alone can anchor later.
    log : bytes
        The 32 bytes that name the log: the SHA-256 of the first line of its verifier key.
    chain : int, optional
        The id of the chain that is meant; a node on another one is refused.

    Returns
    -------
    Receipt
        With the contract's address.

    Examples
    --------
    >>> publisher = Account(bytes(31) + b"1")
    >>> deploy("node.example", publisher, bytes(32))
    Traceback (most recent call last):
    supm.publication.chain.errors.ChainError: the node's URL must begin with http:// or https://
    and name a host.
    """
    check_hash("log", log)
    with needing_web3():
        from supm.publication.chain.node import connect  # noqa: PLC0415  an extra
        from supm.publication.chain.reading import check_chain  # noqa: PLC0415  the same
        from supm.publication.chain.sending import send  # noqa: PLC0415  the same
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
    with needing_web3():
        from supm.publication.chain.node import connect  # noqa: PLC0415  an extra
        from supm.publication.chain.reading import check_chain  # noqa: PLC0415  the same
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
        with needing_web3():
            from supm.publication.chain.reading import Reader  # noqa: PLC0415  an extra
        self._reader = Reader(url, contract, chain)

    def __repr__(self) -> str:
        return f"Chain(contract={self._reader.address!r})"

    def check_code(self, *, log: bytes, publisher: str | None = None) -> str:
        """Raise ChainError unless the address holds this package's contract, made as it should be.

        The code is compared byte for byte. That is not enough: whoever makes a contract can leave
        false roots and times in its storage and this very code above them. So the transaction that
        made it is looked up in its block, and must have carried what this package sends.

        Parameters
        ----------
        log : bytes
            The 32 bytes that name the log.
        publisher : str, optional
            The address that must be the publisher's.

        Returns
        -------
        str
            The publisher's address.
        """
        from supm.publication.chain.reading import check_address  # noqa: PLC0415  an extra

        check_hash("log", log)
        wanted = None if publisher is None else check_address("publisher", publisher)
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

    def anchor(self, account: Account, size: int, root: bytes) -> Receipt:
        """Store the root of a size, larger than all before, for ever.

        Parameters
        ----------
        account : Account
            The publisher's. It signs here; the node sees the signed transaction only.
        size : int
            The number of entries in the log.
        root : bytes
            The 32 bytes of the Merkle root of that many entries.

        Returns
        -------
        Receipt
            Once the transaction is in a block.
        """
        from supm.publication.chain.sending import send  # noqa: PLC0415  an extra

        size, root, reader = SIZE.check(size), check_hash("root", root), self._reader
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


def _receipt(done: TxReceipt, contract: str, chain: int) -> Receipt:
    return Receipt(
        contract=contract,
        chain=chain,
        transaction=done["transactionHash"].to_0x_hex(),
        gas=done["gasUsed"],
        block=done["blockNumber"],
    )
