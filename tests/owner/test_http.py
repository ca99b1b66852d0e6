from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from supm._errors import ParameterError
from supm.owner.http import Remote, RemoteError, _seconds, split_study_url

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture
def server() -> Iterator[Callable[[list[Answer]], tuple[str, list[Any]]]]:
    """Return a function that serves answers in turn, and keeps what was asked."""
    servers: list[ThreadingHTTPServer] = []

    def begin(answers: list[Answer]) -> tuple[str, list[Any]]:
        asked: list[Any] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                asked.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
                status, headers, body = answers[min(len(asked), len(answers)) - 1]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST  # noqa: N815  the name that http.server looks for

            def log_message(self, *_: object) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}", asked

    yield begin
    for each in servers:
        each.shutdown()
        each.server_close()


def test_an_answer_is_read_with_its_status(server: Any) -> None:
    url, asked = server([(200, {}, b'{"a": 1}'), (409, {}, b'{"error": "no"}')])
    remote = Remote(url, token="secret")  # noqa: S106  of the tests
    assert remote.get_json("/one") == (200, {"a": 1})
    assert remote.post_json("/two", "{}", {"X-Invitation": "c"}) == (409, {"error": "no"})
    assert [each[:2] for each in asked] == [("GET", "/one"), ("POST", "/two")]
    assert asked[1][2]["Authorization"] == "Bearer secret"
    assert asked[1][2]["X-Invitation"] == "c"
    assert asked[1][3] == b"{}"
    assert "secret" not in repr(remote)


def test_a_busy_aggregator_is_asked_again_after_the_time_that_it_names(server: Any) -> None:
    busy = (503, {"Retry-After": "7"}, b'{"error": "busy"}')
    limited = (429, {"Retry-After": "soon"}, b'{"error": "slow down"}')
    url, asked = server([busy, limited, (201, {}, b"{}")])
    waited: list[float] = []
    assert Remote(url, wait=waited.append).post_json("/", b"x") == (201, {})
    assert waited == [7.0, 0.2]
    assert [each[3] for each in asked] == [b"x"] * 3


def test_attempts_end(server: Any) -> None:
    url, asked = server([(503, {"Retry-After": "1"}, b'{"error": "busy"}')])
    found = Remote(url, wait=lambda _: None, attempts=3).get_json("/")
    assert (found[0], len(asked)) == (503, 3)


def test_an_aggregator_that_is_not_there_is_said_in_one_sentence() -> None:
    waited: list[float] = []
    remote = Remote("http://127.0.0.1:9", wait=waited.append, attempts=3)
    with pytest.raises(RemoteError, match=r"^http://127.0.0.1:9 cannot be reached \(.*\); is the"):
        remote.get_json("/")
    assert waited == [0.1, 0.2]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_none_is_refused(server: Any, body: bytes) -> None:
    url, _ = server([(200, {}, body)])
    with pytest.raises(RemoteError, match="not one of an aggregator"):
        Remote(url).get_json("/")


def test_a_redirect_is_not_followed(server: Any) -> None:
    there, asked = server([(200, {}, b"{}")])
    url, _ = server([(302, {"Location": there}, b'{"error": "elsewhere"}')])
    assert Remote(url, token="secret").get_json("/")[0] == 302  # noqa: S106  of the tests
    assert asked == []


def test_a_token_is_not_sent_in_clear() -> None:
    with pytest.raises(ParameterError, match="https"):
        Remote("http://elsewhere.example", token="secret")  # noqa: S106  of the tests
    with pytest.raises(ParameterError, match="URL must be"):
        Remote("file:///etc/passwd")


def test_the_address_of_a_study_is_taken_apart() -> None:
    for end in ("", "/", "/dashboard"):
        found = split_study_url(f"https://host/deep/studies/abc{end}")
        assert found == ("https://host/deep", "abc")
    assert split_study_url("https://host/api/v1/studies/abc") == ("https://host", "abc")
    for wrong in ("abc", "https://host/", "https://host/studies/", "ftp://host/studies/abc"):
        with pytest.raises(ParameterError, match="--study must be"):
            split_study_url(wrong)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "soon", None])
def test_a_strange_time_to_wait_is_not_believed(text: str | None) -> None:
    assert _seconds(text, 0.5) == 0.5
    assert _seconds("2", 0.5) == 2.0


@pytest.mark.parametrize(
    "wrong",
    [
        "http://127.0.0.1:1/studies/\u00e4",
        "http://h\u00f6st/studies/a",
        "http://[::1/studies/a",
        "http://host:port/studies/a",
        "http://host/\x1b]0;/studies/a",
        "http:///studies/a",
    ],
)
def test_an_address_that_is_none_is_refused_in_a_sentence(wrong: str) -> None:
    with pytest.raises(ParameterError, match="--study must be the address of a study"):
        split_study_url(wrong)
    with pytest.raises(ParameterError, match="URL must be") as caught:
        Remote(wrong)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", ["https://me:secret@host/studies/a", "https:me:secret@host/studies/a", "me:secret@"]
)
def test_a_password_in_an_address_is_refused_and_not_shown(wrong: str) -> None:
    for read in (split_study_url, Remote):
        with pytest.raises(ParameterError, match="without a user's name or a password") as caught:
            read(wrong)
        assert "secret" not in str(caught.value)
