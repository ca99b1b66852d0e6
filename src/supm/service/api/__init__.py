"""The aggregator's interface for programs, under /api/v1; that of a log of releases, under /log."""

from __future__ import annotations

from fastapi import FastAPI

from supm.service.api import log, reports, steps, studies

__all__ = ["add_api"]


def add_api(app: FastAPI) -> None:
    """Add all endpoints to an application."""
    # Reports first: routes are tried in order, and nothing else comes as often.
    for router in (reports.router, studies.router, steps.router, studies.operation):
        app.include_router(router, prefix="/api/v1")
    if app.state.log is not None:
        app.include_router(log.router)
