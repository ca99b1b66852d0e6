"""What the aggregator keeps: studies, reports and counts, in SQLite or PostgreSQL."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
