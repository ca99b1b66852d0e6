"""What the service reads from a log of releases, for its interface and for its pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.requests import Request

from supm._errors import PublicationError
from supm.publication.entry import ReleaseEntry, read_entry
from supm.publication.history import entry_at
from supm.publication.log import Log
from supm.publication.proof import Proof, make_proof
from supm.service.errors import StoreError

_MOST_BYTES: Final = 180
_PLAIN: Final = frozenset("._-+=@()[], ")
_NO_NAME: Final = "release"


@contextmanager
def reading_log() -> Iterator[None]:
    """Turn what goes wrong with the file of a log into an answer that names no file."""
    try:
        yield
    except PublicationError:
        message = "the log cannot be read."
        raise StoreError(message) from None


def log_of(request: Request) -> Log:
    """Return the log of the service."""
    log: Log = request.app.state.log
    return log


def release_at(log: Log, place: int) -> ReleaseEntry:
    """Return the release at a place."""
    entry = read_entry(entry_at(log, place))
    if not isinstance(entry, ReleaseEntry):
        message = f"entry {place} is no release of a file."
        raise PublicationError(message)
    return entry


def shown_proof(log: Log, place: int) -> Proof:
    """Return the proof of a release, under the checkpoint that is best to show."""
    return make_proof(log, place, log.anchored(place))


def safe_name(name: str) -> str:
    """Return a name under which a file can be stored anywhere, close to the one it was given.

    Examples
    --------
    >>> safe_name("release.json")
    'release.json'
    >>> safe_name('..$(reboot)".html')
    '(reboot)_.html'
    """
    plain = "".join(each if each.isalnum() or each in _PLAIN else "_" for each in name)
    short = plain.encode()[:_MOST_BYTES].decode(errors="ignore")
    return short.lstrip("._- ").rstrip(". ") or _NO_NAME
