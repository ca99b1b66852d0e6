from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import struct
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Request
from tests.service.conftest import GUARD

from supm.owner import Owner
from supm.service.answers import Refused
from supm.service.app import Settings
from supm.service.limits import read_body
from supm.service.received_reports import ARROW, JSON
from supm.service.store import Submission

Told = Callable[..., Submission]
AS_JSON = {"content-type": JSON}
CODES = ("abcd-efgh-ijkl-mnop", "bcde-fghi-jklm-nopq")


def test_a_report_is_stored_once_however_often_it_is_sent(service: Any) -> None:
    report = service.answer()
    found = [service.send(report) for _ in range(3)]
    assert [each.status_code for each in found] == [201, 200, 200]
    assert found[0].json() == {"verdict": "accepted", "id": report.id}
    assert found[1].json() == {"verdict": "sent before", "id": report.id}
    assert service.get().json()["reports"] == {"train": 1}


@pytest.mark.parametrize("media_type", [JSON, ARROW])
def test_a_batch_counts_each_report_once_and_refuses_each_on_its_own(
    service: Any, told: Told, media_type: str
) -> None:
    given = told(service.opened, 20, 1)
    given.symbols[3, 0] = 99
    body = service.arrow_batch(given) if media_type == ARROW else service.json_batch(given)
    first = service.post("/reports/batch", body, media_type)
    wrong = [{"place": 3, "reason": "outside the alphabet"}]
    assert first.json() == {"accepted": 19, "sent_before": 0, "refused": wrong}
    again = service.post("/reports/batch", body, media_type)
    assert again.json() == {"accepted": 0, "sent_before": 19, "refused": wrong}
    counts = service.store.counts(service.opened.name, "train")
    assert counts is not None
    assert counts.reports == 19


def test_an_invitation_is_for_one_report(serve: Callable[..., Any], told: Told) -> None:
    service = serve(invitations=CODES)
    first, second = service.answer(), service.answer()
    assert service.get().json()["invited"] is True
    assert service.send(first).status_code == 401
    unknown = service.send(first, **{"x-invitation": "none-of-them"})
    hint = (
        "refused: invitation is not known; check it for typing errors, or ask who gave it to you."
    )
    assert (unknown.status_code, unknown.json()["error"]) == (403, hint)
    assert service.send(first, **{"x-invitation": CODES[0].upper()}).status_code == 201
    assert service.send(first, **{"x-invitation": CODES[0]}).status_code == 200
    assert service.send(second, **{"x-invitation": CODES[0]}).status_code == 403
    assert service.send(second, **{"x-invitation": CODES[1]}).status_code == 201
    batch = service.json_batch(told(service.opened, 2, 1))
    assert service.post("/reports/batch", batch).status_code == 403


def test_a_report_after_the_deadline_is_refused(serve: Callable[..., Any]) -> None:
    service = serve(deadlines={"train": 1.0})
    found = service.send(service.answer())
    assert (found.status_code, "deadline" in found.json()["error"]) == (409, True)


def test_a_report_to_another_question_is_refused(service: Any) -> None:
    report = json.loads(service.answer().to_json())
    for changed, status in (
        ({"study": "0" * 64}, 409),
        ({"phase": "reduce"}, 409),
        ({"group": 1}, 409),
        ({"symbols": [0]}, 422),
        ({"symbols": [2**52] * len(report["symbols"])}, 422),
    ):
        body = json.dumps(report | changed).encode()
        assert service.post("/reports", body).status_code == status
    elsewhere = service.client.post("/api/v1/studies/none/reports", json=report)
    assert elsewhere.status_code == 404


BODIES = (b"", b"{", b"null", b"\xff", b"[" * 70_000, b"\0" * 100, b"1" * 5000)


@pytest.mark.parametrize("path", ["/reports", "/reports/batch", "/predict"])
def test_malformed_bodies_and_lengths_are_refused(service: Any, path: str, told: Told) -> None:
    for media_type in (JSON, ARROW):
        for body in (*BODIES, service.arrow_batch(told(service.opened, 3, 1))[:100]):
            assert service.post(path, body, media_type).status_code in (415, 422)
    assert service.post(path, b"{}", "text/plain").status_code == 415
    stream = service.client.post(service.at + path, content=iter([b"{}"]), headers=AS_JSON)
    assert stream.status_code == 411
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as raw:
        head = f"POST {service.at}{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {JSON}\r\n"
        raw.sendall(f"{head}Content-Length: 1000000000\r\n\r\n".encode())
        assert raw.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_a_client_that_runs_away_is_limited(serve: Callable[..., Any]) -> None:
    service = serve(settings=Settings(rate=0.1, burst=3.0))
    found = [service.get() for _ in range(5)]
    assert [each.status_code for each in found] == [200, 200, 200, 429, 429]
    assert 1 <= int(found[-1].headers["retry-after"]) <= 10
    assert service.client.get("/api/v1/health").status_code == 200


