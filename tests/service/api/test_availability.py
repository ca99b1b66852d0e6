"""Nobody can keep others from being answered by watching, waiting, asking or sending much."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from supm.collection import Trained
from supm.collection import train as train_on
from supm.service import app, kept
from supm.service.answers import Refused
from supm.service.app import Settings
from supm.service.limits import Shares
from supm.service.received_reports import JSON
from supm.service.status import study_progress
from supm.service.store import Store, Submission

Told = Callable[..., Submission]
Watch = Callable[..., tuple[int, socket.socket]]
GUARD = 300.0


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Return a function that begins to watch; it returns the status and the open connection."""
    with ExitStack() as stack:

        def begin(service: Any, host: str = "127.0.0.1") -> tuple[int, socket.socket]:
            made = stack.enter_context(raw(service, host))
            made.sendall(f"GET {service.at}/events HTTP/1.1\r\nHost: here\r\n\r\n".encode())
            return status_of(made), made

        yield begin


def raw(service: Any, host: str = "127.0.0.1") -> socket.socket:
    """Connect from an address of this machine."""
    port = int(service.url.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), GUARD, source_address=(host, 0))


def status_of(connection: socket.socket) -> int:
    return int(connection.recv(65_536).split()[1])


def test_who_stops_to_watch_makes_room_for_another(serve: Callable[..., Any], watch: Watch) -> None:
    service = serve(settings=Settings(most_streams=1))
    status, connection = watch(service)
    for _ in range(5):
        assert status == 200
        assert watch(service)[0] == 503
        connection.close()
        # The server hears of it a little later.
        for _ in range(1000):
            status, connection = watch(service)
            if status == 200:
                break


def test_many_who_begin_to_watch_at_once_get_no_more_than_there_are(
    serve: Callable[..., Any], watch: Watch
) -> None:
    service = serve(settings=Settings(most_streams=4))
    with ThreadPoolExecutor(60) as threads:
        found = list(threads.map(lambda _: watch(service)[0], range(60)))
    assert (found.count(200), found.count(503)) == (4, 56)


def test_one_client_cannot_take_all_streams(serve: Callable[..., Any], watch: Watch) -> None:
    service = serve(settings=Settings(most_streams=4, most_streams_each=2))
    assert [watch(service)[0] for _ in range(3)] == [200, 200, 429]
    assert [watch(service, "127.0.0.2")[0] for _ in range(3)] == [200, 200, 503]


