"""Endpoints for owners: one report, or a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from numpy.typing import NDArray

from supm.service.answers import Refused, json_answer
from supm.service.api.openapi import BATCH_BODY, PREDICT_BODY, REPORT_BODY, answers
from supm.service.kept import AskedQuestion, predictions
from supm.service.limits import read_body
from supm.service.received_reports import ARROW, JSON, ReceivedReports, read_batch, read_report
from supm.service.security import hash_invitation
from supm.service.store import Submission, Verdict
from supm.service.store.values import Refusal


class _DirectRoute(APIRoute):
    """Hands a request to its endpoint as it is: most requests are reports, and need no more."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


router = APIRouter(tags=["owners"], route_class=_DirectRoute)


_OUTSIDE = "outside the alphabet"
_ENDED = (Refusal.OVER, Refusal.LATE)
# What is larger is read beside the loop, which others wait for.
_LARGE = 1 << 18
_ACCEPTED = {"verdict": "accepted", "id": "00112233445566778899aabbccddeeff"}
_COUNTED = {"accepted": 999, "sent_before": 0, "refused": [{"place": 3, "reason": _OUTSIDE}]}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Stored:
    """Of each report whether it was stored now or before, and whether its phase takes no more."""

    new: NDArray[np.bool_]
    before: NDArray[np.bool_]
    ended: bool


@router.post(
    "/studies/{name}/reports",  # noqa: FAST003  read without pydantic: all reports come here
    status_code=201,
    responses=answers(_ACCEPTED, 401, 403, status=201, body=True),
    openapi_extra=REPORT_BODY,
)
async def post_report(request: Request) -> Response:
    """Take one report; it is stored when the answer comes, and counts once however often sent."""
    state = request.app.state
    _check_media_type(request, JSON)
    await state.questions.expect(request.path_params["name"])
    given = read_report(await read_body(request, state.settings.largest_report))
    question = await state.questions.find(request.path_params["name"], given)
    table, known = question.judge(given)
    if not known[0]:
        state.metrics.reports["refused"] += 1
        raise question.ended or Refused(422, f"the report is {_OUTSIDE} of the question.")
    submission = _submission(question, given.ids, table, _invitation(request, question))
    stored = await _submit(request, question, submission)
    new = bool(stored.new[0])
    form: dict[str, Any] = {
        "verdict": "accepted" if new else "sent before",
        "id": given.ids.tobytes().hex(),
    }
    if question.phase == "test" and not stored.ended:
        trained = await state.models.find(question.opened)
        form |= (await run_in_threadpool(predictions, trained, table))[0]
    return json_answer(form, 201 if new else 200)


@router.post(
    "/studies/{name}/reports/batch",  # noqa: FAST003  the same
    responses=answers(_COUNTED, 403, body=True),
    openapi_extra=BATCH_BODY,
)
async def post_batch(request: Request) -> Response:
    """Take up to 10,000 reports to one question; each counts once, and is refused on its own."""
    state = request.app.state
    given = await _read_batch(request, state.settings.largest_batch)
    question = await state.questions.find(request.path_params["name"], given)
    if question.opened.invited:
        message = (
            "the study needs an invitation for each report; send them one by one, each with its "
            "code (supm contribute: an --invitation-file with a code for each row)."
        )
        raise Refused(403, message)
    table, known = question.judge(given)
    reasons = dict.fromkeys(np.flatnonzero(~known).tolist(), _OUTSIDE)
    state.metrics.reports["refused"] += len(reasons)
    accepted = before = 0
    if known.any():
        ids = given.ids if known.all() else given.ids[known]
        stored = await _submit(request, question, _submission(question, ids, table))
        accepted, before = int(stored.new.sum()), int(stored.before.sum())
        missing = np.flatnonzero(known)[~(stored.new | stored.before)]
        reasons |= dict.fromkeys(missing.tolist(), str(Refusal.OVER))
    elif question.ended is not None:
        raise question.ended
    refused = [{"place": place, "reason": reasons[place]} for place in sorted(reasons)]
    form = {"accepted": accepted, "sent_before": before, "refused": refused}
    return json_answer(form)


