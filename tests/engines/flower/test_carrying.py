from __future__ import annotations

import asyncio
import os
from typing import Any

import numpy as np
import pytest

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, RecordDict

from supm._errors import FederationError
from supm.engines.flower import client_app
from supm.engines.flower.launching import Guard
from supm.engines.flower.taking_part import bytes_of, record_of

SECRET = "0123456789abcdef"  # noqa: S105  of no run


@pytest.mark.parametrize("content", [b"", b"hello", bytes(range(256)) * 100])
def test_bytes_go_in_and_come_out(content: bytes) -> None:
    assert bytes_of(record_of(content)) == content


@pytest.mark.parametrize(
    "records",
    [
        RecordDict(),
        RecordDict({"supm": ConfigRecord({})}),
        RecordDict({"supm": ConfigRecord({"content": "text"})}),
        RecordDict({"supm": ConfigRecord({"content": [b"a", b"b"]})}),
        RecordDict({"other": ConfigRecord({"content": b"hello"})}),
        RecordDict({"supm": ArrayRecord({"content": Array(np.zeros(3))})}),
    ],
)
def test_what_is_something_else_carries_nothing(records: RecordDict) -> None:
    assert bytes_of(records) is None


class Application:
    """Note that a request came through."""

    def __init__(self) -> None:
        self.reached = False

    async def __call__(self, *_: Any) -> None:
        self.reached = True


def passes(path: str, headers: list[tuple[bytes, bytes]], kind: str = "http") -> bool:
    inner, sent = Application(), []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    scope = {"type": kind, "path": path, "headers": headers}
    asyncio.run(Guard(inner, secret=SECRET)(scope, receive, send))
    assert inner.reached == (not sent)
    return inner.reached


OURS = (b"x-supm-run", SECRET.encode())


@pytest.mark.parametrize(
    "path", ["/v1/control/start-run", "/v1/runtime/acquire-task", "/", "/docs"]
)
def test_the_guard_lets_in_who_knows_the_secret(path: str) -> None:
    assert passes(path, [OURS])
    assert not passes(path, [])
    assert not passes(path, [(b"x-supm-run", SECRET[:-1].encode())])
    assert not passes(path, [(b"x-supm-run", b"")])
    assert not passes(path, [OURS, OURS])


@pytest.mark.parametrize(
    ("path", "open_to_all"),
    [
        ("/v1/fleet/pull-messages", True),
        ("/v1/fleet", False),
        ("/v1/fleeting/x", False),
        ("/v1/FLEET/x", False),
        ("//v1/fleet/x", False),
    ],
)
def test_nodes_reach_what_is_theirs_and_nothing_else(path: str, open_to_all: bool) -> None:  # noqa: FBT001  parametrised
    assert passes(path, []) is open_to_all


def test_a_web_socket_is_refused_also_with_the_secret() -> None:
    inner = Application()

    async def send(_: Any) -> None:
        raise AssertionError

    async def receive() -> Any:
        raise AssertionError

    scope = {"type": "websocket", "path": "/v1/control", "headers": [OURS]}
    asyncio.run(Guard(inner, secret=SECRET)(scope, receive, send))
    assert not inner.reached


def test_a_message_without_bytes_is_no_question() -> None:
    class Never:
        def answer(self, _state: bytes, _message: bytes) -> tuple[bytes, bytes]:
            raise AssertionError

    context = Context(run_id=1, node_id=2, node_config={}, state=RecordDict(), run_config={})
    message = made_message(RecordDict())
    with pytest.raises(FederationError, match="a message that holds no bytes"):
        client_app(Never())(message, context)


def made_message(content: RecordDict) -> Any:
    from flwr.app import Message, Metadata  # noqa: PLC0415  one of them is internal

    metadata = Metadata(
        run_id=1,
        message_id="x",
        src_node_id=1,
        dst_node_id=2,
        reply_to_message_id="",
        group_id="",
        created_at=0.0,
        ttl=1e12,
        message_type="query.ask",
    )
    return Message(content=content, metadata=metadata)  # type: ignore[call-overload]  # as Flower makes it
