"""Roots of a log's checkpoints on an Ethereum chain, where nobody can take them back.

One contract (``anchor.vy``) belongs to one log. It keeps the root of each size that the log's
publisher anchored, with the time of the block, and refuses a second root for a size. `Chain` is the
client of any node that speaks JSON-RPC. `Chain.check_code` shows that an address holds this
contract and was made as it should be; a reader begins with it.
"""

from supm.publication.chain.accounts import Account, make_account, read_account
from supm.publication.chain.client import Chain, chain_of, deploy
from supm.publication.chain.errors import ChainError
from supm.publication.chain.values import Anchor, Receipt

__all__ = [
    "Account",
    "Anchor",
    "Chain",
    "ChainError",
    "Receipt",
    "chain_of",
    "deploy",
    "make_account",
    "read_account",
]
