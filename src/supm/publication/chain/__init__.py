"""Roots of a log's checkpoints on an Ethereum chain, where nobody can take them back.

One contract (``anchor.vy``) belongs to one log. It keeps the root of each size that the log's
publisher anchored, with the time of the block, and refuses a second root for a size. `Chain` is the
client of any node that speaks JSON-RPC. `Chain.check_code` shows that an address holds this
contract and was made as it should be; a reader begins with it.

What is here needs an extra, and is loaded when it is asked for.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
