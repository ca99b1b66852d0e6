"""The contract of a log: as it was compiled, what a chain says of it, and how it is refused.

Nothing here needs a package of the extra, so that evidence can be read without it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Self

from supm._errors import ParameterError, SupmError
from supm._validation import Integers
from supm.messages.codec import Message
from supm.publication.entry import check_account_or_contract

_LONGEST: Final = 160
_WORD: Final = 32
# What 64 bits of a contract can hold: whoever may anchor there can say that a log has as many.
_MOST: Final = (1 << 64) - 1
_WHOLE: Final = re.compile("[0-9]{1,20}")
SIZE: Final = Integers("size", 1, _MOST, "An empty log has nothing to anchor.")


class ChainError(SupmError):
    """A chain cannot be read or written. It shows no key and nothing of a node's URL."""


class UnreachableNodeError(ChainError):
    """A node could not be asked, which says nothing of what is on the chain."""


class OtherChainError(ChainError):
    """The node is on another chain, which says nothing of what is on the one that is meant."""


def one_line(text: object) -> str:
    r"""Return a stranger's text as part of one line: cut short, without line ends or controls."""
    kept = "".join(each if each.isprintable() else " " for each in str(text)[:_LONGEST])
    return kept.strip().rstrip(".")


@dataclass(frozen=True, kw_only=True)
class Anchor(Message):
    """What a chain says of one size of the log; only a node of it can confirm what is told.

    Parameters
    ----------
    chain : int
        The chain's id; 1 is Ethereum's main network.
    contract : str
        The address of the contract.
    size : int
        The number of entries in the log.
    root : bytes
        The 32 bytes of the Merkle root of that many entries.
    time : int
        When, in seconds since 1970, according to the block.
    block : int
        The number of the block.

    Examples
    --------
    >>> anchor = Anchor(chain=1, contract="0x" + "ab" * 20, size=8, root=bytes(31) + b"!",
    ...                 time=1_800_000_000, block=77)
    >>> anchor.size, anchor.root[-1:]
    (8, b'!')
    """

    noun = "an anchor"
    chain: int
    contract: str
    size: int
    root: bytes
    time: int
    block: int

    def __post_init__(self) -> None:
        """Refuse what no contract of ours can hold."""
        SIZE.check(self.size)
        for name, least in (("chain", 1), ("time", 0), ("block", 0)):
            Integers(name, least, _MOST).check(getattr(self, name))
        check_account_or_contract("contract", self.contract)
        check_32_bytes("root", self.root)

    def to_form(self) -> dict[str, Any]:
        """Return it as plain values for JSON; a contract may hold a size beyond those of JSON."""
        return super().to_form() | {"size": str(self.size)}

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote."""
        held = cls._checked(form)
        size = held["size"]
        if not isinstance(size, str) or _WHOLE.fullmatch(size) is None:
            raise cls.refusal(f"the size of {cls.noun} must be a whole number as text.")
        return super().from_form(held | {"size": int(size)})


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
    if isinstance(value, bytes) and len(value) == _WORD:
        return value
    raise ParameterError(name, "32 bytes", value)


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """What the compiler made of ``anchor.vy``."""

    abi: list[dict[str, Any]]
    bytecode: bytes
    runtime: bytes

    def creation(self, log: bytes) -> bytes:
        """Return what a transaction must carry to make the contract of a log."""
        return self.bytecode + log

    def fixed_words(self, code: bytes) -> tuple[bytes, bytes, int] | None:
        """Return log, publisher and block of birth from a contract's code, if it is one of ours."""
        fixed = code.removeprefix(self.runtime)
        if fixed == code or len(fixed) != 3 * _WORD:
            return None
        log, publisher, born = fixed[:_WORD], fixed[_WORD : 2 * _WORD], fixed[2 * _WORD :]
        return log, publisher[-20:], int.from_bytes(born)


@cache
def artefact() -> Artefact:
    """Return what is shipped in ``anchor.json``."""
    form = json.loads((files("supm.publication.chain") / "anchor.json").read_text("utf-8"))
    code, runtime = bytes.fromhex(form["bytecode"]), bytes.fromhex(form["runtime"])
    return Artefact(abi=form["abi"], bytecode=code, runtime=runtime)
