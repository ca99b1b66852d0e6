"""What a chain, its node or its contract refuses, in one sentence."""

from __future__ import annotations

from typing import Final

from supm._errors import SupmError

_LONGEST: Final = 160


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
