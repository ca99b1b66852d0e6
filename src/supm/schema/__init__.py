"""What is public about a record: its attributes, their bounds and classes, and its target.

A schema is written by hand, read from JSON, or derived from PUBLIC data. It is never learned from
the private data that it describes: every bound and every list of values is known to everybody
before a record is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
    from supm.schema.deriving import Derived, derive
    from supm.schema.discretization import discretize
    from supm.schema.discretizer import Discretizer
    from supm.schema.intervals import CutPoints, EqualWidth
    from supm.schema.merging import MergeModulo, MergeNeighbours, Regrouped
    from supm.schema.records import Records
    from supm.schema.schema import Schema, as_schema
    from supm.schema.text_table import TextTable, read_csv

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

__getattr__ = names_on_demand(
    __name__,
    {
        "attributes": "Attribute Categorical Continuous Ordinal",
        "deriving": "Derived derive",
        "discretization": "discretize",
        "discretizer": "Discretizer",
        "intervals": "CutPoints EqualWidth",
        "merging": "MergeModulo MergeNeighbours Regrouped",
        "records": "Records",
        "schema": "Schema as_schema",
        "text_table": "TextTable read_csv",
    },
)
