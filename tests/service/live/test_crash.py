"""Servers and databases that are killed while reports come: nothing is lost, nothing counts twice.

Owners send single reports and batches, each with the same ids until it is acknowledged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sqlalchemy as sa

from supm import simulation
from supm.collection import count, interview, plan
from supm.mechanisms import Reports
from supm.messages import Study
from supm.schema import Schema
from supm.service.store import Opened, Store
from supm.service.store._tables import ids

if TYPE_CHECKING:
    from tests.service.live.conftest import Nursery, Sender

KILLS = 10


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage", "ward"])


def create(store: Store, study: Study) -> Opened:
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


def start_all(sender: Callable[..., Sender], url: str, opened: Opened) -> list[Sender]:
    return [sender(url, opened, *each) for each in (("one", 1), ("json", 2), ("arrow", 3))]


def finish(senders: list[Sender]) -> None:
    for each in senders:
        each.stop()
    for each in senders:
        each.join()
        assert each.refused == ""


def check_nothing_is_lost_or_twice(store: Store, opened: Opened, senders: list[Sender]) -> None:
    sent = [each for one in senders for each in one.sent]
    symbols = np.concatenate([each.symbols for each in sent])
    assert store.reports(opened.name) == {"train": len(symbols)}
    asked = interview(opened.study, "train")
    expected: Any = count(asked, Reports(symbols=symbols, simulation=False))
    counted: Any = store.counts(opened.name, "train")
    assert counted.reports == len(symbols)
    assert (counted.counts == expected.counts).all()
    with store._database.reading() as connection:
        stored = b"".join(connection.execute(sa.select(ids.c.packed)).scalars())
    numbers = {stored[place : place + 16] for place in range(0, len(stored), 16)}
    assert len(stored) == 16 * len(numbers), "an id is stored twice"
    assert numbers == {one.tobytes() for each in sent for one in each.ids}
    for each in senders:
        # An acknowledgement that was lost is one of "sent before" in the end, never of a refusal.
        assert each.accepted + each.again == sum(map(len, each.sent)) > 0


def test_ten_kills_of_the_server_lose_nothing_and_count_nothing_twice(
    nursery: Nursery, store_url: str, study: Study, sender: Callable[..., Sender]
) -> None:
    store = Store.open(store_url)
    opened = create(store, study)
    server = nursery.start(store_url)
    senders = start_all(sender, server.url, opened)
    moments = simulation(5).below(300, KILLS) / 1000
    for moment in moments:
        time.sleep(moment)
        server.kill()
        server = nursery.start(store_url, server.port)
    finish(senders)
    server.kill()
    check_nothing_is_lost_or_twice(store, opened, senders)
    assert any(each.attempts > len(each.sent) for each in senders), "no kill met a request"
    store.close()


def test_a_database_that_crashes_under_the_server_loses_nothing(
    cluster: Any, nursery: Nursery, study: Study, sender: Callable[..., Sender]
) -> None:
    url = cluster.fresh()
    store = Store.open(url)
    opened = create(store, study)
    server = nursery.start(url)
    senders = start_all(sender, server.url, opened)
    for moment in simulation(6).below(300, 3) / 1000:
        time.sleep(moment)
        cluster.stop()
        time.sleep(0.1)
        cluster.start()
        answered = senders[0].accepted
        while senders[0].accepted == answered:
            time.sleep(0.01)
    finish(senders)
    check_nothing_is_lost_or_twice(store, opened, senders)
    assert any(each.attempts > len(each.sent) for each in senders), "no crash met a request"
    server.kill()
    store.close()
