"""Is a promise true? Checks that every mechanism passes, shipped for everybody's mechanisms.

Exact checks compare the channel with the claim in fractions; statistical checks compare the
sampler with the channel at a family-wise error of 10^-6; `epsilon_lower_bound` needs samples alone
and works on any callable.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
