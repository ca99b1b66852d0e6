"""Roots of a log's checkpoints on an Ethereum chain, where nobody can take them back.

One contract (``anchor.vy``) belongs to one log. It keeps the root of each size that the log's
publisher anchored, with the time of the block, and refuses a second root for a size. `Chain` is the
client of any node that speaks JSON-RPC. `Chain.check_code` shows that an address holds this
contract and was made as it should be; a reader begins with it.

What is here needs an extra, and is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.publication.chain.accounts import ChainAccount, make_account, read_account
    from supm.publication.chain.client import Chain, chain_of, deploy
    from supm.publication.chain.contract import Anchor, ChainReceipt
    from supm.publication.chain.errors import ChainError

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

__getattr__ = names_on_demand(
    __name__,
    {
        "accounts": "ChainAccount make_account read_account",
        "client": "Chain chain_of deploy",
        "contract": "Anchor ChainReceipt",
        "errors": "ChainError",
    },
)