def test_reports_that_cannot_be_stored_yet_are_sent_away(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    service = serve(settings=Settings(most_waiting=1))
    other = sqlite3.connect(tmp_path / "app.db")
    other.execute("BEGIN IMMEDIATE")
    reports = [service.answer() for _ in range(2)]
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(service.send(reports[0]).status_code))
    waiting.start()
    while not service_waits(service):
        pass
    busy = service.send(reports[1])
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
    other.rollback()
    other.close()
    waiting.join()
    assert found == [201]
    assert service.send(reports[1]).status_code == 201


def service_waits(service: Any) -> bool:
    """Say whether a report waits: a second one is sent away then, and nothing of it is kept."""
    probe = httpx.get(f"{service.url}/api/v1/metrics", trust_env=False, timeout=GUARD).text
    return "supm_waiting_reports 1" in probe


class Recorder:
    """Hands on what goes to a service, and keeps all bytes that are sent there."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self._target = host, int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.sent = bytearray()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._listener.accept()
            except OSError:
                return
            outer = socket.create_connection(self._target)
            for pair in ((inner, outer, self.sent), (outer, inner, bytearray())):
                threading.Thread(target=self._hand_on, args=pair, daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket, kept: bytearray) -> None:
        # Either side may be gone first.
        with suppress(OSError):
            while data := source.recv(1 << 16):
                kept += data
                target.sendall(data)
        source.close()
        target.close()

    def close(self) -> None:
        self._listener.close()


def test_no_byte_of_a_raw_value_is_sent(service: Any) -> None:
    recorder = Recorder(service.url)
    study = service.opened.study
    with httpx.Client(base_url=recorder.url, trust_env=False, timeout=GUARD) as client:
        for place in range(30):
            record = {**service.record, "age": 10.1234567 + place, "stage": "III", "ward": "north"}
            report = Owner().answer(study, "train", record)
            sent = client.post(f"{service.at}/reports", content=report.to_json(), headers=AS_JSON)
            assert sent.status_code == 201
    recorder.close()
    assert recorder.sent.count(b"POST ") == 30
    body = bytes(recorder.sent)
    for place in range(30):
        age = 10.1234567 + place
        assert f"{age:.4f}".encode() not in body
        for form in ("<d", ">d", "<f", ">f"):
            assert struct.pack(form, age) not in body
    for word in (b"III", b"north", b"yes", b"age", b"stage", b"ward", b"ill"):
        assert word not in body


@pytest.mark.parametrize("media_type", [JSON, ARROW])
def test_a_batch_needs_a_study_without_invitations(
    serve: Callable[..., Any], told: Told, media_type: str
) -> None:
    service = serve(invitations=CODES)
    encode = service.arrow_batch if media_type == ARROW else service.json_batch
    known, fresh, wrong = (told(service.opened, people, people) for people in (1, 2, 3))
    wrong.symbols[:] = 99
    one = json.loads(service.json_batch(known))
    single = json.dumps(one.pop("reports")[0] | one).encode()
    invited = {**AS_JSON, "x-invitation": CODES[0]}
    stored = service.client.post(f"{service.at}/reports", content=single, headers=invited)
    assert stored.status_code == 201
    # Nor does a batch tell whether a report was stored before, or what is in no alphabet.
    for given in (known, fresh, wrong):
        headers = {**invited, "content-type": media_type}
        found = service.client.post(
            f"{service.at}/reports/batch", content=encode(given), headers=headers
        )
        assert (found.status_code, "one by one" in found.json()["error"]) == (403, True)
        assert "an --invitation-file with a code for each row" in found.json()["error"]
    assert service.get().json()["reports"] == {"train": 1}


def test_a_good_report_in_chunks_is_refused(service: Any) -> None:
    body = service.answer().to_json().encode()
    parts = (part for part in (body[:9], body[9:]))
    found = service.client.post(f"{service.at}/reports", content=parts, headers=AS_JSON)
    assert found.request.headers["transfer-encoding"] == "chunked"
    assert found.status_code == 411
    assert service.get().json()["reports"] == {"train": 0}


def _in_a_thread(main: Coroutine[Any, Any, bytes]) -> bytes:
    """Run a coroutine where no other loop runs: Playwright keeps one in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, main).result()


def test_chunks_are_refused_also_where_a_length_is_stated() -> None:
    # Servers differ in which of the two they believe; ours may be behind another.
    headers = [(b"content-length", b"2"), (b"transfer-encoding", b"chunked")]
    request = Request({"type": "http", "headers": headers}, receive=_two_bytes)
    with pytest.raises(Refused) as caught:
        _in_a_thread(read_body(request, 100))
    assert caught.value.status == 411
    alone = Request({"type": "http", "headers": headers[:1]}, receive=_two_bytes)
    assert _in_a_thread(read_body(alone, 100)) == b"{}"


async def _two_bytes() -> dict[str, Any]:
    return {"type": "http.request", "body": b"{}", "more_body": False}
