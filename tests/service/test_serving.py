"""Connections that send nothing, half a header, or are too many, on a real server."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from supm.service import serving
from supm.service.app import make_app
from supm.service.serving import running
from supm.service.store import Store

GUARD = 60.0
WHOLE = b"GET /api/v1/health HTTP/1.1\r\nHost: here\r\n\r\n"
Connect = Callable[..., socket.socket]


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    """Return a function that opens a connection to a service."""
    with ExitStack() as stack:
        store = Store.open(f"sqlite:///{tmp_path}/app.db")
        stack.callback(store.close)
        # Made by the first connection, so that a test can change limits before.
        url: list[str] = []

        def begin(host: str = "127.0.0.1") -> socket.socket:
            if not url:
                url.append(stack.enter_context(running(make_app(store))))
            port = int(url[0].rpartition(":")[2])
            made = socket.create_connection(("127.0.0.1", port), GUARD, source_address=(host, 0))
            return stack.enter_context(made)

        yield begin


def answered(connection: socket.socket) -> bytes:
    """Return the status line; the answer is small and comes whole."""
    return connection.recv(65_536).partition(b"\r\n")[0]


def is_closed(connection: socket.socket) -> bool:
    """Wait until the other side closes, or say that it answers instead."""
    try:
        return connection.recv(65_536) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET / HT", WHOLE[:-2], b"\r\n"])
def test_a_connection_without_a_whole_header_is_closed(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(serving, "_HEADER_SECONDS", 0.3)
    connection = connect()
    connection.sendall(sent)
    assert is_closed(connection)


@pytest.mark.parametrize("sent", [b"GET / HT", WHOLE[:-2], b"\r\n"])
def test_half_a_header_after_an_answer_is_closed_too(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(serving, "_KEEP_ALIVE_SECONDS", 1)
    connection = connect()
    connection.sendall(WHOLE)
    assert answered(connection) == b"HTTP/1.1 200 OK"
    monkeypatch.setattr(serving, "_HEADER_SECONDS", 0.3)
    connection.sendall(WHOLE)
    assert answered(connection) == b"HTTP/1.1 200 OK"
    connection.sendall(sent)
    assert is_closed(connection)


def test_requests_in_one_piece_are_all_answered(connect: Connect) -> None:
    connection = connect()
    connection.sendall(WHOLE * 5)
    found = b""
    while found.count(b"HTTP/1.1 200 OK") < 5:
        part = connection.recv(65_536)
        assert part
        found += part


# Only downwards: a process may lower what it may have at most, and not raise it again.
ROOM = """
import resource
from supm.service.serving import _room_for_connections
for soft, hard in ((1000, 1000), (200, 1000), (200, 200)):
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print(_room_for_connections(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_the_limit_on_files_is_raised_and_some_are_left() -> None:
    words = [sys.executable, "-c", ROOM]
    found = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603  the tests' own words
    assert found.stdout.splitlines() == ["744 1000 1000", "744 1000 1000", "100 200 200"]
