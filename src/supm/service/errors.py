"""Why the service could not do what was asked.

::

    SupmError
    ├── StoreError    the database cannot be opened, read or written; nothing was acknowledged
    ├── UnknownStudy  no study has this name
    ├── StateChanged  a study is no longer as the caller thought
    └── Busy          too many reports wait; come back later

No message holds a value of a report, a token, an invitation or an address of the database.
"""

from __future__ import annotations

from supm._errors import SupmError


class StoreError(SupmError):
    """The database cannot be opened, read or written; nothing of the call is acknowledged."""


class UnknownStudy(SupmError):  # noqa: N818  the contract's name, read as "raise UnknownStudy"
    """No study has this name."""

    def __init__(self) -> None:
        super().__init__("no study has this name; check the address.")


class StateChanged(SupmError):  # noqa: N818  the contract's name, read as "raise StateChanged"
    """A study is no longer in the state that the caller expected; nothing was changed."""


class Busy(SupmError):  # noqa: N818  the contract's name, read as "raise Busy"
    """Too many reports wait for the database; nothing of this one was kept."""
