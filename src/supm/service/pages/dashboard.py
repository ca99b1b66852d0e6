"""The analyst's page: where a study stands, what its reports say, and the next step."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from supm.messages import Model, Study
from supm.service.doors import find
from supm.service.forecasts import accuracy_by_budget, is_known, round_owners
from supm.service.pages._assets import PLOTLY_VERSION, plotly_marks
from supm.service.pages._rendering import render
from supm.service.pages._rule_view import chosen_of, rule_view
from supm.service.pages._study_view import (
    facts_of,
    moves_of,
    phases_of,
    steps_of,
    trust_in_words,
)
from supm.service.pages.entering import go
from supm.service.security import fits, given_token
from supm.service.store import Opened, Store

__all__ = ["dashboard_page", "forecast_json"]

# With so few, a forecast takes about a second.
_FEW_ATTRIBUTES: Final = 5
_FEW_LABELS: Final = 4
_FEW_OWNERS: Final = 2000


def dashboard_page(request: Request, name: str) -> Response:
    """Return the dashboard, or send who has no token to the form for it.

    Parameters
    ----------
    request : Request
        What the browser asked.
    name : str
        The study.

    Returns
    -------
    Response
    """
    opened = find(_store(request), name)
    if not _may_see(request, name):
        return go(f"/studies/{opened.name}/enter")
    reports = _store(request).reports(name)
    return render(request, "dashboard.html", _context(request, opened, reports))


def forecast_json(request: Request, name: str) -> Response:
    """Return the accuracy by budget on made-up people, for the analyst."""
    opened = find(_store(request), name)
    if not _may_see(request, name):
        return JSONResponse({"error": "this needs the study's token."}, HTTPStatus.FORBIDDEN)
    owners = _owners(opened, _store(request).reports(name))
    return JSONResponse(accuracy_by_budget(opened.documents[0], owners))


def _context(request: Request, opened: Opened, reports: dict[str, int]) -> dict[str, Any]:
    study, beginning = opened.study, opened.documents[0]
    phases = phases_of(opened, reports, _unused(_store(request), opened))
    owners = _owners(opened, reports)
    return {
        "name": opened.name,
        "title": study.purpose or f"Predict {study.schema.target.name}",
        "state": str(opened.state),
        "epsilon": study.epsilon,
        "mode": study.mode,
        "trust": trust_in_words(study.trust),
        "numeric": study.numeric,
        "tested": study.question("test") is not None,
        "merged": study.merges is not None,
        "weights": opened.weights,
        "invited": opened.invited,
        "has_model": opened.model is not None,
        "facts": facts_of(opened),
        "steps": steps_of(opened),
        "phases": phases,
        "reports": sum(reports.values()),
        "moves": moves_of(opened),
        "chosen": chosen_of(study),
        "simulation": opened.simulation,
        "rule": None if opened.model is None else rule_view(Model.from_json(opened.model)),
        "link": str(request.url_for("owner_page", name=opened.name)),
        "forecast_owners": owners,
        "forecast": _forecast(beginning, owners),
        "plotly_version": PLOTLY_VERSION,
        "plotly_marks": plotly_marks(),
    }


def _unused(store: Store, opened: Opened) -> int | None:
    """Return how many invitations can still let a report in, where owners need one."""
    if not opened.invited or opened.open_phase is None:
        return None
    return store.unused_invitations(opened.name, opened.open_phase)


def _forecast(study: Study, owners: int) -> str:
    """Say how the page gets the forecast: at once, by itself after a while, or when asked to."""
    if study.numeric or is_known(study, owners):
        return "ready"
    schema = study.schema
    few = len(schema.attributes) <= _FEW_ATTRIBUTES and study.labels <= _FEW_LABELS
    return "cheap" if few and owners <= _FEW_OWNERS else "asked"


def _owners(opened: Opened, reports: dict[str, int]) -> int:
    """Return for how many people a forecast is made: those expected, or those who reported."""
    training = sum(number for phase, number in reports.items() if phase != "test")
    expected = sum(number for phase, number in opened.minimums.items() if phase != "test")
    return round_owners(max(training, expected))


def _may_see(request: Request, name: str) -> bool:
    token = given_token(request, name)
    return token is not None and fits(token, _store(request).token_hash(name))


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store
