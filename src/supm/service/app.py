"""The application: the store, the interface, the pages, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import supm
from supm._errors import SupmError
from supm._validation import Integers, Reals
from supm.publication.log import Log
from supm.service.answers import Refused, answer_error, refusal_answer
from supm.service.api import add_api
from supm.service.api.openapi import SCHEMAS
from supm.service.ingest import Writer
from supm.service.kept import Models, OpenQuestions, Shared
from supm.service.limits import BodyLimit, Buckets, RateLimit, Shares
from supm.service.logs import Metrics, RequestLog
from supm.service.pages import add_pages
from supm.service.security import SecurityHeaders
from supm.service.store import Store

_DESCRIPTION: Final = (
    "Studies under local differential privacy. Owners fetch a study's document, randomise on their "
    "own device and send reports; the analyst reduces, trains and serves with a token. No raw "
    "value is ever asked for."
)
_LOOK_SECONDS: Final = 1.0
_ALLOWED: Final[tuple[Integers | Reals, ...]] = (
    Integers("largest_report", 1 << 10, 1 << 26),
    Integers("largest_batch", 1 << 10, 1 << 28),
    Integers("most_waiting", 1, 1 << 26),
    Integers("most_streams", 1, 1 << 16),
    Integers("most_streams_each", 1, 1 << 16),
    Integers("most_body_bytes", 1 << 10, 1 << 40),
    Reals("rate", 0.1, 1e9),
    Reals("burst", 1.0, 1e9),
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The limits of a service.

    Parameters
    ----------
    largest_report : int, default 2^20
        How many bytes one report may have.
    largest_batch : int, default 2^24
        How many bytes a batch may have.
    most_waiting : int, default 200,000
        How many reports may wait for the database before others are sent away for a while.
    most_streams : int, default 256
        How many may watch the progress of studies at the same time.
    most_streams_each : int, default 32
        How many of them may be one client.
    most_body_bytes : int, default 2^28
        How many bytes the bodies that are read may have together; a quarter of them one client's.
        One body is always read.
    rate : float, default 200
        How many requests a second one client may send in the long run. A batch is one request: at
        200 a second, batches of 1,000 are 200,000 reports a second, and single reports a small part
        of what a server takes.
    burst : float, default 2,000
        How many at once: some hundred owners behind one address who come together.

    Examples
    --------
    >>> Settings(rate=100.0).burst
    2000.0
    """

    largest_report: int = 1 << 20
    largest_batch: int = 1 << 24
    most_waiting: int = 200_000
    most_streams: int = 256
    most_streams_each: int = 32
    most_body_bytes: int = 1 << 28
    rate: float = 200.0
    burst: float = 2_000.0

    def __post_init__(self) -> None:
        for allowed in _ALLOWED:
            checked = allowed.check(getattr(self, allowed.name))
            object.__setattr__(self, allowed.name, checked)


def make_app(store: Store, *, settings: Settings | None = None, log: Log | None = None) -> FastAPI:
    """Return the aggregator as an ASGI application.

    Parameters
    ----------
    store : Store
        Where studies and reports are. Whoever opened it closes it.
    settings : Settings, optional
        The limits.
    log : Log, optional
        The log of releases to show. Whoever opened it closes it.

    Returns
    -------
    FastAPI
        With the store and the writer of reports in its ``state``.
    """
    limits = Settings() if settings is None else settings
    app = FastAPI(
        title="SUPM aggregator",
        version=supm.__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=_run_writer,
        redirect_slashes=False,
    )
    _add_state(app, store, limits, log)
    add_api(app)
    add_pages(app)
    for kind in (Refused, SupmError, HTTPException):
        app.add_exception_handler(kind, answer_error)
    app.add_exception_handler(RequestValidationError, _answer_wrong_address)
    # The last one added is the outermost.
    app.add_middleware(BodyLimit, shares=_bodies(limits))
    buckets = Buckets(rate=limits.rate, burst=limits.burst)
    app.add_middleware(RateLimit, buckets=buckets)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLog, metrics=app.state.metrics)
    app.openapi = partial(_described, app, app.openapi)  # type: ignore[method-assign]  # as FastAPI says
    return app


async def _answer_wrong_address(_: Request, __: Exception) -> Response:
    return refusal_answer(Refused(422, "a part of the address is not what it should be."))


def _described(app: FastAPI, describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the OpenAPI document, with what is sent and how the analyst's token is."""
    form = describe()
    bearer = {"type": "http", "scheme": "bearer", "description": "The analyst's token."}
    parts = form.setdefault("components", {})
    parts["securitySchemes"] = {"analyst": bearer}
    parts.setdefault("schemas", {}).update(SCHEMAS)
    app.openapi_schema = form
    return form


def _add_state(app: FastAPI, store: Store, settings: Settings, log: Log | None) -> None:
    app.state.store = store
    app.state.settings = settings
    app.state.log = log
    app.state.writer = Writer(store, most_waiting=settings.most_waiting)
    app.state.questions = OpenQuestions(store)
    app.state.models = Models(store)
    app.state.metrics = Metrics()
    app.state.looks = Shared(seconds=_LOOK_SECONDS)
    app.state.health = Shared(seconds=_LOOK_SECONDS)
    app.state.watchers = Shares(
        "too many are watching", most=settings.most_streams, each=settings.most_streams_each
    )
    app.state.stopping = False


def _bodies(settings: Settings) -> Shares:
    largest = max(settings.largest_report, settings.largest_batch)
    most = max(settings.most_body_bytes, largest)
    return Shares("too much is being sent", most=most, each=max(most // 4, largest))


@asynccontextmanager
async def _run_writer(app: FastAPI) -> AsyncIterator[None]:
    await app.state.writer.start()
    try:
        yield
    finally:
        app.state.stopping = True
        app.state.models.stop()
        await app.state.writer.stop()
