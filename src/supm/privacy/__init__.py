"""What is promised and what was spent: guarantees, neighbours, events, composition, budget."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
