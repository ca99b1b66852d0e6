from __future__ import annotations

import pytest

from supm.service import limits
from supm.service.answers import Refused
from supm.service.limits import Buckets, Shares


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
