"""The pages that the aggregator serves: studies, the owner's page, and the analyst's dashboard."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from supm.service.pages.dashboard import dashboard_page, forecast_json
from supm.service.pages.frame import Page, asset_response, error_page, shown
from supm.service.pages.owner import index_page, owner_page
from supm.service.pages.releases import release_page, releases_page
from supm.service.pages.sign_in import enter, enter_page, leave

__all__ = ["add_pages"]

_READ: Final[dict[str, Page]] = {
    "/": index_page,
    "/static/{name}": asset_response,
    "/studies/{name}": owner_page,
    "/studies/{name}/dashboard": dashboard_page,
    "/studies/{name}/dashboard/forecast": forecast_json,
    "/studies/{name}/enter": enter_page,
}
_OF_A_LOG: Final[dict[str, Page]] = {
    "/releases": releases_page,
    "/releases/{content}": release_page,
}


def add_pages(app: FastAPI) -> None:
    """Add the pages to an application."""
    known = _READ if app.state.log is None else _READ | _OF_A_LOG
    for path, page in known.items():
        app.add_route(path, shown(page), ["GET"], page.__name__, include_in_schema=False)
    app.add_route("/studies/{name}/enter", enter, ["POST"], include_in_schema=False)
    app.add_route("/studies/{name}/leave", shown(leave), ["POST"], include_in_schema=False)
    others = ("/{rest}", *(f"/{each}/{{rest:path}}" for each in ("static", "studies", "releases")))
    for path in others:
        app.add_route(path, _nothing_here, ["GET"], include_in_schema=False)


def _nothing_here(request: Request) -> Response:
    return error_page(request, HTTPStatus.NOT_FOUND)
