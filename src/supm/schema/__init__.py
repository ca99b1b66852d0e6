"""What is public about a record: its attributes, their bounds and classes, and its target.

A schema is written by hand or read from JSON. It is never learned from the private data that it
describes: every bound and every list of values is known to everybody before a record is read.
"""

from __future__ import annotations

from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal
from supm.schema.discretization import discretize
from supm.schema.discretizer import Discretizer
from supm.schema.intervals import CutPoints, EqualWidth
from supm.schema.merging import MergeModulo, MergeNeighbours
from supm.schema.records import Records
from supm.schema.regrouping import Regrouped
from supm.schema.schema import Schema

__all__ = [
    "Attribute",
    "Categorical",
    "Continuous",
    "CutPoints",
    "Discretizer",
    "EqualWidth",
    "MergeModulo",
    "MergeNeighbours",
    "Ordinal",
    "Records",
    "Regrouped",
    "Schema",
    "discretize",
]
