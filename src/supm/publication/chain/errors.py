"""What a chain, its node or its contract refuses, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from supm._errors import SupmError

__all__ = ["ChainError", "OtherChainError", "UnreachableNodeError", "needing_web3", "printable"]

_LONGEST: Final = 160


class ChainError(SupmError):
    """A chain cannot be read or written. It shows no key and nothing of a node's URL."""


class UnreachableNodeError(ChainError):
    """A node could not be asked, which says nothing of what is on the chain."""


class OtherChainError(ChainError):
    """The node is on another chain, which says nothing of what is on the one that is meant."""


@contextmanager
def needing_web3() -> Iterator[None]:
    """Say what to install where an import in this block fails."""
    try:
        yield
    except ImportError as error:
        message = f"this needs the package {error.name}; run pip install 'supm[chain]'."
        raise ChainError(message) from None


def printable(text: object) -> str:
    r"""Return a stranger's text as part of one line: cut short, without line ends or controls.

    Examples
    --------
    >>> printable("nonce too low\n\x1b[2J.")
    'nonce too low  [2J'
    """
    kept = "".join(each if each.isprintable() else " " for each in str(text)[:_LONGEST])
    return kept.strip().rstrip(".")
