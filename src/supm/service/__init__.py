"""The aggregator over HTTP: api, store and pages.

What a name needs is imported when it is first used.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
