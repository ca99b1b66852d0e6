"""Bodies are counted while their requests last, and given back however those end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from supm.service import limits
from supm.service.answers import Refused
from supm.service.limits import BodyLimit, Buckets, Shares, read_body


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_bucket_empties_and_fills_with_time(clock: Clock) -> None:
    buckets = Buckets(rate=2.0, burst=3.0, clock=clock)
    assert [buckets.take("192.0.2.1") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    clock.now = 0.5
    assert [buckets.take("192.0.2.1") for _ in range(2)] == [0.0, 0.5]
    clock.now = 100.0
    assert [buckets.take("192.0.2.1") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_clients_do_not_share_a_bucket_and_houses_do(clock: Clock) -> None:
    buckets = Buckets(rate=1.0, burst=1.0, clock=clock)
    hosts = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "a name"]
    assert [buckets.take(host) for host in hosts] == [0.0] * 5
    assert buckets.take("2001:db8::2") > 0.0
    assert buckets.take("::ffff:192.0.2.1") > 0.0


def test_no_address_is_kept(clock: Clock) -> None:
    buckets = Buckets(rate=1.0, burst=1.0, clock=clock)
    buckets.take("192.0.2.1")
    other = Buckets(rate=1.0, burst=1.0, clock=clock)
    other.take("192.0.2.1")
    assert "192.0.2" not in repr(vars(buckets))
    assert bytes([192, 0, 2, 1]) not in b"".join(buckets._held)
    assert buckets._held.keys() != other._held.keys()


def test_memory_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_CLIENTS", 10)
    buckets = Buckets(rate=1.0, burst=2.0, clock=clock)
    for place in range(10):
        clock.now = float(place)
        buckets.take(f"192.0.2.{place}")
    buckets.take("192.0.2.100")
    assert len(buckets) == 3
    for place in range(30):
        buckets.take(f"192.0.3.{place}")
        assert len(buckets) <= 10


def test_a_share_is_bounded_for_all_and_for_each_client() -> None:
    shares = Shares("too many", most=5, each=3)
    shares.take("192.0.2.1", 3)
    with pytest.raises(Refused) as own:
        shares.take("192.0.2.1")
    assert (own.value.status, own.value.retry_after) == (429, 10.0)
    shares.take("2001:db8::1", 2)
    with pytest.raises(Refused) as whole:
        shares.take("192.0.2.3")
    assert (whole.value.status, whole.value.retry_after) == (503, 10.0)
    shares.give_back("2001:db8::2", 2)
    shares.take("192.0.2.3", 2)
    assert shares.held == 5


def test_a_share_remembers_nobody_who_holds_nothing() -> None:
    shares = Shares("too many", most=5, each=3)
    for place in range(100):
        shares.take(f"192.0.2.{place}")
        assert "192.0.2" not in repr(vars(shares))
        shares.give_back(f"192.0.2.{place}")
    assert (shares.held, len(shares._held)) == (0, 0)


def test_what_costs_nothing_is_not_counted_and_its_neighbours_are() -> None:
    paths = ["/api/v1/health", "/static/a.js", "/api/v1/health/more", "/api/v1/healthy", "/static"]
    counted = [limits._is_counted({"type": "http", "path": path}) for path in paths]
    assert counted == [False, False, True, True, True]
    assert not limits._is_counted({"type": "lifespan"})


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
    monkeypatch.setattr(limits, "_SECONDS", 0.05)

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
