"""The contract of a log: as it was compiled, what it says, and how it is asked through a node."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final, cast

from supm._errors import ParameterError
from supm._validation import Integers
from supm.publication.chain.errors import ChainError, OtherChainError, one_line
from supm.publication.chain.node import (
    BaseProvider,
    ChecksumAddress,
    Contract,
    Web3,
    connect,
    explained,
)

SIZE: Final = Integers("size", 1, (1 << 64) - 1, "An empty log has nothing to anchor.")


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """What the chain says of one size of the log.

    Parameters
    ----------
    size : int
        The number of entries in the log.
    root : bytes
        The 32 bytes of the Merkle root of that many entries.
    time : int
        When, in seconds since 1970, according to the block.
    index : int
        How many anchors the contract had before this one.
    block : int
        The number of the block.
    publisher : str
        The only address that could anchor it.
    contract : str
        The address of the contract.
    chain : int
        The chain's id; 1 is Ethereum's main network.

    Examples
    --------
    >>> anchor = Anchor(size=8, root=bytes(31) + b"!", time=1_800_000_000, index=0, block=77,
    ...                 publisher="0x…", contract="0x…", chain=1)
    >>> anchor.size, anchor.root[-1:]
    (8, b'!')
    """

    size: int
    root: bytes
    time: int
    index: int
    block: int
    publisher: str
    contract: str
    chain: int

    def __post_init__(self) -> None:
        """Refuse what no contract of ours can hold."""
        SIZE.check(self.size)
        check_32_bytes("root", self.root)


@dataclass(frozen=True, kw_only=True)
class ChainReceipt:
    """What a deployment or an anchoring left behind.

    Parameters
    ----------
    contract : str
        The address of the contract.
    chain : int
        The chain's id.
    transaction : str
        The hash by which everybody can look the transaction up, as 0x and 64 digits.
    gas : int
        The units of gas that it used.
    block : int
        The number of the block that it is in.

    Examples
    --------
    >>> ChainReceipt(contract="0x…", chain=1, transaction="0x…", gas=113_000, block=77).gas
    113000
    """

    contract: str
    chain: int
    transaction: str
    gas: int
    block: int


def check_32_bytes(name: str, value: object) -> bytes:
    """Return 32 bytes, or raise ParameterError."""
    if isinstance(value, bytes) and len(value) == 32:
        return value
    raise ParameterError(name, "32 bytes", value)


_WORD = 32


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """What the compiler made of ``anchor.vy``."""

    abi: list[dict[str, Any]]
    bytecode: bytes
    runtime: bytes
    compiler: str

    def creation(self, log: bytes) -> bytes:
        """Return what a transaction must carry to make the contract of a log."""
        return self.bytecode + log

    def fixed_words(self, code: bytes) -> tuple[bytes, bytes, int] | None:
        """Return log, publisher and block of birth from a contract's code, if it is one of ours."""
        fixed = code[len(self.runtime) :]
        if code[: len(self.runtime)] != self.runtime or len(fixed) != 3 * _WORD:
            return None
        log, publisher, born = fixed[:_WORD], fixed[_WORD : 2 * _WORD], fixed[2 * _WORD :]
        return log, publisher[-20:], int.from_bytes(born)


@cache
def artefact() -> Artefact:
    """Return what is shipped in ``anchor.json``."""
    form = json.loads((files("supm.publication.chain") / "anchor.json").read_text("utf-8"))
    return Artefact(
        abi=form["abi"],
        bytecode=bytes.fromhex(form["bytecode"]),
        runtime=bytes.fromhex(form["runtime"]),
        compiler=form["compiler"],
    )


# Ten anchors a day for 28 years.
_MOST: Final = 100_000
_PAGE: Final = 64  # of the contract


class ContractReader:
    """The contract at an address; nothing is asked before it is needed."""

    def __init__(self, where: str | BaseProvider, address: str, expected: int | None) -> None:
        self.web3 = connect(where)
        self.address = checksummed("contract", address)
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


def checksummed(name: str, value: object) -> ChecksumAddress:
    """Return an address with its checksum, or raise ChainError."""
    if isinstance(value, str) and re.fullmatch("0x[0-9a-fA-F]{40}", value):
        address = Web3.to_checksum_address(value)
        if value[2:] in {address[2:], address[2:].lower(), address[2:].upper()}:
            return address
    message = (
        f"{name} must be an address, 0x and 40 digits whose large and small letters agree with "
        f"its checksum, got {one_line(repr(value))}."
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
