"""SUPM: machine learning from people's data with nobody trusted to hold it."""

from __future__ import annotations

from supm._errors import (
    BudgetError,
    DatasetError,
    FederationError,
    MessageError,
    ParameterError,
    PromiseError,
    PublicationError,
    RecordError,
    SchemaError,
    SupmError,
)
from supm._random import RandomSource, secure, simulation

__version__ = "0.1.0.dev0"
__all__ = [
    "BudgetError",
    "DatasetError",
    "FederationError",
    "MessageError",
    "ParameterError",
    "PromiseError",
    "PublicationError",
    "RandomSource",
    "RecordError",
    "SchemaError",
    "SupmError",
    "__version__",
    "secure",
    "simulation",
]
