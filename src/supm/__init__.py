"""SUPM: machine learning from people's data with nobody trusted to hold it.

What a name needs is loaded when it is first used.
"""

from supm._lazy import names_on_demand

__version__ = "0.1.0.dev0"
__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
