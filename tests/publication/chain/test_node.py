"""A node that is not there, hangs, lies or is none is told of in one sentence, soon."""

from __future__ import annotations

import http.server
import importlib
import os
import socket
import socketserver
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from supm.publication.chain import Chain, ChainAccount, ChainError, deploy

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("supm.publication.chain.node", reason="pip install 'supm[chain]'")

sending: Any = importlib.import_module("supm.publication.chain.client")
node_module: Any = importlib.import_module("supm.publication.chain.node")

ADDRESS = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"
SECRETS = ("carl", "swordfish", "v3key0123456789", "tokenvalue")
PATH = "/v3key0123456789?token=tokenvalue"


def with_secrets(port: int) -> str:
    return f"http://carl:swordfish@127.0.0.1:{port}{PATH}"


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ChainError) as refused:
        call()
    shown = "".join(traceback.format_exception(refused.value))
    assert not [secret for secret in SECRETS if secret in shown.replace("SECRETS", "")]
    return str(refused.value)


@pytest.fixture
def listening() -> Iterator[Callable[[type[socketserver.BaseRequestHandler]], int]]:
    """Return a function that starts a server of a kind; return its port."""
    servers = []

    def start(handler: type[socketserver.BaseRequestHandler]) -> int:
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return int(server.server_address[1])

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def answering(status: int, body: bytes, **headers: str) -> type[http.server.BaseHTTPRequestHandler]:
    class Answering(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Answering


def test_a_node_that_is_not_there_is_told_of() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    told = refusal(lambda: Chain(with_secrets(port), ADDRESS).latest())
    assert told == "the node cannot be reached; is its URL right, and is it running?"


def test_a_node_that_never_answers_does_not_hang_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = with_secrets(silent.getsockname()[1])
        told = refusal(lambda: Chain(url, ADDRESS).latest())
    assert told == "the node did not answer within 0.2 seconds; is its URL right?"


def test_a_node_that_answers_byte_by_byte_does_not_hang_us(
    monkeypatch: pytest.MonkeyPatch, listening: Any
) -> None:
    class Dripping(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not stopped.wait(0.05):
                self.request.sendall(b"x")

    stopped = threading.Event()
    monkeypatch.setattr(node_module, "ANSWER_SECONDS", 0.3)
    try:
        url = with_secrets(listening(Dripping))
        assert "did not answer within 0.3" in refusal(lambda: Chain(url, ADDRESS).latest())
    finally:
        stopped.set()


def test_a_process_ends_though_its_node_does_not_answer() -> None:
    program = (
        "import sys; from supm.publication.chain import Chain, ChainError, node\n"
        "node.ANSWER_SECONDS = 0.2\n"
        "node._post = lambda *_: __import__('time').sleep(1000)\n"
        f"try: Chain('http://127.0.0.1:1', '{ADDRESS}').latest()\n"
        "except ChainError as error: print(error)\n"
    )
    done = subprocess.run(  # noqa: S603  the words are above
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert "did not answer within 0.2" in done.stdout


def test_the_library_leaves_the_limit_on_recursion_as_it_was() -> None:
    """Else a stranger's JSON, read elsewhere in the process, could end it."""
    program = (
        "import json, sys; before = sys.getrecursionlimit()\n"
        "from supm.publication.chain import Chain, ChainAccount; ChainAccount(b'1' * 32)\n"
        "assert sys.getrecursionlimit() == before\n"
        "try: json.loads('[' * 100_000)\n"
        "except RecursionError: print('refused')\n"
    )
    done = subprocess.run(  # noqa: S603  the words are above
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "refused\n"


@pytest.mark.parametrize(
    "body", [b"", b"<html>Welcome</html>", b"[]", b"3", b'{"hello": 1}', b"\xff", b"[" * 10**5]
)
def test_what_is_no_node_is_told_by_its_status(listening: Any, body: bytes) -> None:
    url = with_secrets(listening(answering(404, body)))
    told = refusal(lambda: Chain(url, ADDRESS).latest())
    assert told.endswith("is no Ethereum node: it answered with HTTP status 404.")


def test_a_redirection_is_not_followed(listening: Any) -> None:
    asked = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def handle(self) -> None:
            asked.append(self.client_address)

    other = f"http://127.0.0.1:{listening(Elsewhere)}/"
    url = with_secrets(listening(answering(307, b"", Location=other)))
    assert "HTTP status 307" in refusal(lambda: Chain(url, ADDRESS).latest())
    assert asked == []


def test_an_answer_without_end_is_cut(listening: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "_LARGEST_ANSWER", 1000)
    url = with_secrets(listening(answering(200, b'{"result": "' + b"0" * 2000 + b'"}')))
    assert "too long to be one" in refusal(lambda: Chain(url, ADDRESS).latest())


@pytest.mark.parametrize(
    "result", [b'"hello"', b"{}", b"[]", b"null", b'"0x"', b"12", b'"0x12", "id": "no"', b"true"]
)
def test_nonsense_is_a_refusal_and_no_failure_of_ours(listening: Any, result: bytes) -> None:
    body = b'{"jsonrpc": "2.0", "id": 0, "result": ' + result + b"}"
    url = with_secrets(listening(answering(200, body)))
    told = refusal(lambda: Chain(url, ADDRESS).latest())
    assert told.endswith(".")
    assert "\n" not in told


def test_a_complaint_of_the_node_is_told_without_what_it_repeats(listening: Any) -> None:
    complaint = b"bad key v3key0123456789 of carl\\n\\u001b[2J"
    error = b'{"code": -32000, "message": "' + complaint + b'"}'
    url = with_secrets(
        listening(answering(401, b'{"jsonrpc":"2.0","id":0,"error":' + error + b"}"))
    )
    told = refusal(lambda: Chain(url, ADDRESS).latest())
    assert told == "the node refused the chain's id: bad key … of …  [2J."


@pytest.mark.parametrize(
    "url", ["", "swordfish", "ftp://swordfish/", "http://", "http://[swordfish", "http://x:99999/"]
)
def test_what_is_no_url_is_refused_and_not_shown(url: str, log: bytes) -> None:
    account = ChainAccount(bytes(31) + b"1")
    for call in (lambda: Chain(url, ADDRESS), lambda: deploy(url, account, log)):
        assert refusal(call).startswith("the node's URL must begin with http://")


@pytest.mark.parametrize(
    "address",
    ["", "0x12", ADDRESS[2:], ADDRESS.replace("E", "e"), ADDRESS + "00", ADDRESS + "\n", None, 7],
)
def test_what_is_no_address_is_refused(address: Any, on_node: Any, log: bytes) -> None:
    told = refusal(lambda: Chain("http://127.0.0.1:1", address))
    assert told.startswith("contract must be an address, 0x and 40 digits")
    if address is not None:
        told = refusal(lambda: on_node.chain.check_code(log=log, publisher=address))
        assert told.startswith("publisher must be an address")


def test_a_client_does_not_show_its_url() -> None:
    assert repr(Chain(with_secrets(1), ADDRESS)) == f"Chain(contract='{ADDRESS}')"


def test_a_password_in_the_url_is_sent_and_the_path_is_kept(listening: Any) -> None:
    asked = []

    class Noting(answering(200, b"{}")):  # type: ignore[misc]
        def do_POST(self) -> None:  # noqa: N802  the library's name
            asked.append((self.path, self.headers["authorization"]))
            super().do_POST()

    refusal(lambda: Chain(with_secrets(listening(Noting)), ADDRESS).latest())
    assert asked == [(PATH, "Basic Y2FybDpzd29yZGZpc2g=")]
