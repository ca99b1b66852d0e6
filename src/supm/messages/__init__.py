"""What crosses a wire: study, report, model and statement; versioned, in canonical JSON."""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
