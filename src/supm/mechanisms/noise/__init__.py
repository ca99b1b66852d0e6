"""Noise for sums, matrices and models: exact on whole numbers, and the papers' own on floats."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
