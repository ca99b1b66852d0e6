"""The endpoint that answers reports of the test phase and stores nothing."""

from __future__ import annotations

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from supm.service.answers import Refused, json_answer
from supm.service.api._access import check_media_type
from supm.service.api._describe import PREDICT_BODY, StudyName, answers
from supm.service.bodies import read_body
from supm.service.predicting import predictions
from supm.service.wire import ARROW, JSON, Told, read_batch, read_report

__all__ = ["router"]

router = APIRouter(tags=["owners"])


@router.post(
    "/studies/{name}/predict",
    responses=answers({"answers": [{"answer": "B", "probability": 0.93}]}, body=True),
    openapi_extra=PREDICT_BODY,
)
async def predict(request: Request, name: StudyName) -> Response:
    """Answer one or many reports of the test phase; nothing is stored."""
    media_type = check_media_type(request, JSON, ARROW)
    state = request.app.state
    await state.doors.expect(name)
    body = await read_body(request, state.settings.largest_batch)
    told = await run_in_threadpool(_read, body, media_type)
    door = await state.doors.open(name, told)
    if door.ended is not None:
        raise door.ended
    table, known = door.judge(told)
    if not known.all():
        place = int(np.flatnonzero(~known)[0])
        raise Refused(422, f"the report at place {place} is outside the alphabet of the question.")
    if door.phase != "test":
        raise Refused(409, "the study has no model that answers yet.")
    trained = await state.models.find(door.opened)
    return json_answer({"answers": await run_in_threadpool(predictions, trained, table)})


def _read(body: bytes, media_type: str) -> Told:
    many = media_type == ARROW or b'"reports"' in body
    return read_batch(body, media_type) if many else read_report(body)
