"""A real browser, and the static files over loopback."""

from __future__ import annotations

import http.server
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import httpx
import pytest
import uvicorn

import supm.service
from supm import simulation
from supm.collection.forecasting import made_up_people
from supm.messages import Study
from supm.owner import interview
from supm.service.app import make_app
from supm.service.security import hash_invitation, hash_token
from supm.service.store import Store

_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_TOKEN: Final = "a made-up token"  # noqa: S105  for the tests
_POLICY: Final = "default-src 'none'; script-src 'self'; connect-src 'self'"


# As long as Playwright is open, nobody else can run an event loop in this thread.
@pytest.fixture(scope="module")
def launch(missing: Callable[[str], NoReturn]) -> Iterator[Callable[..., Any]]:
    """Return a function that starts Chromium, driven by Playwright; no browser is downloaded."""
    # The shell is the same engine without a window's parts, and takes less to start.
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        missing("no Chromium here; install the Debian package chromium-headless-shell.")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  absent on some machines
    except ImportError:
        missing("Playwright is not installed; install the extra supm[test].")
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())

        def started(*more: str) -> Any:
            words = [*_FLAGS, *more]
            opened = playwright.chromium.launch(executable_path=program, args=words)
            stack.callback(opened.close)
            return opened

        yield started


@pytest.fixture(scope="module")
def browser(launch: Callable[..., Any]) -> Any:
    """Chromium."""
    return launch()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("content-security-policy", _POLICY)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def static_site() -> Iterator[str]:
    """Serve the folder of the service's static files; return the address."""
    folder = Path(supm.service.__file__).parent
    handler = partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Return where pictures go: into the folder that SUPM_PICTURES names, where they stay."""
    folder = Path(os.environ.get("SUPM_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def blank_page(browser: Any, static_site: str) -> Iterator[Any]:
    """Open a page of the static site that has no script of its own."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{static_site}/static/")
    yield page
    context.close()


@dataclass(frozen=True, kw_only=True)
class Service:
    """A running aggregator, and what an analyst does with it."""

    url: str
    store: Store
    database: str

    def open(self, study: Study, *, invitation: str | None = None, **more: Any) -> str:
        """Open a study and return its name."""
        codes = [] if invitation is None else [hash_invitation(invitation)]
        created = self.store.create(
            study,
            token_hash=hash_token(_TOKEN),
            minimums={},
            deadlines=more.get("deadlines", {}),
            invitations=codes,
            by=more.get("by", ""),
            contact=more.get("contact", ""),
        )
        return created.name

    def act(self, name: str, action: str) -> None:
        """Take the next step, as the analyst."""
        path = f"{self.url}/api/v1/studies/{name}/{action}"
        answer = httpx.post(path, headers={"Authorization": f"Bearer {_TOKEN}"}, timeout=60)
        assert answer.status_code == 200, answer.text

    def fill(self, name: str, rows: int) -> None:
        """Send reports of made-up people to train."""
        source, study = simulation(1), self.store.find(name).study
        asked = interview(study, "train")
        people = asked.encode(made_up_people(study.schema, rows, source))
        told = asked.randomize(people, source).symbols.tolist()
        ids = [f"{place:032x}" for place in range(rows)]
        reports = [{"id": i, "symbols": s} for i, s in zip(ids, told, strict=True)]
        body = {"version": 1, "study": study.hash, "phase": "train", "group": 0}
        path = f"{self.url}/api/v1/studies/{name}/reports/batch"
        answer = httpx.post(path, json=body | {"reports": reports}, timeout=60)
        assert answer.json()["accepted"] == rows


@dataclass(kw_only=True)
class Visit:
    """An owner's page with all that it sent and complained about."""

    page: Any
    address: str
    sent: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("request", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda line: self.complaints.append(line.text))

    def _note(self, request: Any) -> None:
        self.sent.append(f"{request.url} {request.all_headers()} {request.post_data}")
        if not request.url.startswith("blob:"):
            self.hosts.add(httpx.URL(request.url).netloc.decode())
        if request.method == "POST":
            self.bodies.append(request.post_data)

    def go(self) -> Any:
        """Open the page, or open it again."""
        self.page.goto(self.address)
        self.page.wait_for_selector("#part:not([hidden]), #notice:not([hidden])")
        return self.page

    def memory(self) -> str:
        """Return all that the browser remembers."""
        return str(self.page.evaluate("JSON.stringify(localStorage)"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run an aggregator on loopback."""
    database = f"sqlite:///{tmp_path_factory.mktemp('service')}/store.db"
    store = Store.open(database)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(make_app(store), log_level="error", access_log=False, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    yield Service(url=url, store=store, database=database)
    server.should_exit = True
    thread.join()
    listening.close()
    store.close()


@pytest.fixture
def visit(browser: Any, service: Service) -> Iterator[Callable[..., Visit]]:
    """Return a function that opens a study's page in a browser that remembers nothing yet."""
    contexts = []

    def opened(name: str, *, remembered: dict[str, str] | None = None, **looks: Any) -> Visit:
        context = browser.new_context(**looks)
        contexts.append(context)
        visited = Visit(page=context.new_page(), address=f"{service.url}/studies/{name}")
        for key, value in (remembered or {}).items():
            visited.page.add_init_script(f"localStorage.setItem({key!r}, {value!r})")
        visited.listen()
        visited.go()
        return visited

    yield opened
    for context in contexts:
        context.close()
