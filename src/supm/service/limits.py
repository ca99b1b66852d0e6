"""What one client may ask for: not without end, and not all that there is."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from supm._random import secure
from supm.service.answers import Refused, refusal_answer

_MOST_CLIENTS: Final = 1 << 16
_HEALTH: Final = "/api/v1/health"
_AGAIN_SECONDS: Final = 10.0


class _Names:
    """What a client is called here: a keyed hash, with a key that is drawn anew at every start."""

    def __init__(self) -> None:
        self._key = secure().words(4).tobytes()

    def of(self, host: str) -> bytes:
        return hashlib.blake2b(_network(host), key=self._key, digest_size=16).digest()


class Buckets:
    """One bucket of requests for each client, which fills again with time.

    Where a client is on the network is not kept: only a keyed hash of it, in memory, with a key
    that is drawn anew at every start.
    """

    def __init__(
        self, *, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._names = _Names()
        self._held: dict[bytes, tuple[float, float]] = {}

    def __len__(self) -> int:
        """Return how many clients are remembered."""
        return len(self._held)

    def take(self, host: str) -> float:
        """Take a request out of a client's bucket."""
        who = self._names.of(host)
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


class Shares:
    """Something of which there is so much: for all together, and for each client."""

    def __init__(self, what: str, *, most: int, each: int) -> None:
        self._what, self._most, self._each = what, most, each
        self._names, self._held, self._all = _Names(), Counter[bytes](), 0

    @property
    def held(self) -> int:
        """How much is held now."""
        return self._all

    def take(self, host: str, amount: int = 1) -> None:
        """Take some, or raise Refused."""
        who = self._names.of(host)
        if self._all + amount > self._most:
            raise Refused(503, f"{self._what}; try again.", retry_after=_AGAIN_SECONDS)
        if self._held[who] + amount > self._each:
            sentence = f"{self._what} from one place; try again."
            raise Refused(429, sentence, retry_after=_AGAIN_SECONDS)
        self._held[who] += amount
        self._all += amount

    def give_back(self, host: str, amount: int = 1) -> None:
        """Give back what was taken."""
        who = self._names.of(host)
        self._held[who] -= amount
        self._all -= amount
        if not self._held[who]:
            del self._held[who]


class RateLimit:
    """Answers 429 to a client that sends without end."""

    def __init__(self, app: ASGIApp, *, buckets: Buckets) -> None:
        self._app, self._buckets = app, buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        client = scope.get("client")
        wait = self._buckets.take(client[0]) if client and _is_counted(scope) else 0.0
        if wait:
            sentence = "too many requests from one place; wait, or send batches."
            answer = refusal_answer(Refused(429, sentence, retry_after=wait))
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_counted(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    # What costs nothing: files, and an answer that is kept for a second.
    return scope["path"] != _HEALTH and not scope["path"].startswith("/static/")


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


_SECONDS: Final = 30.0
# The server holds as much of each anyway. So single reports go on where there are many batches.
_SMALL: Final = 1 << 16
_HELD: Final = "supm.held"


class _Held:
    """How much of a body is in memory, while its request lasts."""

    def __init__(self, shares: Shares, host: str) -> None:
        self._shares, self._host, self._bytes = shares, host, 0

    def grow(self, to: int) -> None:
        if to > _SMALL:
            self._shares.take(self._host, to - self._bytes)
            self._bytes = to

    def release(self) -> None:
        if self._bytes:
            self._shares.give_back(self._host, self._bytes)


class BodyLimit:
    """Counts the bytes of all bodies until their requests are answered."""

    def __init__(self, app: ASGIApp, *, shares: Shares) -> None:
        self._app, self._shares = app, shares

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        client = scope.get("client")
        held = scope[_HELD] = _Held(self._shares, client[0] if client else "")
        try:
            await self._app(scope, receive, send)
        finally:
            held.release()


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request, whose length is stated and bounded before it is read."""
    stated = request.headers.get("content-length", "")
    known = stated.isascii() and stated.isdecimal()
    if not known or "transfer-encoding" in request.headers:
        raise Refused(411, "the length of the body must be stated (Content-Length).")
    if len(stated) > 12 or int(stated) > most:
        raise Refused(413, f"the body must have at most {most:,} bytes.")
    try:
        async with asyncio.timeout(_SECONDS):
            return await _collected(request)
    except TimeoutError:
        raise Refused(408, "the body did not arrive in time.") from None


async def _collected(request: Request) -> bytes:
    # Not longer than stated: the server hands on no more.
    held: _Held | None = request.scope.get(_HELD)
    parts, size, more = [], 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the body did not arrive.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if held is not None:
            held.grow(size)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)
