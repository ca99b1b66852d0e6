"""Endpoints that tell about studies: status, documents, the open question, model, statement."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from supm.collection.estimates import estimates
from supm.service.actions import document_of
from supm.service.answers import Refused, json_answer
from supm.service.api.openapi import PROGRESS, STATUS, TOKEN, StudyName, answers
from supm.service.limits import Shares
from supm.service.received_reports import JSON
from supm.service.security import check_analyst, look_up, store_of
from supm.service.status import (
    model_is_public,
    question_document,
    statement_json,
    status,
    study_progress,
)
from supm.service.store import Opened, Store

router = APIRouter(tags=["studies"])
operation = APIRouter(tags=["operation"])

_FOREVER = "public, max-age=31536000, immutable"
_DOCUMENT = {"version": 2, "purpose": "…", "schema": {"…": "…"}, "questions": ["…"]}


@router.get("/studies", responses=answers({"studies": [STATUS]}))
def list_studies(request: Request) -> Response:
    """Return all studies."""
    store = store_of(request)
    return json_answer({"studies": [status(store, each) for each in store.studies()]})


@router.get("/studies/{name}", responses=answers(STATUS, 404))
async def show_study(request: Request, name: StudyName) -> Response:
    """Return the status of a study."""
    opened = await look_up(request, name)
    return json_answer(await run_in_threadpool(status, store_of(request), opened))


@router.get("/studies/{name}/document", responses=answers(_DOCUMENT, 304, 404))
async def show_document(request: Request, name: StudyName) -> Response:
    """Return the current document: what owners consent to."""
    study = (await look_up(request, name)).study
    tag = f'"{study.hash}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(study.to_json(), headers=headers, media_type=JSON)


@router.get("/studies/{name}/documents/{document}", responses=answers(_DOCUMENT, 404))
async def show_old_document(request: Request, name: StudyName, document: str) -> Response:
    """Return one of the study's documents by its hash; it never changes."""
    for study in (await look_up(request, name)).documents:
        if study.hash == document:
            headers = {"ETag": f'"{document}"', "Cache-Control": _FOREVER}
            return Response(study.to_json(), headers=headers, media_type=JSON)
    raise Refused(404, "the study has no such document.")


@router.get("/studies/{name}/question", responses=answers({"phase": "train", "…": "…"}, 404, 409))
async def show_question(request: Request, name: StudyName) -> Response:
    """Return the open question in the form that the page for owners reads."""
    opened = await look_up(request, name)
    if opened.open_phase is None:
        raise Refused(409, "the study asks nothing now.")
    return json_answer(await run_in_threadpool(question_document, opened.study, opened.open_phase))


@router.get("/studies/{name}/statement", responses=answers({"version": 1, "…": "…"}, 404))
async def show_statement(request: Request, name: StudyName) -> Response:
    """Return what is promised to whom."""
    opened = await look_up(request, name)
    text = await run_in_threadpool(statement_json, opened)
    return Response(text, media_type=JSON)


@router.get(
    "/studies/{name}/model",
    responses=answers({"version": 2, "rule": {"…": "…"}, "…": "…"}, 401, 403, 404, 409),
)
async def show_model(request: Request, name: StudyName) -> Response:
    """Return the model: to everybody while it serves, to the analyst once it is trained."""
    opened = await look_up(request, name)
    if not model_is_public(opened):
        await check_analyst(request, name)
    if opened.model is None:
        raise Refused(409, "the study has no model yet.")
    return Response(opened.model, media_type=JSON)


@router.get(
    "/studies/{name}/estimates",
    responses=answers({"phase": "train", "histograms": []}, 401, 403, 404),
    openapi_extra=TOKEN,
)
async def show_estimates(request: Request, name: StudyName) -> Response:
    """Return what the counted reports say about the people, with confidence bands."""
    opened = await check_analyst(request, name)
    return json_answer(await run_in_threadpool(_estimates, store_of(request), opened))


def _estimates(store: Store, opened: Opened) -> dict[str, Any]:
    """Return the estimates of the last phase that counts."""
    reduced = opened.documents[-1].attributes is not None
    phase = "train" if reduced else "reduce"
    study = document_of(opened, phase)
    counts = store.counts(opened.name, phase) if study.question(phase) is not None else None
    return estimates(study, phase, counts)


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
    return msgspec.json.encode(study_progress(store, name))


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


_TEXT = "text/plain; version=0.0.4"


@operation.get("/health", responses=answers({"status": "ok"}))
async def show_health(request: Request) -> Response:
    """Say whether the service and its database answer."""
    state = request.app.state
    if not await state.health.get("database", state.store.healthy):
        raise Refused(503, "the database does not answer.", retry_after=5.0)
    return json_answer({"status": "ok"})


@operation.get(
    "/metrics",
    responses=answers("supm_waiting_reports 0", media_type="text/plain"),
    response_class=PlainTextResponse,
)
async def show_metrics(request: Request) -> Response:
    """Return counts since the start in the text form of Prometheus."""
    state = request.app.state
    return Response(state.metrics.text(state.writer.waiting), media_type=_TEXT)
