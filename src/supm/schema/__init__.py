"""What is public about a record: its attributes, their bounds and classes, and its target.

A schema is written by hand, read from JSON, or derived from PUBLIC data. It is never learned from
the private data that it describes: every bound and every list of values is known to everybody
before a record is read.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
