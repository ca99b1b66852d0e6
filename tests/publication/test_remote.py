"""A log at an address has a time and a length for each answer, whatever it sends."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from supm.publication import remote
from supm.publication.remote import RemoteLog, UnreachableError

HEAD = b"HTTP/1.1 200 OK\r\n"
Listening = Callable[[bytes], str]


@pytest.fixture
def dripping() -> Iterator[Listening]:
    """Return what starts a server that sends a beginning, and then one sign after the other."""
    stopped, servers = threading.Event(), list[socket.socket]()

    def answer(server: socket.socket, begin: bytes) -> None:
        with suppress(OSError):
            link, _ = server.accept()
            with link:
                link.recv(4096)
                link.sendall(begin)
                while not stopped.wait(0.02):
                    link.sendall(b"1")

    def start(begin: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=answer, args=(server, begin), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield start
    stopped.set()
    for each in servers:
        each.close()


@pytest.mark.parametrize(
    "begin",
    [b"", HEAD + b"X-Long: ", HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;", HEAD + b"\r\n["],
)
def test_there_is_one_deadline_for_all_of_an_answer(
    begin: bytes, dripping: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_SECONDS_FOR_ALL", 0.3)
    # What drips has no end, so that to be refused at all is to be refused in time.
    with pytest.raises(UnreachableError, match=r"in time|has no end"):
        RemoteLog(dripping(begin)).places("key")


def test_only_what_holds_entries_may_be_long(
    dripping: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_MOST_SHORT", 1000)
    body = json.dumps(["x" * 2000]).encode()
    answer = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    assert RemoteLog(dripping(answer)).entries(0, 1) == ["x" * 2000]
    with pytest.raises(UnreachableError, match="has no end"):
        RemoteLog(dripping(answer)).places("key")
