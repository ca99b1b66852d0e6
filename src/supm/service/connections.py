"""Connections: how many there is room for, whose they may be, and how long one may stay silent."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from supm.service.answers import Refused
from supm.service.limits import TURNED_AWAY, Shares

__all__ = ["MOST_CONNECTIONS", "PatientProtocol", "room_for_connections", "share_connections"]

MOST_CONNECTIONS: Final = 4096
_OTHER_FILES: Final = 256
_HEADER_SECONDS: Final = 10.0
# So many more are accepted, to be told that there are too many.
_TOLD: Final = 64


class PatientProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, but the header of a request must be whole in time.

    uvicorn itself waits for ever for the first request, and for the rest of any that began.
    """

    _header_due: asyncio.TimerHandle | None = None
    _turned_away: Refused | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  uvicorn's own
        """Take a connection, or only say on it that there is no room."""
        super().connection_made(transport)
        try:
            self._shares.take(self._host)
        except Refused as refused:
            self._turned_away = refused
            if len(self.connections) - self._shares.held > _TOLD:
                transport.abort()
                return
        self._expect_header(_HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._expect_nothing()
        if self._turned_away is None:
            self._shares.give_back(self._host)
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Begin to answer; a body has a time limit of its own."""
        self._expect_nothing()
        if self._turned_away is not None:
            scope: dict[str, Any] = self.scope  # type: ignore[assignment]  # servers may add to it
            scope[TURNED_AWAY] = self._turned_away
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Expect another request, unless it is there already."""
        if not self.pipeline:
            self._expect_header(self.timeout_keep_alive + _HEADER_SECONDS)
        super().on_response_complete()

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def _shares(self) -> Shares:
        app: Any = self.config.app
        shares: Shares = app.state.connections
        return shares

    def _expect_header(self, seconds: float) -> None:
        self._expect_nothing()
        self._header_due = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _expect_nothing(self) -> None:
        if self._header_due is not None:
            self._header_due.cancel()
            self._header_due = None


def share_connections(most: int) -> tuple[Shares, int]:
    """Return what hosts may take of so many connections, and at how many uvicorn itself refuses."""
    shares = Shares("too many connections are open", most=most, each=max(1, most // 4))
    return shares, most + 2 * _TOLD + 1


def room_for_connections() -> int:
    """Let the process open as many files as it may, and return how many may be connections."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource  # noqa: PLC0415  not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _OTHER_FILES
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    files = wanted if soft == resource.RLIM_INFINITY else min(wanted, soft)
    return min(MOST_CONNECTIONS, max(files // 2, files - _OTHER_FILES))
