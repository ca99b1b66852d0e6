"""A contract at an address, asked through one node: what it is, how it was made, what it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, cast

from supm.publication.chain._library import BaseProvider, ChecksumAddress, Contract, Web3
from supm.publication.chain.contract import artefact
from supm.publication.chain.errors import ChainError, OtherChainError, printable
from supm.publication.chain.node import connect, explained
from supm.publication.chain.values import Anchor

__all__ = ["Reader", "check_address", "check_chain"]

# Ten anchors a day for 28 years.
_MOST: Final = 100_000
_PAGE: Final = 64  # of the contract


class Reader:
    """The contract at an address; nothing is asked before it is needed.

    Parameters
    ----------
    where : str or web3 provider
        The node.
    address : str
        The contract's.
    expected : int or None
        The id of the chain that is meant.
    """

    def __init__(self, where: str | BaseProvider, address: str, expected: int | None) -> None:
        self.web3 = connect(where)
        self.address = check_address("contract", address)
        self._expected = expected

    @cached_property
    def chain(self) -> int:
        """The id of the node's chain, which is the one that is meant."""
        return check_chain(self.web3, self._expected)

    @cached_property
    def contract(self) -> Contract:
        """The functions of the contract."""
        return self.web3.eth.contract(address=self.address, abi=artefact().abi)

    @cached_property
    def fixed_words(self) -> tuple[bytes, str, int]:
        """Log, publisher and block of birth, from code that is this package's but for them."""
        chain = self.chain
        with explained(f"the contract {self.address}"):
            code = bytes(self.web3.eth.get_code(self.address))
        if not code:
            message = f"there is no contract at {self.address} on chain {chain}."
            raise ChainError(message)
        words = artefact().fixed_words(code)
        if words is None:
            message = f"the code at {self.address} is not the contract of this version of SUPM."
            raise ChainError(message)
        return words[0], Web3.to_checksum_address(words[1]), words[2]

    def check_birth(self) -> None:
        """Raise ChainError unless the contract was made by a transaction like ours."""
        log, _, born = self.fixed_words
        with explained(f"block {born}"):
            block = self.web3.eth.get_block(born, full_transactions=True)
            carried = cast("list[Mapping[str, Any]]", block["transactions"])
            made = [self._made_by(each, log) for each in carried]
        if self.address not in made:
            message = (
                f"the contract {self.address} was not made as this version of SUPM makes it in "
                f"block {born}, so that its first anchors may be false."
            )
            raise ChainError(message)

    def call(self, name: str, *words: int) -> Any:  # noqa: ANN401  the contract's interface types it
        """Return what a function of the contract answers."""
        _ = self.fixed_words  # another contract's answers would be taken for ours
        with explained(f"the question {name}"):
            return self.contract.functions[name](*words).call()

    def anchor(self, size: int) -> Anchor | None:
        """Return what was anchored for a size."""
        record = self.call("record", size)
        if not any(record[2]):
            return None
        [found] = self._anchors([record])
        if found.size != size:
            raise ChainError(self._impossible)
        return found

    def anchors(self) -> list[Anchor]:
        """Return all anchors, page by page."""
        count, found = self.call("count"), list[Anchor]()
        if count > _MOST:
            raise ChainError(self._impossible)
        while len(found) < count:
            page = self._anchors(self.call("page", len(found)))
            # A node that tells less than the contract would have us ask for ever.
            if len(page) != min(_PAGE, count - len(found)):
                raise ChainError(self._impossible)
            self._check_order(found, page)
            found += page
        return found

    def _made_by(self, transaction: Mapping[str, Any], log: bytes) -> str | None:
        """Return the address of the contract that a transaction made, if it made it as we would."""
        # The chain in a process, with which tests run, says "data".
        carried = bytes(transaction["input"] if "input" in transaction else transaction["data"])
        if transaction.get("to") or carried != artefact().creation(log):
            return None
        receipt = self.web3.eth.get_transaction_receipt(transaction["hash"])
        return receipt["contractAddress"] if receipt["status"] == 1 else None

    def _anchors(self, records: Sequence[tuple[int, int, bytes, int, int]]) -> list[Anchor]:
        with explained("the records"):
            return [
                Anchor(
                    size=size,
                    root=bytes(root),
                    time=time,
                    index=index,
                    block=height,
                    publisher=self.fixed_words[1],
                    contract=self.address,
                    chain=self.chain,
                )
                for index, size, root, time, height in records
            ]

    def _check_order(self, before: list[Anchor], page: list[Anchor]) -> None:
        """Refuse what the contract cannot have answered, which could go on for ever."""
        places = range(len(before), len(before) + len(page))
        numbered = [each.index for each in page] == list(places)
        grows = all(a.size < b.size for a, b in pairwise([*before[-1:], *page]))
        if not (page and numbered and grows):
            raise ChainError(self._impossible)

    @property
    def _impossible(self) -> str:
        return f"the node's answer is not one that the contract {self.address} can give."


def check_address(name: str, value: object) -> ChecksumAddress:
    """Return an address with its checksum, or raise ChainError.

    Examples
    --------
    >>> check_address("contract", "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf")
    '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'
    """
    if isinstance(value, str) and re.fullmatch("0x[0-9a-fA-F]{40}", value):
        address = Web3.to_checksum_address(value)
        if value[2:] in {address[2:], address[2:].lower(), address[2:].upper()}:
            return address
    message = (
        f"{name} must be an address, 0x and 40 digits whose large and small letters agree with "
        f"its checksum, got {printable(repr(value))}."
    )
    raise ChainError(message)


def check_chain(web3: Web3, expected: int | None) -> int:
    """Return the id of the node's chain, or raise OtherChainError if another one is expected."""
    with explained("the chain's id"):
        found = int(web3.eth.chain_id)
    if expected is not None and found != expected:
        message = f"the node is on chain {found}, and chain {expected} is expected; check its URL."
        raise OtherChainError(message)
    return found
