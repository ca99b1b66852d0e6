"""Bodies of requests: of a stated and bounded length, in time, and not too many at once."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from supm.service.answers import Refused
from supm.service.limits import Shares

__all__ = ["BodyLimit", "read_body"]

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
    """Counts the bytes of all bodies until their requests are answered.

    Parameters
    ----------
    app : ASGI application
        What answers.
    shares : Shares
        How many bytes all may have, and each client.
    """

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
        With 411, 413, 408 or 400; with 429 or 503 where too many bodies are read already.
    """
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
