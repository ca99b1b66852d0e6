"""Servers in processes of their own, which may be killed, and owners who send until they hear."""

from __future__ import annotations

import http.client
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa

from supm.collection import count
from supm.mechanisms import Reports
from supm.owner import interview
from supm.service.received_reports import ARROW, JSON
from supm.service.store import Opened, Store, Submission
from supm.service.store._tables import ids

# To import takes longer than to serve: one process imports, and forks each server.
NURSERY = """
import os, signal, sys
import psycopg, uvicorn.lifespan.on, uvicorn.loops.auto, uvicorn.protocols.http.auto
import supm.service.serving
from supm.cli import main
from supm.service.store import Store
Store.open(sys.argv[1]).close()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    child = os.fork()
    if not child:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(2, 1)
        try:
            main(["serve", *line.rstrip("\\n").split("\\t")])
        finally:
            os._exit(0)
    print(child, flush=True)
"""
REPORTS = {"one": 1, "json": 40, "arrow": 150}


@dataclass
class Server:
    """One aggregator: a process, and where it listens."""

    process: int
    url: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def kill(self) -> None:
        """End it at once (kill -9), and return when it is gone."""
        try:
            os.kill(self.process, signal.SIGKILL)
            while True:
                os.kill(self.process, 0)
                time.sleep(0.002)
        except ProcessLookupError:
            return


class Nursery:
    """Starts servers by forking a process that has all modules."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: list[Server] = []
        self._said = folder / "log.txt"
        self._log = self._said.open("wb")
        self._parent = subprocess.Popen(  # noqa: S603  the tests' own words
            [sys.executable, "-c", NURSERY, f"sqlite:///{folder}/first.db"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )

    def start(self, database: str, port: int = 0, *more: str) -> Server:
        """Run `supm serve` with some more words, and return once it answers."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        place = self._folder / f"address{len(self._servers)}.json"
        words = ["--db", database, "--port", str(port), "--rate", "100000", "--json", str(place)]
        self._parent.stdin.write("\t".join([*words, *more]) + "\n")
        self._parent.stdin.flush()
        process = int(self._parent.stdout.readline())
        self._servers.append(Server(process, _address(place, process)))
        return self._servers[-1]

    def said(self) -> str:
        """Return what all servers wrote into their log so far."""
        return self._said.read_text()

    def end(self) -> None:
        for server in self._servers:
            server.kill()
        self._parent.communicate()
        self._log.close()


def _address(place: Path, process: int) -> str:
    while not place.exists() or not place.read_text().endswith("}\n"):
        os.kill(process, 0)  # raises where it ended instead
        time.sleep(0.005)
    return str(json.loads(place.read_text())["url"])


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("nursery"))
    yield made
    made.end()


