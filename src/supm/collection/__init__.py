"""What the analyst does with people's reports: plan, count, reduce, train, evaluate, simulate.

What a name needs is loaded when it is first used.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
