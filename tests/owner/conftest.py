"""A far end that is no aggregator: a plain HTTP server that keeps every byte it receives."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from supm.collection import plan
from supm.messages import Study
from supm.owner import Wallet
from supm.schema import Categorical, Continuous, Schema


class FarEnd:
    """What the server shows, what it was sent, and how it misbehaves."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.phase: str | None = "train"
        self.invited = False
        self.overrides: dict[str, Any] = {}
        self.document: dict[str, Any] | None = None
        self.receipt: dict[str, Any] = {}
        self.batch: dict[str, Any] | None = None
        self.reports: dict[str, dict[str, Any]] = {}
        self.posts: list[dict[str, Any]] = []
        self.codes: list[str | None] = []
        self.received = bytearray()
        # What happens to the next posts: "lost" hangs up after keeping the report, "dropped"
        # before that, and a number is a status without a report.
        self.faults: list[str | int] = []
        self.base = ""

    @property
    def url(self) -> str:
        return f"{self.base}/studies/abcde12345"

    def status(self) -> dict[str, Any]:
        shown = {"open_phase": self.phase, "document": self.study.hash, "invited": self.invited}
        return shown | self.overrides

    def answer(self, form: dict[str, Any], path: str) -> tuple[int, dict[str, Any]] | None:
        """Return what is answered to a post; None to hang up."""
        fault = self.faults.pop(0) if self.faults else None
        if fault == "lost":
            self.take(form)
        if isinstance(fault, str):
            return None
        if fault is not None:
            return fault, {"error": "come back later."}
        if path.endswith("/batch"):
            return 200, self.batch or self.take_all(form)
        return self.take(form)

    def take(self, form: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        known = form["id"] in self.reports
        self.reports[form["id"]] = form
        verdict = "sent before" if known else "accepted"
        return (200 if known else 201), {"verdict": verdict, "id": form["id"], **self.receipt}

    def take_all(self, form: dict[str, Any]) -> dict[str, Any]:
        codes = [self.take(form | each)[0] for each in form["reports"]]
        return {"accepted": codes.count(201), "sent_before": codes.count(200), "refused": []}


class _Recorded:
    """A socket's file that keeps what is read from it."""

    def __init__(self, file: Any, kept: bytearray) -> None:
        self._file, self._kept = file, kept

    def readline(self, *size: int) -> bytes:
        return self._keep(self._file.readline(*size))

    def read(self, *size: int) -> bytes:
        return self._keep(self._file.read(*size))

    def close(self) -> None:
        self._file.close()

    @property
    def closed(self) -> bool:
        return bool(self._file.closed)

    def _keep(self, data: bytes) -> bytes:
        self._kept += data
        return data


def _handler(end: FarEnd) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            super().setup()
            self.rfile = _Recorded(self.rfile, end.received)  # type: ignore[assignment]  # what the parent uses of it

        def do_GET(self) -> None:
            if self.path.endswith("/document"):
                self._answer(200, end.document or end.study.to_form())
            else:
                self._answer(200, end.status())

        def do_POST(self) -> None:
            form = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            end.posts.append(form)
            end.codes.append(self.headers["X-Invitation"])
            answer = end.answer(form, self.path)
            if answer is None:
                self.close_connection = True
            else:
                self._answer(*answer)

        def _answer(self, code: int, form: dict[str, Any]) -> None:
            body = json.dumps(form).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def study() -> Study:
    schema = Schema(
        attributes=(Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=220)),
        target=Categorical("ill", values=("no", "yes")),
    )
    known = plan(schema, epsilon=1.0, attributes=["age", "pulse"])
    return replace(known, purpose="Who falls ill?")


@pytest.fixture
def record() -> dict[str, object]:
    return {"age": 61.523437, "pulse": 88.765625, "ill": "yes", "name": "Lovelace-Byron"}


@pytest.fixture
def far_end(study: Study) -> Iterator[FarEnd]:
    end = FarEnd(study)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(end))
    end.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield end
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def wallet(tmp_path: Path) -> Iterator[Wallet]:
    with Wallet(tmp_path / "wallet.db") as opened:
        yield opened
