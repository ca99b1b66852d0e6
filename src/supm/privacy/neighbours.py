"""What is protected: which two inputs an observer of the output can hardly tell apart."""

from __future__ import annotations

import enum
from typing import Final

from supm._errors import ParameterError


class Neighbours(enum.Enum):
    """The pairs of inputs that a promise is about.

    Attributes
    ----------
    REPLACE_ONE
        Two tables of the same size that differ in one record. The size is public.
    ADD_REMOVE
        Two tables of which one has one record more.
    ANY_RECORDS
        Any two records that one owner could hold. This is the relation of local privacy.

    Examples
    --------
    >>> Neighbours.named("replace-one")
    Neighbours.REPLACE_ONE
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"
    ANY_RECORDS = "any-records"

    @property
    def clause(self) -> str:
        """The difference between neighbours, as the first half of a sentence."""
        return _CLAUSES[self]

    def __repr__(self) -> str:
        return f"Neighbours.{self.name}"

    @classmethod
    def check(cls, value: object) -> Neighbours:
        """Return the value if it is a relation, or raise ParameterError."""
        if isinstance(value, cls):
            return value
        choices = ", ".join(f"Neighbours.{one.name}" for one in cls)
        error = ParameterError("neighbours", f"one of {choices}", value)
        raise error

    @classmethod
    def named(cls, name: object) -> Neighbours:
        """Return the relation of that name, or raise ParameterError."""
        for one in cls:
            if one.value == name:
                return one
        choices = ", ".join(one.value for one in cls)
        error = ParameterError("neighbours", f"one of {choices}", name)
        raise error


_CLAUSES: Final = {
    Neighbours.REPLACE_ONE: "If one record of the table were any other",
    Neighbours.ADD_REMOVE: "If one record were added to the table or left out of it",
    Neighbours.ANY_RECORDS: "If the owner held any other record",
}
