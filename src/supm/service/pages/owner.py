"""The page that an ordinary person opens: the question goes out, the record never comes in."""

from __future__ import annotations

import time
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from supm.messages import PHASES, Study
from supm.service.asking import describe
from supm.service.doors import find
from supm.service.pages._contact import safe_link
from supm.service.pages._rendering import render
from supm.service.pages._study_view import day
from supm.service.states import State
from supm.service.store import Opened, Store

__all__ = ["owner_page"]

_WAITING: Final = {
    State.COLLECTING_TO_REDUCE: "Nobody is asked yet. Come back when the study has begun.",
    State.REDUCED: "A first group has answered, and the next questions are being prepared. "
    "Come back in a while.",
    State.TRAINED: "Enough people have answered, thank you. The study asks nothing now.",
    State.CLOSED: "This study is closed. It asks nothing any more.",
}


def owner_page(request: Request, name: str) -> Response:
    """Return the page for owners of a study.

    Parameters
    ----------
    request : Request
        What the browser asked.
    name : str
        The study.

    Returns
    -------
    Response
        With the open question as data; reading and randomising happen in the browser.
    """
    store: Store = request.app.state.store
    opened = find(store, name)
    return render(request, "owner.html", _context(opened, store.reports(opened.name)))


def _context(opened: Opened, reports: dict[str, int]) -> dict[str, Any]:
    study, phase = opened.study, _phase(opened)
    deadline = None if phase is None else opened.deadlines.get(phase)
    return {
        "name": opened.name,
        "state": str(opened.state),
        "title": study.purpose or f"A study about {study.schema.target.name}",
        "question": None if phase is None else describe(study, phase),
        "invited": opened.invited,
        "by": opened.by,
        "contact": opened.contact,
        "contact_link": safe_link(opened.contact),
        "deadline": deadline,
        "until": day(deadline),
        "passed": deadline is not None and time.time() > deadline,
        "answered": None if opened.open_phase is None else _people(study, reports),
        "waiting": _WAITING.get(opened.state, "The study asks nothing now."),
    }


def _people(study: Study, reports: dict[str, int]) -> int:
    """Return how many people have answered: in one group, those who train chose before."""
    chose, trained, tested = (reports.get(phase, 0) for phase in PHASES)
    return (chose + trained if len(study.groups) > 1 else max(chose, trained)) + tested


def _phase(opened: Opened) -> str | None:
    """Return the open phase, or the test on the owner's own device, which sends nothing."""
    serving = opened.state is State.SERVING
    return "test" if opened.open_phase is None and serving else opened.open_phase
