"""What is public about a record: its attributes, their bounds and classes, and its target.

A schema is written by hand, read from JSON, or derived from PUBLIC data. It is never learned from
the private data that it describes: every bound and every list of values is known to everybody
before a record is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
from supm.schema.discretization import discretize
from supm.schema.discretizer import Discretizer
from supm.schema.intervals import CutPoints, EqualWidth
from supm.schema.merging import MergeModulo, MergeNeighbours
from supm.schema.records import Records
from supm.schema.regrouping import Regrouped
from supm.schema.schema import Schema, as_schema
from supm.schema.text_table import TextTable, read_csv

if TYPE_CHECKING:
    from supm.schema.deriving import Derived, derive

__all__ = [
    "Attribute",
    "Categorical",
    "Continuous",
    "CutPoints",
    "Derived",
    "Discretizer",
    "EqualWidth",
    "MergeModulo",
    "MergeNeighbours",
    "Ordinal",
    "Records",
    "Regrouped",
    "Schema",
    "TextTable",
    "as_schema",
    "derive",
    "discretize",
    "read_csv",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever the name stands for
    """Load what describes public data when it is asked for: an owner never needs it."""
    if name not in ("Derived", "derive"):
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from supm.schema import deriving  # noqa: PLC0415  see above

    return getattr(deriving, name)
