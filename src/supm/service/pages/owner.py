"""The page that an ordinary person opens: the question goes out, the record never comes in."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from supm.messages import PHASES, Study
from supm.service.pages.dashboard import day
from supm.service.pages.frame import render
from supm.service.security import store_of
from supm.service.status import question_document
from supm.service.store import Opened
from supm.service.store.values import State

_WAITING: Final = {
    State.COLLECTING_TO_REDUCE: "Nobody is asked yet. Come back when the study has begun.",
    State.REDUCED: "A first group has answered, and the next questions are being prepared. "
    "Come back in a while.",
    State.TRAINED: "Enough people have answered, thank you. The study asks nothing now.",
    State.CLOSED: "This study is closed. It asks nothing any more.",
}


def owner_page(request: Request, name: str) -> Response:
    """Return the page for owners of a study."""
    store = store_of(request)
    opened = store.find(name)
    return render(request, "owner.html", _context(opened, store.reports(opened.name)))


def _context(opened: Opened, reports: dict[str, int]) -> dict[str, Any]:
    study, phase = opened.study, _phase(opened)
    # A test on the device may have a deadline too.
    deadline = opened.deadlines.get(phase or "")
    return {
        "name": opened.name,
        "state": str(opened.state),
        "title": study.purpose or f"A study about {study.schema.target.name}",
        "question": None if phase is None else question_document(study, phase),
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


_HOST: Final = r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}"
_MAIL: Final = re.compile(rf"[A-Za-z0-9._+-]{{1,64}}@{_HOST}")
# No name before the host and nothing that a browser would read in another way.
_PAGE: Final = re.compile(rf"https://{_HOST}(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9._~/%#?&=+,-]*)?")


def safe_link(contact: str) -> str | None:
    """Return the address behind a contact that is an e-mail address or a page, else None.

    Examples
    --------
    >>> safe_link("study@hospital.example"), safe_link("https://hospital.example/study")
    ('mailto:study@hospital.example', 'https://hospital.example/study')
    >>> safe_link("javascript:alert(1)"), safe_link("Room 4, study@hospital.example")
    (None, None)
    """
    if _MAIL.fullmatch(contact):
        return f"mailto:{contact}"
    return contact if _PAGE.fullmatch(contact) else None


def index_page(request: Request) -> Response:
    """Return the page of all studies, those that ask somebody first."""
    store = store_of(request)
    shown = [_entry(each, store.reports(each.name)) for each in store.studies()]
    shown.sort(key=lambda each: (not each["open"], each["state"] == State.CLOSED, -each["created"]))
    published = request.app.state.log is not None
    return render(request, "index.html", {"studies": shown, "published": published})


def _entry(opened: Opened, reports: dict[str, int]) -> dict[str, Any]:
    study, passed = opened.study, opened.is_late(time.time())
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
