"""What was released, provably: a log of entries, signed checkpoints, proofs, and how to check all.

The room ``supm.publication.chain``, which needs an extra, keeps roots of a log on a blockchain.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
