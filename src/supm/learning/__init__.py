"""From statistics to models. Nothing here knows about privacy, files or networks."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
