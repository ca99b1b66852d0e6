"""Endpoints that tell about studies: status, documents, the open question, model, statement."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from supm.service.actions import document_of
from supm.service.answers import Refused, json_answer
from supm.service.api._access import check_analyst, look_up, store_of
from supm.service.api._describe import STATUS, TOKEN, StudyName, answers
from supm.service.asking import describe
from supm.service.estimates import estimates
from supm.service.status import model_is_public, statement_json, status
from supm.service.store import Opened, Store
from supm.service.wire import JSON

__all__ = ["router"]

router = APIRouter(tags=["studies"])

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
    return json_answer(await run_in_threadpool(describe, opened.study, opened.open_phase))


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
