"""Roots of a log's checkpoints on an Ethereum chain, where nobody can take them back.

One contract (``anchor.vy``) belongs to one log. It keeps the root of each size that the log's
publisher anchored, with the time of the block, and refuses a second root for a size. `Chain` is the
client of any node that speaks JSON-RPC. `Chain.check_code` shows that an address holds this
contract and was made as it should be; a reader begins with it.

What is here needs an extra, and is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supm._lazy import names_on_demand
from supm.publication.chain.errors import ChainError

if TYPE_CHECKING:
    from supm.publication.chain.accounts import ChainAccount, make_account, read_account
    from supm.publication.chain.client import Chain, chain_of, deploy
    from supm.publication.chain.contract import Anchor, ChainReceipt

__all__ = [
    "Anchor",
    "Chain",
    "ChainAccount",
    "ChainError",
    "ChainReceipt",
    "chain_of",
    "deploy",
    "make_account",
    "read_account",
]

_find = names_on_demand(
    __name__,
    {
        "accounts": "ChainAccount make_account read_account",
        "client": "Chain chain_of deploy",
        "contract": "Anchor ChainReceipt",
    },
)


def __getattr__(name: str) -> Any:  # noqa: ANN401  each name has a type of its own
    """Load a name from the file that holds it, or say which package is missing."""
    try:
        return _find(name)
    except ImportError as error:
        message = f"this needs the package {error.name}; run pip install 'supm[chain]'."
        raise ChainError(message) from None
