"""What the client of a chain returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from supm._errors import ParameterError
from supm._validation import Integers

__all__ = ["SIZE", "Anchor", "Receipt", "check_hash"]

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
        check_hash("root", self.root)


@dataclass(frozen=True, kw_only=True)
class Receipt:
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
    >>> Receipt(contract="0x…", chain=1, transaction="0x…", gas=113_000, block=77).gas
    113000
    """

    contract: str
    chain: int
    transaction: str
    gas: int
    block: int


def check_hash(name: str, value: object) -> bytes:
    """Return 32 bytes, or raise ParameterError.

    Examples
    --------
    >>> check_hash("root", b"short")
    Traceback (most recent call last):
    supm._errors.ParameterError: root must be 32 bytes, got b'short'.
    """
    if isinstance(value, bytes) and len(value) == 32:
        return value
    raise ParameterError(name, "32 bytes", value)
