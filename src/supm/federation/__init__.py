"""A few parties with a table each learn together: only noisy sums over all of them are seen."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
