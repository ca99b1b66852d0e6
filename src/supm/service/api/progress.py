"""How far a study is: once, or as a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import msgspec
from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from supm.service.api._access import store_of
from supm.service.api._describe import PROGRESS, StudyName, answers
from supm.service.limits import Shares
from supm.service.status import progress
from supm.service.store import Store
from supm.service.wire import JSON

__all__ = ["router"]

router = APIRouter(tags=["studies"])

_STREAM: Final = "text/event-stream"
_TICK_SECONDS: Final = 0.25
_TICKS_BETWEEN: Final = 4
_QUIET_ROUNDS: Final = 15


class _Watching(StreamingResponse):
    """A stream that holds a share of those there are, for exactly as long as it lasts."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or raise Refused."""
        watchers: Shares = scope["app"].state.watchers
        client = scope.get("client")
        host = client[0] if client else ""
        watchers.take(host)
        try:
            await super().__call__(scope, receive, send)
        finally:
            watchers.give_back(host)


@router.get("/studies/{name}/progress", responses=answers(PROGRESS, 404))
async def show_progress(request: Request, name: StudyName) -> Response:
    """Return how many reports each phase has, and when they came: at most 500 times of each."""
    return Response(await _look(request, name), media_type=JSON)


@router.get(
    "/studies/{name}/events",
    responses=answers("event: progress\ndata: {…}\n\n", 404, 429, 503, media_type=_STREAM),
    response_class=StreamingResponse,
)
async def stream_progress(request: Request, name: StudyName) -> StreamingResponse:
    """Send the progress as server-sent events, when it changes and at most once a second."""
    await _look(request, name)
    return _Watching(_events(request, name), media_type=_STREAM)


async def _look(request: Request, name: str) -> bytes:
    """Return how far a study is, as JSON; one look at the store serves all for a second."""
    found: bytes = await request.app.state.looks.get(name, partial(_told, store_of(request), name))
    return found


def _told(store: Store, name: str) -> bytes:
    return msgspec.json.encode(progress(store, name))


async def _events(request: Request, name: str) -> AsyncIterator[bytes]:
    state = request.app.state
    last, quiet = b"", 0
    while not state.stopping:
        now = await _look(request, name)
        quiet = 0 if now != last else quiet + 1
        if now != last:
            yield b"event: progress\ndata: " + now + b"\n\n"
        elif quiet % _QUIET_ROUNDS == 0:
            yield b": still here\n\n"
        last = now
        for _ in range(_TICKS_BETWEEN):
            if not state.stopping:
                await asyncio.sleep(_TICK_SECONDS)
