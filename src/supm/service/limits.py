"""What one client may send: bodies of a stated and bounded length, and not without end."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import time
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from supm._random import secure
from supm.service.answers import Refused, refusal

__all__ = ["Buckets", "RateLimit", "read_body"]

_MOST_CLIENTS: Final = 1 << 16
_BODY_SECONDS: Final = 30.0
_FREE: Final = ("/static/", "/api/v1/health")


class Buckets:
    """One bucket of requests for each client, which fills again with time.

    Where a client is on the network is not kept: only a keyed hash of it, in memory, with a key
    that is drawn anew at every start.

    Parameters
    ----------
    rate : float
        How many requests a second one client may send in the long run.
    burst : float
        How many at once.
    clock : callable, optional
        Seconds that only grow; `time.monotonic` by default.
    """

    def __init__(
        self, *, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._key = secure().words(4).tobytes()
        self._held: dict[bytes, tuple[float, float]] = {}

    def __len__(self) -> int:
        """Return how many clients are remembered."""
        return len(self._held)

    def take(self, host: str) -> float:
        """Take a request out of a client's bucket.

        Parameters
        ----------
        host : str
            The client's address.

        Returns
        -------
        float
            0 where it may go on, else the seconds that it must wait.
        """
        who = hashlib.blake2b(_network(host), key=self._key, digest_size=16).digest()
        now = self._clock()
        left, since = self._held.get(who, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1.0
        if who not in self._held and len(self._held) >= _MOST_CLIENTS:
            self._forget(now)
        self._held[who] = (left - 1.0 if allowed else left, now)
        return 0.0 if allowed else (1.0 - left) / self._rate

    def _forget(self, now: float) -> None:
        """Forget those whose buckets are full again, and all where nobody's is."""
        full = self._burst / self._rate
        self._held = {who: held for who, held in self._held.items() if now - held[1] < full}
        if len(self._held) >= _MOST_CLIENTS:
            self._held = {}


class RateLimit:
    """Answers 429 to a client that sends without end.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    buckets : Buckets
        What each client has left.
    """

    def __init__(self, app: ASGIApp, *, buckets: Buckets) -> None:
        self._app, self._buckets = app, buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        counted = scope["type"] == "http" and not scope["path"].startswith(_FREE)
        client = scope.get("client")
        wait = self._buckets.take(client[0]) if counted and client else 0.0
        if wait:
            sentence = "too many requests from one place; wait, or send batches."
            answer = refusal(Refused(429, sentence, retry_after=wait))
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request, whose length is stated and bounded before it is read.

    Parameters
    ----------
    request : Request
        The request.
    most : int
        How many bytes it may have.

    Returns
    -------
    bytes

    Raises
    ------
    Refused
        With 411, 413, 408 or 400.
    """
    stated = request.headers.get("content-length", "")
    known = stated.isascii() and stated.isdecimal()
    if not known or "transfer-encoding" in request.headers:
        raise Refused(411, "the length of the body must be stated (Content-Length).")
    if len(stated) > 12 or int(stated) > most:
        raise Refused(413, f"the body must have at most {most:,} bytes.")
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await _collected(request)
    except TimeoutError:
        raise Refused(408, "the body did not arrive in time.") from None


async def _collected(request: Request) -> bytes:
    # Not longer than stated: the server hands on no more.
    parts, more = [], True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the body did not arrive.")
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _network(host: str) -> bytes:
    """Return what is one client: an address, or the network of a house (IPv6)."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.encode()
    if address.version == 4:
        return address.packed
    mapped = address.ipv4_mapped
    return address.packed[:8] if mapped is None else mapped.packed