def test_all_who_watch_a_study_share_one_look(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_LOOK_SECONDS", 3600.0)
    looks: list[str] = []

    def counted(store: Store, name: str) -> dict[str, Any]:
        looks.append(name)
        return study_progress(store, name)

    monkeypatch.setattr("supm.service.api.studies.study_progress", counted)
    service = serve()
    for _ in range(20):
        with service.client.stream("GET", f"{service.at}/events") as stream:
            assert next(stream.iter_lines()) == "event: progress"
        assert service.get("/progress").status_code == 200
    assert looks == [service.opened.name]


def test_a_step_is_seen_at_once(serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_LOOK_SECONDS", 3600.0)
    service = serve()
    assert service.get("/progress").json()["state"] == "collecting to train"
    assert service.step("close").json()["state"] == "closed"
    assert service.get("/progress").json()["state"] == "closed"


def test_health_asks_the_database_once_a_second_and_not_for_each_request(
    serve: Callable[..., Any], folder: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_LOOK_SECONDS", 3600.0)
    asked: list[bool] = []

    def counted() -> bool:
        asked.append(True)
        return True

    monkeypatch.setattr(folder, "healthy", counted)
    service = serve(settings=Settings(rate=0.1, burst=1.0))
    for _ in range(50):
        assert service.client.get("/api/v1/health").status_code == 200
    assert asked == [True]
    found = [service.client.get(f"/api/v1/health{more}").status_code for more in ("z", "/z")]
    assert found == [404, 429]


@pytest.mark.parametrize("path", ["/reports", "/reports/batch", "/predict"])
def test_a_body_to_no_study_is_not_waited_for(service: Any, path: str) -> None:
    head = f"POST /api/v1/studies/nosuch{path} HTTP/1.1\r\nHost: here\r\nContent-Type: {JSON}\r\n"
    with raw(service) as connection:
        connection.sendall(f"{head}Content-Length: 1000000\r\n\r\n".encode())
        assert status_of(connection) == 404


def test_a_stalled_body_sends_other_large_ones_away_and_lets_reports_in(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    all_bodies = Shares("too much", most=1 << 20, each=1 << 20)
    monkeypatch.setattr(app, "_bodies", lambda _: all_bodies)
    service = serve(settings=Settings(largest_batch=1 << 20))
    size = (1 << 20) - 1
    head = f"POST {service.at}/reports/batch HTTP/1.1\r\nHost: here\r\nContent-Type: {JSON}\r\n"
    other = b" " * (1 << 18)
    with raw(service) as stalled:
        stalled.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode() + b" " * (size - 1))
        wait_until(lambda: all_bodies.held == size - 1)
        assert service.post("/reports/batch", other).status_code == 503
        assert service.send(service.answer()).status_code == 201
    wait_until(lambda: all_bodies.held == 0)
    assert service.post("/reports/batch", other).status_code == 422


def test_one_body_is_always_read_and_no_client_takes_all() -> None:
    for given in (Settings(), Settings(most_body_bytes=1 << 10), Settings(largest_batch=1 << 28)):
        shares, largest = app._bodies(given), max(given.largest_batch, given.largest_report)
        shares.take("192.0.2.1", largest)
    with pytest.raises(Refused):
        app._bodies(Settings()).take("192.0.2.1", (1 << 26) + 1)


def test_a_client_that_runs_away_is_limited_and_others_are_served(service: Any, told: Told) -> None:
    """With the limits that everybody has who sets none."""
    # What the server refuses itself, so that a slow machine comes to the limit soon too.
    report = json.dumps({**json.loads(service.answer().to_json()), "symbols": [99]})
    head = f"POST {service.at}/reports HTTP/1.1\r\nHost: here\r\nContent-Type: {JSON}\r\n"
    posts = f"{head}Content-Length: {len(report)}\r\n\r\n{report}".encode() * 50
    limited: list[bytes] = []

    def run_away(_: int) -> None:
        with raw(service) as connection:
            while not limited:
                connection.sendall(posts)
                found = b""
                while found.count(b"HTTP/1.1 ") < 50 or not found.endswith(b"}"):
                    found += connection.recv(1 << 20)
                refused = [part for part in found.split(b"HTTP/1.1 ") if part.startswith(b"429 ")]
                limited.extend(refused)

    other = httpx.HTTPTransport(local_address="127.0.0.2")
    with (
        httpx.Client(base_url=service.url, transport=other, timeout=GUARD) as owner,
        ThreadPoolExecutor(3) as way,
    ):
        running = [way.submit(run_away, place) for place in range(3)]
        statuses = []
        while not all(each.done() for each in running):
            statuses.append(post(owner, service, service.answer().to_json()))
        for each in running:
            each.result()
        assert b"\r\nretry-after: 1\r\n" in limited[0]
        statuses.append(post(owner, service, service.answer().to_json()))
        batch = service.json_batch(told(service.opened, 1000, 1))
        assert post(owner, service, batch, "/reports/batch") == 200
    assert set(statuses) == {201}
    assert service.store.reports(service.opened.name) == {"train": 1000 + len(statuses)}


def post(owner: httpx.Client, service: Any, body: str | bytes, path: str = "/reports") -> int:
    headers = {"content-type": JSON}
    return owner.post(service.at + path, content=body, headers=headers, timeout=GUARD).status_code


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(6000):
        if true():
            return
        time.sleep(0.01)
    pytest.fail("it never came about")


def test_a_slow_training_lets_others_be_answered(
    service: Any, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = service.begin_to_serve(told(service.opened, 200, 1))
    trainings, begun, go = [], threading.Event(), threading.Event()

    def slow(*given: Any, **more: Any) -> Trained:
        trainings.append(1)
        begun.set()
        go.wait(GUARD)
        return train_on(*given, **more)

    monkeypatch.setattr(kept, "train", slow)
    body = service.answer(study, "test").to_json()
    url, headers = f"{service.url}{service.at}/predict", {"content-type": JSON}

    def ask(_: int) -> int:
        sent = httpx.post(url, content=body, headers=headers, timeout=GUARD, trust_env=False)
        return sent.status_code

    with ThreadPoolExecutor(60) as threads:
        found = threads.map(ask, range(60))
        try:
            assert begun.wait(GUARD)
            for path in ("/api/v1/health", service.at, f"{service.at}/progress"):
                assert service.client.get(path).status_code == 200
            assert not go.is_set()
        finally:
            go.set()
        assert list(found) == [200] * 60
    assert trainings == [1]
