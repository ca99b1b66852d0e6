"""How far a study is: once, or as a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from supm.service.answers import Refused, json_answer
from supm.service.api._access import look_up, store_of
from supm.service.api._describe import PROGRESS, StudyName, answers
from supm.service.status import progress

__all__ = ["router"]

router = APIRouter(tags=["studies"])

_STREAM: Final = "text/event-stream"
_TICK_SECONDS: Final = 0.25
_TICKS_BETWEEN: Final = 4
_QUIET_ROUNDS: Final = 15


@router.get("/studies/{name}/progress", responses=answers(PROGRESS, 404))
async def show_progress(request: Request, name: StudyName) -> Response:
    """Return how many reports each phase has, and how many came in each minute."""
    await look_up(request, name)
    return json_answer(await run_in_threadpool(progress, store_of(request), name))


@router.get(
    "/studies/{name}/events",
    responses=answers("event: progress\ndata: {…}\n\n", 404, media_type=_STREAM),
    response_class=StreamingResponse,
)
async def stream_progress(request: Request, name: StudyName) -> StreamingResponse:
    """Send the progress as server-sent events, when it changes and at most once a second."""
    await look_up(request, name)
    state = request.app.state
    if state.streams >= state.settings.most_streams:
        raise Refused(503, "too many are watching; try again.", retry_after=10.0)
    return StreamingResponse(_events(request, name), media_type=_STREAM)


async def _events(request: Request, name: str) -> AsyncIterator[str]:
    state = request.app.state
    state.streams += 1
    try:
        last: dict[str, Any] | None = None
        quiet = 0
        while not state.stopping:
            now = await run_in_threadpool(progress, store_of(request), name)
            quiet = 0 if now != last else quiet + 1
            if now != last:
                yield f"event: progress\ndata: {msgspec.json.encode(now).decode()}\n\n"
            elif quiet % _QUIET_ROUNDS == 0:
                yield ": still here\n\n"
            last = now
            for _ in range(_TICKS_BETWEEN):
                if not state.stopping:
                    await asyncio.sleep(_TICK_SECONDS)
    finally:
        state.streams -= 1
