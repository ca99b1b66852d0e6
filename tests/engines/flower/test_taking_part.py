"""A party's side without a network: a node that hands out what it was given."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

import httpx
from flwr.app import Message, Metadata, RecordDict

from supm._errors import FederationError
from supm.engines.flower import NodeKey, take_part
from supm.engines.flower.coordinating import _content
from supm.engines.flower.taking_part import ASK, END, PartyNode, _insisting, bytes_of, record_of


class FakeNode:
    number = 2

    def __init__(self, messages: list[Message | None]) -> None:
        self._messages = messages
        self.sent: list[Message] = []

    def receive(self) -> Message | None:
        return self._messages.pop(0) if self._messages else None

    def send(self, reply: Message) -> None:
        self.sent.append(reply)


class Teller:
    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        return state + b"+", message + state


class Failing:
    def answer(self, _state: bytes, _message: bytes) -> tuple[bytes, bytes]:
        own = "the record of patient 17"
        raise RuntimeError(own)


def message(run: int, content: bytes, kind: str = ASK) -> Message:
    metadata = Metadata(
        run_id=run,
        message_id="x",
        src_node_id=1,
        dst_node_id=2,
        reply_to_message_id="",
        group_id="",
        created_at=0.0,
        ttl=1e12,
        message_type=kind,
    )
    made: Message = Message(content=record_of(content), metadata=metadata)  # type: ignore[call-overload]  # as Flower makes it
    return made


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that lets an answerer take part with so many messages."""

    def run(answerer: Any, node: FakeNode, patience: float = 5.0) -> bytes:
        @contextlib.contextmanager
        def connected(*_: Any) -> Iterator[FakeNode]:
            yield node

        monkeypatch.setattr(PartyNode, "connected", connected)
        key = NodeKey.made(tmp_path / "key")
        certificate = tmp_path / "ca.pem"
        return take_part(
            answerer, address="x:1", certificate=certificate, key=key, patience=patience
        )

    return run


def test_a_party_answers_until_it_is_over_and_returns_its_state(part: Any) -> None:
    node = FakeNode([None, message(1, b"a"), None, message(1, b"b"), message(1, b"", END)])
    assert part(Teller(), node) == b"++"
    assert [bytes_of(each.content) for each in node.sent] == [b"a", b"b+", b""]


def test_a_second_run_gets_no_answer(part: Any) -> None:
    asked = [message(1, b"a"), message(2, b"invite"), message(2, b"", END), message(1, b"", END)]
    node = FakeNode([*asked])
    assert part(Teller(), node) == b"+"
    assert [bytes_of(each.content) for each in node.sent] == [b"a", b""]
    assert {each.metadata.run_id for each in node.sent} == {1}


def test_the_server_is_told_nothing_of_a_partys_error(part: Any) -> None:
    node = FakeNode([message(1, b"a")])
    with pytest.raises(RuntimeError, match="patient 17"):
        part(Failing(), node)
    [reply] = node.sent
    assert reply.has_error()
    assert reply.error.reason == "the party did not answer"


def test_a_server_that_falls_silent_is_left(part: Any) -> None:
    with pytest.raises(FederationError, match=r"the server was silent for 0\.3 seconds"):
        part(Teller(), FakeNode([]), patience=0.3)


def test_another_kind_of_message_is_no_question(part: Any) -> None:
    node = FakeNode([message(1, b"a", "query.other")])
    with pytest.raises(ValueError, match="No query function registered"):
        part(Teller(), node)
    assert node.sent[0].has_error()


class Server:
    """Fail so many times before it answers."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)

    def __call__(self) -> str:
        if self._failures:
            raise self._failures.pop(0)
        return "answer"


def status(code: int) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "https://x")
    return httpx.HTTPStatusError("", request=request, response=httpx.Response(code))


def test_a_broken_connection_and_a_busy_server_are_tried_again() -> None:
    assert _insisting(Server(httpx.ConnectError(""), status(503)), 30.0) == "answer"
    with pytest.raises(httpx.ConnectError):
        _insisting(Server(httpx.ConnectError("")), 0.0)


def test_a_refusal_is_final_unless_there_is_time_for_it() -> None:
    with pytest.raises(httpx.HTTPStatusError):
        _insisting(Server(status(403)), 30.0)
    assert _insisting(Server(status(412)), 30.0, 10.0) == "answer"


def test_what_carries_nothing_is_no_reply() -> None:
    empty = message(1, b"")
    other = Message(RecordDict(), reply_to=empty)
    assert _content(empty, node=1) == b""
    assert _content(empty, node=2) is None
    assert _content(other, node=other.metadata.src_node_id) is None
