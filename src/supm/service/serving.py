"""Running the aggregator: with uvicorn, in this process or beside it in a thread."""

from __future__ import annotations

import errno
import gc
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

from supm._errors import ParameterError, SupmError
from supm.collection.counting import Counts
from supm.messages import Study
from supm.publication.log import Log
from supm.service.actions import StudySecrets
from supm.service.app import Settings, make_app
from supm.service.logs import log_to_standard_error
from supm.service.remote import RemoteStudy
from supm.service.store import DatabaseAddress, Store

_GRACE_SECONDS: Final = 10
_HEADER_SECONDS: Final = 10.0
_MOST_CONNECTIONS: Final = 4096
# Some files are left for the database.
_OTHER_FILES: Final = 256
_KEEP_ALIVE_SECONDS: Final = 30
_START_SECONDS: Final = 30.0
_NO_ADDRESS: Final = "{} is no address of this machine; see --host."
_TAKEN: Final = "port {} of {} is taken or not allowed; choose another with --port."


class ServingError(SupmError):
    """The aggregator cannot listen where it should."""


class _Server(uvicorn.Server):
    """Says where it listens, waits for no header for ever, and tells those who watch that it stops.

    How many connections there are, and whose, is a proxy's to limit.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._waiting: dict[Any, tuple[float, Any]] = {}

    async def startup(self, sockets: Any = None) -> None:  # noqa: ANN401  uvicorn's own
        await super().startup(sockets)
        if self.started:
            listening = self.servers[0].sockets[0].getsockname()
            scheme = "https" if self.config.is_ssl else "http"
            host = f"[{listening[0]}]" if ":" in listening[0] else listening[0]
            self._ready(f"{scheme}://{host}:{listening[1]}")

    async def on_tick(self, counter: int) -> bool:
        # Ten times a second.
        if counter % 10 == 0:
            self._close_silent(time.monotonic())
        return await super().on_tick(counter)

    def _close_silent(self, now: float) -> None:
        """Close connections whose next request does not begin in time; uvicorn waits for ever."""
        before, self._waiting = self._waiting, {}
        for each in list[Any](self.server_state.connections):
            answered = each.cycle
            if answered is None or answered.response_complete:
                since, last = before.get(each, (now, answered))
                self._waiting[each] = (since if last is answered else now), answered
                idle = 0 if answered is None else _KEEP_ALIVE_SECONDS
                if now - self._waiting[each][0] > idle + _HEADER_SECONDS:
                    each.transport.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  uvicorn's own
        # Not uvicorn's, which would raise the signal again once all is stopped in good order.
        self.force_exit = self.should_exit
        self.stop()

    def stop(self) -> None:
        """End the streams, which would be waited for, and then the rest."""
        app: Any = self.config.app
        app.state.stopping = True
        self.should_exit = True


def run(  # noqa: PLR0913  each is an option of the command line
    url: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    certificate: str | None = None,
    key: str | None = None,
    settings: Settings | None = None,
    log: str | None = None,
    ready: Callable[[str, Store], None] | None = None,
) -> None:
    """Serve a database until the process is told to stop; requests under way are answered first.

    Parameters
    ----------
    url : str
        The database: ``sqlite:///file.db`` or ``postgresql://…``.
    host : str, default "127.0.0.1"
        Where to listen.
    port : int, default 8000
        On which port; 0 for any that is free.
    certificate, key : str, optional
        Files for TLS, in PEM; both or none.
    settings : Settings, optional
        The limits.
    log : str, optional
        The file of a log of releases, to show it too.
    ready : callable, optional
        Called with its address and its store once it answers.
    """
    if (certificate is None) != (key is None):
        raise ParameterError("certificate", "given together with its key", certificate)
    # All that can be wrong is refused before a database is made.
    DatabaseAddress.parse(url)
    for name, file in (("certificate", certificate), ("key", key), ("log", log)):
        if file is not None and not Path(file).is_file():
            raise ParameterError(name, "a file that is there", file)
    _check_address(host, port)
    log_to_standard_error()
    # Where it cannot listen, our sentence says so.
    logging.getLogger("uvicorn.error").addFilter(lambda line: not isinstance(line.msg, OSError))
    with ExitStack() as ends:
        shown = None if log is None else ends.enter_context(Log(Path(log), read_only=True))
        store = ends.enter_context(closing(Store.open(url)))
        app = make_app(store, settings=settings, log=shown)
        # What is loaded by now stays: the collector need not go through it again and again.
        gc.freeze()

        def answers(address: str) -> None:
            if ready is not None:
                ready(address, store)

        _run(_Server(_config(app, host, port, certificate, key), answers), host, port)


def _check_address(host: str, port: int) -> None:
    """Refuse where nobody can listen, before anything is made or opened."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ServingError(_NO_ADDRESS.format(host)) from None
    problems = [_bind(family, kind, where) for family, kind, _, _, where in places]
    if errno.EADDRNOTAVAIL in problems and 0 not in problems:
        raise ServingError(_NO_ADDRESS.format(host))
    if set(problems) - {0, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
        raise ServingError(_TAKEN.format(port, host))


def _bind(family: int, kind: int, where: Any) -> int:  # noqa: ANN401  as getaddrinfo has it
    """Listen nowhere for a moment; return the number of the error, or 0."""
    try:
        with socket.socket(family, kind) as tried:
            # As the server itself does, so that a port which was just left is free.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(where)
    except OSError as error:
        return error.errno or errno.EADDRINUSE
    return 0


@contextmanager
def running(app: FastAPI, *, port: int = 0) -> Iterator[str]:
    """Serve an application on this machine in a thread, while a block runs.

    Parameters
    ----------
    app : FastAPI
        What `make_app` made.
    port : int, default 0
        The port; any that is free by default.

    Yields
    ------
    str
        Its address.
    """
    found: list[str] = []
    started = threading.Event()

    def ready(address: str) -> None:
        found.append(address)
        started.set()

    server = _Server(_config(app, "127.0.0.1", port, None, None), ready)
    thread = threading.Thread(target=_run, args=(server, "127.0.0.1", port), daemon=True)
    thread.start()
    try:
        if not started.wait(_START_SECONDS):
            raise ServingError("the aggregator did not start.")
        yield found[0]
    finally:
        server.stop()
        thread.join()


class Live(RemoteStudy):
    """A study that collects at a running aggregator, whose store can be looked into."""

    def __init__(self, store: Store, url: str, token: str) -> None:
        super().__init__(url, token=token)
        self._store, self.page, self.token = store, url, token

    def counts(self, phase: str) -> Counts:
        """Return what the stored reports of a phase add up to."""
        counts = self._store.counts(self.name, phase)
        if counts is None:
            raise SupmError(f"nobody reported in the {phase} phase.")
        return counts


@contextmanager
def live(study: Study, *, simulation: bool) -> Iterator[Live]:
    """Open a study at an aggregator that runs as long as the block does, in a folder of its own."""
    with TemporaryDirectory(prefix="supm-demo-") as folder:
        store = Store.open(f"sqlite:///{Path(folder) / 'supm.db'}")
        try:
            secrets = StudySecrets.draw()
            opened = store.create(study, simulation=simulation, **secrets.hashes)
            with running(make_app(store)) as url:
                yield Live(store, f"{url}/studies/{opened.name}", secrets.token)
        finally:
            store.close()


def _config(
    app: FastAPI, host: str, port: int, certificate: str | None, key: str | None
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        # Its own log would hold addresses and paths; ours has one line for each request.
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        ws="none",
        limit_concurrency=_room_for_connections(),
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


def _room_for_connections() -> int:
    """Let the process open as many files as it may, and return how many may be connections."""
    if sys.platform == "win32":
        return _MOST_CONNECTIONS
    import resource  # noqa: PLC0415  not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_CONNECTIONS + _OTHER_FILES
    files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(files // 2, files - _OTHER_FILES)


def _run(server: _Server, host: str, port: int) -> None:
    try:
        server.run()
    except SystemExit:
        # uvicorn leaves so where it cannot listen.
        raise ServingError(_TAKEN.format(port, host)) from None
    if not server.started:
        raise ServingError("the aggregator could not start; its log says why.")
