"""Bodies are counted while their requests last, and given back however those end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from supm.service import bodies
from supm.service.answers import Refused
from supm.service.bodies import BodyLimit, read_body
from supm.service.limits import Shares

LARGE, SMALL = 1 << 18, 1 << 12


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run where no other loop runs: Playwright keeps one in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, main).result()


class Sender:
    """A client whose body comes in pieces, and which breaks off or stalls after them."""

    def __init__(self, *pieces: int, then: str = "end", host: str = "192.0.2.1") -> None:
        self._pieces, self._then = list(pieces), then
        length = str(sum(pieces) + (then != "end")).encode()
        headers = [(b"content-length", length)]
        self.scope: Scope = {"type": "http", "headers": headers, "client": (host, 1)}

    async def receive(self) -> Message:
        if self._pieces:
            body = bytes(self._pieces.pop(0))
            more = bool(self._pieces) or self._then != "end"
            return {"type": "http.request", "body": body, "more_body": more}
        if self._then == "stall":
            await asyncio.sleep(3600)
        return {"type": "http.disconnect"}


async def _nowhere(_: Message) -> None:
    return None


async def sent(sender: Sender, shares: Shares) -> int:
    """Return how much is held once the body is there; raise what refuses it."""
    found: list[int] = []

    async def app(scope: Scope, receive: Receive, _: Send) -> None:
        body = await read_body(Request(scope, receive), 1 << 24)
        found.append(shares.held)
        assert len(body) == int(scope["headers"][0][1])

    await BodyLimit(app, shares=shares)(sender.scope, sender.receive, _nowhere)
    return found[0]


def test_large_bodies_are_counted_and_small_ones_are_not() -> None:
    async def main() -> None:
        shares = Shares("too much", most=4 * LARGE, each=2 * LARGE)
        assert await sent(Sender(LARGE // 2, LARGE // 2), shares) == LARGE
        assert shares.held == 0
        assert await sent(Sender(SMALL), shares) == 0

    run(main())


@pytest.mark.parametrize(("then", "status"), [("disconnect", 400), ("stall", 408)])
def test_what_does_not_arrive_is_given_back(
    monkeypatch: pytest.MonkeyPatch, then: str, status: int
) -> None:
    monkeypatch.setattr(bodies, "_SECONDS", 0.05)

    async def main() -> None:
        shares = Shares("too much", most=4 * LARGE, each=2 * LARGE)
        with pytest.raises(Refused) as caught:
            await sent(Sender(LARGE, LARGE // 2, then=then), shares)
        assert (caught.value.status, shares.held) == (status, 0)

    run(main())


def test_stalled_bodies_leave_room_for_others_and_for_small_ones() -> None:
    async def main() -> None:
        shares = Shares("too much", most=4 * LARGE, each=2 * LARGE)
        stalled = [Sender(LARGE, then="stall", host="192.0.2.1") for _ in range(2)]
        tasks = [asyncio.create_task(sent(each, shares)) for each in stalled]
        for _ in range(10):
            await asyncio.sleep(0)
        assert shares.held == 2 * LARGE
        with pytest.raises(Refused) as one:
            await sent(Sender(LARGE, host="192.0.2.1"), shares)
        assert one.value.status == 429
        assert await sent(Sender(LARGE, host="192.0.2.2"), shares) == 3 * LARGE
        with pytest.raises(Refused) as all_of_them:
            await sent(Sender(LARGE, LARGE, LARGE, host="192.0.2.3"), shares)
        assert (all_of_them.value.status, all_of_them.value.retry_after) == (503, 10.0)
        assert await sent(Sender(SMALL, host="192.0.2.1"), shares) == 2 * LARGE
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert shares.held == 0

    run(main())
