"""Connections: how many there is room for, and how long one may stay without a whole request."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["MOST_CONNECTIONS", "PatientProtocol", "room_for_connections"]

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

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  uvicorn's own
        """Take a connection, if there is room for it."""
        super().connection_made(transport)
        if len(self.connections) > (self.limit_concurrency or MOST_CONNECTIONS) + _TOLD:
            transport.abort()
        else:
            self._expect_header(_HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._expect_nothing()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Begin to answer; a body has a time limit of its own."""
        self._expect_nothing()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Expect another request, unless it is there already."""
        if not self.pipeline:
            self._expect_header(self.timeout_keep_alive + _HEADER_SECONDS)
        super().on_response_complete()

    def _expect_header(self, seconds: float) -> None:
        self._expect_nothing()
        self._header_due = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _expect_nothing(self) -> None:
        if self._header_due is not None:
            self._header_due.cancel()
            self._header_due = None


def room_for_connections() -> int:
    """Let the process open as many files as it may, and return how many may be connections.

    Returns
    -------
    int
        At most 4,096: some files are left for the database.
    """
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
