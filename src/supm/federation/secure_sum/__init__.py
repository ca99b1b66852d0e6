"""Sums over parties of which only the total is seen, as pure steps on bytes.

Each pair of parties shares a mask that vanishes in the sum (K. Bonawitz et al., Practical secure
aggregation for privacy-preserving machine learning, CCS 2017). Every round has keys of its own, so
that recovering a lost party in one round opens nothing of another. docs/proofs/secure-sum.md says
who sees what, and under which assumptions.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
