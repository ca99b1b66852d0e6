"""The scikit-learn face of SUPM: a study, a table, or several tables, in one object.

What a name needs is loaded when it is first used.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
