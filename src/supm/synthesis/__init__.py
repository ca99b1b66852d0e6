"""Learning from records that were noised long ago: archives, noise laws, synthetic tables."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
