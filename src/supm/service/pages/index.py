"""The first page: all studies."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from supm.service.pages._rendering import render
from supm.service.states import State
from supm.service.store import Opened, Store

__all__ = ["index_page"]


def index_page(request: Request) -> Response:
    """Return the page of all studies, those that ask somebody first.

    Parameters
    ----------
    request : Request
        What the browser asked.

    Returns
    -------
    Response
    """
    store: Store = request.app.state.store
    shown = [_entry(each, store.reports(each.name)) for each in store.studies()]
    shown.sort(key=lambda each: (not each["open"], each["state"] == State.CLOSED, -each["created"]))
    published = request.app.state.log is not None
    return render(request, "index.html", {"studies": shown, "published": published})


def _entry(opened: Opened, reports: dict[str, int]) -> dict[str, Any]:
    study, passed = opened.study, _is_over(opened)
    asks = opened.open_phase is not None or opened.state is State.SERVING
    return {
        "name": opened.name,
        "state": str(opened.state),
        "open": asks and not passed,
        "passed": passed,
        "purpose": study.purpose,
        "target": study.schema.target.name,
        "attributes": len(study.schema.attributes),
        "epsilon": study.epsilon,
        "private": all(question.private for question in study.questions),
        "reports": sum(reports.values()),
        "created": opened.created,
        "day": datetime.fromtimestamp(opened.created, UTC).strftime("%Y-%m-%d"),
    }


def _is_over(opened: Opened) -> bool:
    """Say whether the deadline of the open phase has passed."""
    phase = opened.open_phase
    deadline = None if phase is None else opened.deadlines.get(phase)
    return deadline is not None and time.time() > deadline