async def _read_batch(request: Request, most: int) -> ReceivedReports:
    """Return the reports of a batch."""
    media_type = _check_media_type(request, JSON, ARROW)
    await request.app.state.questions.expect(request.path_params["name"])
    body = await read_body(request, most)
    if len(body) > _LARGE:
        return await run_in_threadpool(read_batch, body, media_type)
    return read_batch(body, media_type)


def _check_media_type(request: Request, *allowed: str) -> str:
    """Return the media type of a body, or raise Refused."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in allowed:
        raise Refused(415, f"the Content-Type must be {' or '.join(allowed)}.")
    return given


def _submission(
    question: AskedQuestion,
    ids: NDArray[np.uint8],
    table: NDArray[np.int64],
    invitation: str | None = None,
) -> Submission:
    return Submission(
        name=question.opened.name,
        phase=question.phase,
        document=question.study.hash,
        ids=ids,
        symbols=table,
        invitation=invitation,
    )


def _invitation(request: Request, question: AskedQuestion) -> str | None:
    if not question.opened.invited:
        return None
    code = request.headers.get("x-invitation")
    if code is None:
        raise Refused(401, "the study needs an invitation (X-Invitation).")
    return hash_invitation(code)


async def _submit(request: Request, question: AskedQuestion, submission: Submission) -> _Stored:
    state, counted = request.app.state, request.app.state.metrics.reports
    ended = question.ended
    if ended is None:
        receipt: Verdict = await state.writer.submit(submission)
        if receipt.refused is None:
            accepted = int(receipt.new.sum())
            counted["accepted"] += accepted
            counted["sent before"] += len(receipt.new) - accepted
            return _Stored(new=receipt.new, before=~receipt.new, ended=False)
        state.questions.forget(submission.name)
        ended = _refused(receipt.refused)
        if receipt.refused not in _ENDED:
            counted["refused"] += len(submission)
            raise ended
    before: NDArray[np.bool_] = await state.writer.recall(submission)
    known = int(before.sum())
    counted["sent before"] += known
    counted["refused"] += len(before) - known
    if not known:
        raise ended
    return _Stored(new=np.zeros_like(before), before=before, ended=True)


def _refused(reason: str) -> Refused:
    if reason == Refusal.PAUSED:
        return Refused(503, f"refused: {reason}; try again.", retry_after=2.0)
    if reason == Refusal.UNKNOWN_INVITATION:
        hint = "check it for typing errors, or ask who gave it to you"
        return Refused(403, f"refused: {reason}; {hint}.")
    return Refused(403 if "invitation" in reason else 409, f"refused: {reason}.")


@router.post(
    "/studies/{name}/predict",  # noqa: FAST003  the same
    responses=answers({"answers": [{"answer": "B", "probability": 0.93}]}, body=True),
    openapi_extra=PREDICT_BODY,
)
async def predict(request: Request) -> Response:
    """Answer one or many reports of the test phase; nothing is stored."""
    media_type = _check_media_type(request, JSON, ARROW)
    state = request.app.state
    await state.questions.expect(request.path_params["name"])
    body = await read_body(request, state.settings.largest_batch)
    given = await run_in_threadpool(_read, body, media_type)
    question = await state.questions.find(request.path_params["name"], given)
    if question.ended is not None:
        raise question.ended
    table, known = question.judge(given)
    if not known.all():
        place = int(np.flatnonzero(~known)[0])
        raise Refused(422, f"the report at place {place} is outside the alphabet of the question.")
    if question.phase != "test":
        raise Refused(409, "the study has no model that answers yet.")
    trained = await state.models.find(question.opened)
    return json_answer({"answers": await run_in_threadpool(predictions, trained, table)})


def _read(body: bytes, media_type: str) -> ReceivedReports:
    many = media_type == ARROW or b'"reports"' in body
    return read_batch(body, media_type) if many else read_report(body)
