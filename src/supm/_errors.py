"""Every way in which SUPM refuses, as one tree.

::

    SupmError
    ├── ParameterError  (ValueError)  a public parameter breaks its constraint; the value is shown
    ├── SchemaError     (ValueError)  a public description of records is wrong; the name is shown
    ├── MessageError    (ValueError)  a message is not one that this version understands
    ├── RecordError     (ValueError)  a private value breaks the description; it is NOT shown
    ├── BudgetError                   a promise would be over-spent; nothing was done
    ├── PromiseError                  a mechanism does not keep what it claims
    ├── FederationError               parties cannot go on together; it names a party by number
    ├── PublicationError              a release, a proof or a log is not what it claims to be
    ├── DatasetError                  a public data set is missing or is not the expected file
    └── PackageError    (ModuleNotFoundError)  a package of an extra is not installed

A message is one sentence that says what, the constraint and what was got, then a hint. What was got
is shown for public parameters only: a record never appears in an exception, because exceptions end
in logs.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "DatasetError",
    "FederationError",
    "MessageError",
    "PackageError",
    "ParameterError",
    "PromiseError",
    "PublicationError",
    "RecordError",
    "SchemaError",
    "SupmError",
]


class SupmError(Exception):
    """Base of all errors that SUPM raises on purpose."""


class ParameterError(SupmError, ValueError):
    """A public parameter breaks its constraint.

    Parameters
    ----------
    name : str
        The parameter, as the caller spells it.
    constraint : str
        What it must be, to follow "must be".
    got : object
        The value that was given. It is public, so it is shown.
    hint : str, optional
        What to do about it.
    """

    name = ""
    """The parameter; it is what the sentence begins with."""

    def __init__(self, name: str, constraint: str, got: object, hint: str = "") -> None:
        self.name = name
        sentence = f"{name} must be {constraint}, got {_short(got)}."
        super().__init__(f"{sentence} {hint}".rstrip())

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes as the finished sentence."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class PackageError(SupmError, ModuleNotFoundError):
    """A package of an extra is not installed; it names the extra."""


class SchemaError(SupmError, ValueError):
    """A public description of records is wrong: it names the attribute and the rule."""


class MessageError(SupmError, ValueError):
    """A message is not one that this version understands; nothing of it was used."""


class RecordError(SupmError, ValueError):
    """A private value breaks the public description. It names the attribute and never the value.

    Parameters
    ----------
    fact : str
        What is wrong: a sentence, or the part of it before the advice.
    advice : str, optional
        What whoever wrote the description may do; an owner, who did not, can do none of it.
    attribute : str, optional
        The name of the attribute.
    """

    def __init__(self, fact: str, advice: str = "", *, attribute: str | None = None) -> None:
        super().__init__(f"{fact}; {advice}." if advice else fact)
        self.fact, self.attribute = fact, attribute


class BudgetError(SupmError):
    """A promise would be over-spent. It is raised before anything is drawn or sent."""


class PromiseError(SupmError):
    """A mechanism does not keep the promise that it claims."""


class FederationError(SupmError):
    """Several parties cannot go on together. It names one by its number, never what it holds."""


class PublicationError(SupmError):
    """A release, a proof or a log is not what it claims to be, and is not believed."""


class DatasetError(SupmError):
    """A public data set is missing or is not the expected file."""


def _short(value: object, limit: int = 60) -> str:
    kind = type(value).__name__
    # A table given for a parameter by mistake may hold records, so its content is not shown.
    if getattr(value, "shape", ()) or isinstance(value, list | tuple | dict | set | frozenset):
        return f"a {kind}"
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print a whole number of more than 4300 digits
        return f"a {kind} too large to show"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
