"""One line for each request: what was asked, how it ended and how long it took; never by whom."""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supm.service.answers import as_refused, refusal_answer

LOGGER: Final = logging.getLogger("supm.service")
"""Where the lines go."""

_NO_ROUTE: Final = "(no route)"
_METHODS: Final = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


class Metrics:
    """What happened since the start, in numbers."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: Counter[tuple[str, str]] = Counter()
        self.reports: Counter[str] = Counter()

    def text(self, waiting: int) -> str:
        """Return the numbers as Prometheus reads them."""
        lines = ["# TYPE supm_requests_total counter"]
        for (method, route, status), times in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"supm_requests_total{{{labels}}} {times}")
        lines.append("# TYPE supm_request_seconds_total counter")
        for (method, route), spent in sorted(self.seconds.items()):
            labels = f'method="{method}",route="{route}"'
            lines.append(f"supm_request_seconds_total{{{labels}}} {spent:.6f}")
        lines.append("# TYPE supm_reports_total counter")
        for verdict in ("accepted", "sent before", "refused"):
            label = verdict.replace(" ", "_")
            lines.append(f'supm_reports_total{{verdict="{label}"}} {self.reports[verdict]}')
        lines += ["# TYPE supm_waiting_reports gauge", f"supm_waiting_reports {waiting}"]
        return "\n".join(lines) + "\n"


class RequestLog:
    """Writes one line for each request, and turns what fails into an answer that tells nothing."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # noqa: BLE001  whatever it is, it must not reach a log whole
            LOGGER.error("%s", _place(error))  # noqa: TRY400  a trace may show what was sent
            if not status:
                await refusal_answer(as_refused(error))(scope, receive, watched)
        finally:
            self._write(scope, status, time.perf_counter() - started)

    def _write(self, scope: Scope, status: int, seconds: float) -> None:
        route = _template(scope)
        method = scope["method"] if scope["method"] in _METHODS else "(other)"
        self._metrics.requests[method, route, status] += 1
        self._metrics.seconds[method, route] += seconds  # type: ignore[assignment]  # seconds add up as counts do
        LOGGER.info("%s %s %d %.1f ms", method, route, status, seconds * 1000)


def log_to_standard_error() -> None:
    """Write the lines to the standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def _template(scope: Scope) -> str:
    """Return the path without what varies in it: that may be what somebody typed."""
    if "endpoint" not in scope:
        return _NO_ROUTE
    path: str = scope["path"]
    given = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    for value, name in given.items():
        path = path.replace(value, name) if "/" in value else path
    return "/".join(given.get(part, part) if part else part for part in path.split("/"))


def _place(error: Exception) -> str:
    """Return what kind of error it is and where it arose; its message may hold what was sent."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    return f"{type(error).__name__} in {where}"
