"""Endpoints for those who run the service: whether it works, and how much it does."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import PlainTextResponse

from supm.service.answers import Refused, json_answer
from supm.service.api._describe import answers

__all__ = ["router"]

router = APIRouter(tags=["operation"])

_TEXT = "text/plain; version=0.0.4"


@router.get("/health", responses=answers({"status": "ok"}))
async def show_health(request: Request) -> Response:
    """Say whether the service and its database answer."""
    state = request.app.state
    if not await state.health.get("database", state.store.healthy):
        raise Refused(503, "the database does not answer.", retry_after=5.0)
    return json_answer({"status": "ok"})


@router.get(
    "/metrics",
    responses=answers("supm_waiting_reports 0", media_type="text/plain"),
    response_class=PlainTextResponse,
)
async def show_metrics(request: Request) -> Response:
    """Return counts since the start in the text form of Prometheus."""
    state = request.app.state
    return Response(state.metrics.text(state.writer.waiting), media_type=_TEXT)
