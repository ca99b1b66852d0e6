"""Endpoints for the analyst: the steps of a study."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from supm.service import actions
from supm.service.answers import Refused, json_answer
from supm.service.api.openapi import STATUS, TOKEN, TRAIN_BODY, StudyName, Training, answers
from supm.service.limits import read_body
from supm.service.security import check_analyst, store_of
from supm.service.status import status
from supm.service.store import Opened

router = APIRouter(tags=["analyst"])

_LARGEST = 4096
_REFUSALS = (401, 403, 404, 409)


@router.post("/studies/{name}/reduce", responses=answers(STATUS, *_REFUSALS), openapi_extra=TOKEN)
async def post_reduce(request: Request, name: StudyName) -> Response:
    """Choose what the rest of the study is about, from the reports of the reduce phase."""
    return await _step(request, name, lambda: actions.reduce_stored(store_of(request), name))


@router.post("/studies/{name}/open", responses=answers(STATUS, *_REFUSALS), openapi_extra=TOKEN)
async def post_open(request: Request, name: StudyName) -> Response:
    """Open the train phase of a reduced study."""
    return await _step(request, name, lambda: actions.open_training(store_of(request), name))


@router.post(
    "/studies/{name}/train",
    responses=answers(STATUS, *_REFUSALS, body=True),
    openapi_extra=TRAIN_BODY,
)
async def post_train(request: Request, name: StudyName) -> Response:
    """Train a model on the reports of the train phase."""
    await check_analyst(request, name, acts=True)
    weights = await _weights(request)
    return await _step(
        request, name, lambda: actions.train_stored(store_of(request), name, weights=weights)
    )


@router.post("/studies/{name}/serve", responses=answers(STATUS, *_REFUSALS), openapi_extra=TOKEN)
async def post_serve(request: Request, name: StudyName) -> Response:
    """Let the model answer, and open the test phase where the study has one."""
    return await _step(request, name, lambda: actions.serve_model(store_of(request), name))


@router.post("/studies/{name}/close", responses=answers(STATUS, *_REFUSALS), openapi_extra=TOKEN)
async def post_close(request: Request, name: StudyName) -> Response:
    """Close a study for good."""
    return await _step(request, name, lambda: actions.close_study(store_of(request), name))


async def _step(request: Request, name: str, act: Callable[[], Opened]) -> Response:
    await check_analyst(request, name, acts=True)
    opened = await run_in_threadpool(act)
    request.app.state.questions.forget(name)
    request.app.state.looks.forget(name)
    return json_answer(await run_in_threadpool(status, store_of(request), opened))


async def _weights(request: Request) -> str | None:
    chunked = "transfer-encoding" in request.headers
    if not chunked and request.headers.get("content-length", "0") == "0":
        return None
    body = await read_body(request, _LARGEST)
    try:
        return msgspec.json.decode(body, type=Training).weights
    except (ValueError, RecursionError):
        raise Refused(422, 'the body must be {"weights": null} or "balanced".') from None