@dataclass
class Sender(threading.Thread):
    """An owner who sends report after report, each until it is acknowledged."""

    url: str
    kind: str
    make: Callable[[int], Submission]
    sent: list[Submission] = field(default_factory=list)
    accepted: int = 0
    again: int = 0
    attempts: int = 0
    refused: str = ""
    sent_away: list[str | None] = field(default_factory=list)
    """When to come again, of each answer 503."""

    def __post_init__(self) -> None:
        super().__init__()
        self._stopping = False
        self._to: http.client.HTTPConnection | None = None

    __hash__ = threading.Thread.__hash__

    @property
    def heard(self) -> int:
        """How many reports were acknowledged."""
        return self.accepted + self.again

    def stop(self) -> None:
        """End after the acknowledgement of what is under way."""
        self._stopping = True

    def run(self) -> None:
        number = 0
        while not self._stopping and not self.refused:
            given = self.make(number)
            path, media_type, body = encoded(given, self.kind)
            self._send_until_heard(f"/api/v1/studies/{given.name}/{path}", media_type, body)
            if not self.refused:
                self.sent.append(given)
            number += 1
        if self._to is not None:
            self._to.close()

    def _send_until_heard(self, path: str, media_type: str, body: bytes) -> None:
        while True:
            self.attempts += 1
            status, answer = self._post(path, media_type, body)
            if status in (200, 201):
                self._count(answer)
                return
            if status not in (0, 503):
                self.refused = str(answer["error"])
                return
            time.sleep(0.02)

    def _count(self, answer: dict[str, Any]) -> None:
        first = answer.get("verdict") == "accepted"
        self.accepted += answer.get("accepted", int(first))
        self.again += answer.get("sent_before", int(not first and "verdict" in answer))

    def _post(self, path: str, media_type: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Return the answer; 0 where there was none."""
        try:
            if self._to is None:
                self._to = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
            self._to.request("POST", path, body, {"Content-Type": media_type})
            answer = self._to.getresponse()
            if answer.status == 503:
                self.sent_away.append(answer.getheader("Retry-After"))
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            if self._to is not None:
                self._to.close()
            self._to = None
            return 0, {}


def encoded(given: Submission, kind: str) -> tuple[str, str, bytes]:
    """Return the path, the media type and the body of reports."""
    head = {"version": 1, "study": given.document, "phase": given.phase, "group": 0}
    if kind == "arrow":
        return "reports/batch", ARROW, arrow_stream(given)
    ids, told = [each.tobytes().hex() for each in given.ids], given.symbols.tolist()
    if kind == "one":
        return "reports", JSON, json.dumps({**head, "symbols": told[0], "id": ids[0]}).encode()
    reports = [{"id": one, "symbols": row} for one, row in zip(ids, told, strict=True)]
    return "reports/batch", JSON, json.dumps({**head, "reports": reports}).encode()


def arrow_stream(given: Submission) -> bytes:
    ids = pa.array([each.tobytes() for each in given.ids], pa.binary(16))
    flat = pa.array(given.symbols.ravel())
    symbols = pa.FixedSizeListArray.from_arrays(flat, given.symbols.shape[1])
    head = {"version": "1", "study": given.document, "phase": given.phase, "group": "0"}
    made = pa.record_batch([ids, symbols], names=["id", "symbols"]).replace_schema_metadata(head)
    file = io.BytesIO()
    with pa.ipc.new_stream(file, made.schema) as writer:
        writer.write_batch(made)
    return file.getvalue()


@dataclass(frozen=True)
class Crowd:
    """Three owners: one sends single reports, one JSON batches and one Arrow batches."""

    store: Store
    opened: Opened
    senders: list[Sender]

    def wait_until_heard(self) -> None:
        """Wait until each owner has more acknowledgements than now."""
        before = [each.heard for each in self.senders]
        self.wait_until(lambda: all(map(int.__gt__, (each.heard for each in self.senders), before)))

    def wait_until_sent_away(self) -> None:
        """Wait until each owner is sent away once more."""
        before = [len(each.sent_away) for each in self.senders]
        self.wait_until(
            lambda: all(map(int.__gt__, (len(each.sent_away) for each in self.senders), before))
        )

    def wait_until(self, true: Callable[[], bool]) -> None:
        for _ in range(12_000):
            if true():
                return
            time.sleep(0.01)
        pytest.fail("it never came about")

    def finish(self) -> None:
        for each in self.senders:
            each.stop()
        for each in self.senders:
            each.join()
            assert each.refused == ""

    def check_nothing_is_lost_or_twice(self) -> None:
        sent = [each for one in self.senders for each in one.sent]
        symbols = np.concatenate([each.symbols for each in sent])
        assert self.store.reports(self.opened.name) == {"train": len(symbols)}
        asked = interview(self.opened.study, "train")
        expected: Any = count(asked, Reports(symbols=symbols, simulation=False))
        counted: Any = self.store.counts(self.opened.name, "train")
        assert counted.reports == len(symbols)
        assert (counted.counts == expected.counts).all()
        with self.store._database.reading() as connection:
            stored = b"".join(connection.execute(sa.select(ids.c.packed)).scalars())
        numbers = {stored[place : place + 16] for place in range(0, len(stored), 16)}
        assert len(stored) == 16 * len(numbers), "an id is stored twice"
        assert numbers == {one.tobytes() for each in sent for one in each.ids}
        for each in self.senders:
            # An acknowledgement that was lost is one of "sent before" in the end, and no refusal.
            assert each.heard == sum(map(len, each.sent)) > 0


@pytest.fixture
def crowd(sender: Callable[..., Sender]) -> Callable[..., Crowd]:
    """Return a function that lets three owners send to a server."""

    def begin(store: Store, opened: Opened, url: str) -> Crowd:
        kinds = (("one", 1), ("json", 2), ("arrow", 3))
        return Crowd(store, opened, [sender(url, opened, *each) for each in kinds])

    return begin


@pytest.fixture
def body(told: Callable[..., Submission]) -> Callable[..., tuple[Submission, str, str, bytes]]:
    """Return a function that makes reports, and their path, media type and bytes."""

    def make(opened: Opened, kind: str, seed: int) -> tuple[Submission, str, str, bytes]:
        given = told(opened, REPORTS[kind], seed)
        return given, *encoded(given, kind)

    return make


@pytest.fixture
def sender(told: Callable[..., Submission]) -> Iterator[Callable[..., Sender]]:
    """Return a function that starts an owner; the same seed means the same reports."""
    begun: list[Sender] = []

    def begin(url: str, opened: Opened, kind: str, seed: int) -> Sender:
        def make(number: int) -> Submission:
            return told(opened, REPORTS[kind], 1_000_000 * seed + number)

        begun.append(Sender(url=url, kind=kind, make=make))
        begun[-1].start()
        return begun[-1]

    yield begin
    for each in begun:
        each.stop()
        each.join()
