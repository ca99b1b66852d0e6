"""HTTP from the command line and from owners: the standard library, retries, one sentence."""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from supm._errors import ParameterError, SupmError

_AGAIN: Final = (429, 503)
# An answer that is longer is no sentence.
_LONGEST: Final = 1000
_LONGEST_WAIT: Final = 30.0
_LARGEST: Final = 1 << 26
_HERE: Final = ("127.0.0.1", "::1", "localhost")
_JSON: Final = "application/json"


class RemoteError(SupmError):
    """An aggregator cannot be reached, or does not answer as one."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry a token or an invitation to another place."""

    def redirect_request(self, *_: object) -> None:
        return None


class Remote:
    """One aggregator, by HTTP.

    Parameters
    ----------
    url : str
        Where it is: ``https://host`` or ``http://127.0.0.1:8000``; paths are put behind it.
    token : str, optional
        The analyst's. It is sent over https, or to this machine, and nowhere else.
    timeout : float, default 30.0
        Seconds until an answer must be there.
    attempts : int, default 6
        How often a request is sent at most where the aggregator cannot be reached, or says that it
        is busy; 1 for what must not be done twice.
    wait : callable, optional
        What waits for so many seconds; `time.sleep` by default.

    Notes
    -----
    Certificates are verified. Redirects are not followed.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        attempts: int = 6,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        scheme, host = _checked("URL", url, "one that begins with http:// or https://")
        here = host in _HERE
        if token is not None and scheme == "http" and not here:
            hint = "A token is not sent in clear."
            raise ParameterError("URL", "one that begins with https://", url, hint)
        self._url = url.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._timeout, self._attempts, self._wait = timeout, attempts, wait
        # A proxy has no way to this machine.
        proxies = [urllib.request.ProxyHandler({})] if here else []
        self._opener = urllib.request.build_opener(_NoRedirects, *proxies)

    def __repr__(self) -> str:
        """Show where it is, and no token."""
        return f"Remote({self._url!r})"

    def get_json(self, path: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the object that a path answers with, errors too."""
        return self._ask("GET", path, None, {})

    def post_json(
        self, path: str, body: bytes | str, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send a body and return the status and the object of the answer."""
        sent = body.encode() if isinstance(body, str) else body
        return self._ask("POST", path, sent, {"Content-Type": _JSON, **(headers or {})})

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        for attempt in range(self._attempts):
            last = attempt == self._attempts - 1
            try:
                status, text, after = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                if last:
                    raise self._unreachable(error) from None
                self._wait(0.1 * 2**attempt)
                continue
            if status not in _AGAIN or last:
                return status, _read(text)
            self._wait(min(_seconds(after, 0.1 * 2**attempt), _LONGEST_WAIT))
        raise ParameterError("attempts", "at least 1", self._attempts)

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, str | None]:
        request = urllib.request.Request(  # noqa: S310  the scheme was checked
            self._url + path, data=body, method=method, headers={**self._headers, **headers}
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return answer.status, answer.read(_LARGEST), answer.headers.get("Retry-After")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(_LARGEST), error.headers.get("Retry-After")

    def _unreachable(self, error: Exception) -> RemoteError:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "no answer"
        words = getattr(reason, "strerror", None) or str(reason)
        return RemoteError(f"{self._url} cannot be reached ({words}); is the aggregator running?")


def answered(answer: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    """Return the body of an answer, or raise what an aggregator said instead."""
    status, form = answer
    if status >= 400:
        told = form.get("error")
        known = isinstance(told, str) and 0 < len(told) <= _LONGEST
        raise SupmError(told if known else f"the aggregator answered {status}.")
    return form


def split_study_url(url: str) -> tuple[str, str]:
    """Return the aggregator's address and the study's name.

    Examples
    --------
    >>> split_study_url("http://127.0.0.1:8000/studies/a1b2c3d4e5")
    ('http://127.0.0.1:8000', 'a1b2c3d4e5')
    """
    wanted = "the address of a study, such as https://host/studies/NAME"
    _checked("--study", url, wanted)
    base, found, rest = url.partition("/studies/")
    name = rest.partition("/")[0]
    if not found or not name.isalnum():
        raise ParameterError("--study", wanted, url)
    return base.removesuffix("/api/v1"), name


def _checked(option: str, url: str, wanted: str) -> tuple[str, str]:
    """Return scheme and host of an address; one that may hold a password is not shown."""
    if "@" in url:
        raise ParameterError(option, "an address without a user's name or a password", "one with @")
    # What is no plain text in it becomes an error far below, or steers the terminal.
    plain = url.isascii() and url.isprintable() and " " not in url
    try:
        parts = urlsplit(url)
        scheme, host, _ = parts.scheme, parts.hostname, parts.port
    except ValueError:
        plain = False
    if not plain or scheme not in ("http", "https") or not host:
        raise ParameterError(option, wanted, url)
    return scheme, host


def _read(text: bytes) -> dict[str, Any]:
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        form = None
    if not isinstance(form, dict):
        raise RemoteError("the answer is not one of an aggregator; check the address.")
    return form


def _seconds(text: str | None, otherwise: float) -> float:
    try:
        seconds = float(text or "")
    except ValueError:
        return otherwise
    return max(seconds, 0.0) if math.isfinite(seconds) else otherwise
