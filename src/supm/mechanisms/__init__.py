"""Mechanisms: frozen values that sample, state their own epsilon and invert their own channel."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
