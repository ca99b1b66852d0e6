"""A log at an address: asked over HTTP, and believed in nothing before it is checked."""

from __future__ import annotations

import http.client
import json
import queue
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from functools import cached_property
from typing import Final, TypeVar

from supm._errors import PublicationError
from supm.publication.proof import Proof
from supm.publication.signing import SignedCheckpoint, VerifierKey

_Answer = TypeVar("_Answer")


def within(seconds: float, call: Callable[[], _Answer]) -> _Answer:
    """Return what a call returns, or raise what it raises."""
    outcome: queue.SimpleQueue[_Answer | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(call())
        except Exception as error:  # noqa: BLE001  told by the thread that waits
            outcome.put(error)

    # A daemon, so that who never answers does not keep the process from ending.
    threading.Thread(target=run, daemon=True).start()
    try:
        found = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, Exception):
        try:
            raise found
        finally:
            del found  # else the error and this frame hold each other, and what is open in it
    return found


_SECONDS: Final = 30.0
_SECONDS_FOR_ALL: Final = 60.0
# A page is full with its first 2^20 characters, and an entry of at most 2^24 may follow, which
# JSON makes longer. What else a log answers is short.
_MOST_BYTES: Final = (1 << 20) + 2 * (1 << 24)
_MOST_SHORT: Final = 1 << 20
_LONG: Final = ("entries", "proof")
_STRANGE: Final = "the log answered something that is no answer of a log."


class UnreachableError(PublicationError):
    """A log could not be asked, which says nothing of what it holds."""


class RemoteLog:
    """The log that a service publishes.

    Parameters
    ----------
    address : str
        Of the service: ``https://supm.example``.
    """

    def __init__(self, address: str) -> None:
        try:
            named = urllib.parse.urlsplit(address).hostname
        except ValueError:
            named = None
        if not named or not address.startswith(("http://", "https://")):
            raise PublicationError(
                "the address of a log begins with http:// or https:// and names a host."
            )
        # What people paste from their browser.
        self._address = re.sub(r"/(log|releases)(/.*)?$", "", address.rstrip("/"))

    @cached_property
    def first_key(self) -> VerifierKey:
        """The key with which it began."""
        return VerifierKey.parse(self._text("key"))

    def checkpoint(self) -> SignedCheckpoint:
        """Return the newest signed checkpoint."""
        return SignedCheckpoint.parse(self._text("checkpoint"))

    def entries(self, start: int, stop: int) -> list[str]:
        """Return the texts of entries from one place up to another."""
        found = list[str]()
        while start + len(found) < stop:
            page = self._list(str, "entries", start=start + len(found), stop=stop)
            if not page:
                break
            found += page
        return found

    def places(self, kind: str) -> list[int]:
        """Return where the entries of kind "key" or "chain" are, in order."""
        return self._list(int, "places", kind=kind)

    def find(self, content: str) -> int | None:
        """Return the place of the release of a file, by its SHA-256."""
        found = self._list(int, "find", content=content)
        return found[0] if found else None

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the path from an entry to the root of the first ``size`` entries."""
        return self._hashes("inclusion", index=index, size=size)

    def consistency(self, first: int, second: int) -> list[bytes]:
        """Return the path that shows that the first entries are the beginning of more."""
        return self._hashes("consistency", first=first, second=second)

    def proof(self, content: str) -> Proof:
        """Return the proof of a file that the log would hand out, by the file's SHA-256."""
        return Proof.from_json(self._text(f"proof/{content}"))

    def _hashes(self, what: str, **query: object) -> list[bytes]:
        try:
            return [bytes.fromhex(each) for each in self._list(str, what, **query)]
        except ValueError:
            raise PublicationError(_STRANGE) from None

    def _list(self, kind: type[_Answer], what: str, /, **query: object) -> list[_Answer]:
        """Return a list that the log answers, of which each is of a kind."""
        try:
            found = json.loads(self._get(what, **query))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or any(type(each) is not kind for each in found):
            raise PublicationError(_STRANGE)
        return found

    def _text(self, what: str) -> str:
        return self._get(what).decode(errors="replace")

    def _get(self, what: str, **query: object) -> bytes:
        address = f"{self._address}/log/{what}?{urllib.parse.urlencode(query)}"
        most = _MOST_BYTES if what.startswith(_LONG) else _MOST_SHORT
        try:
            return within(_SECONDS_FOR_ALL, lambda: _asked(address, most))
        except TimeoutError:
            raise UnreachableError(
                "the log did not answer to the end in time; nothing of it was used."
            ) from None
        except (OSError, http.client.HTTPException):
            raise UnreachableError(
                "the log does not answer; check its address, or try again later."
            ) from None
        except ValueError:
            raise UnreachableError("the address of the log is none that can be asked.") from None


class _NoOtherHost(urllib.request.HTTPRedirectHandler):
    """A log that sends its readers elsewhere is not followed."""

    def redirect_request(self, *_: object) -> None:
        return None


_ONE_HOST: Final = urllib.request.build_opener(_NoOtherHost)


def _asked(address: str, most: int) -> bytes:
    """Return an answer, of which so many bytes are read."""
    try:
        with _ONE_HOST.open(address, timeout=_SECONDS) as answer:
            return _read(answer, most)
    except urllib.error.HTTPError as error:
        error.close()
        raise UnreachableError(
            f"the log refused with status {error.code}; is it the address of a log?"
        ) from None


def _read(answer: http.client.HTTPResponse, most: int) -> bytes:
    # Who waits has given up by then, and the thread that reads ends.
    give_up, found = time.monotonic() + _SECONDS_FOR_ALL, bytearray()
    while piece := answer.read1(1 << 16):
        found += piece
        if len(found) > most or time.monotonic() > give_up:
            raise UnreachableError("the log's answer has no end; nothing of it was used.")
    return bytes(found)
