"""Servers and databases that are killed while reports come: nothing is lost, nothing counts twice.

Owners send single reports and batches, each with the same ids until it is acknowledged. The moments
are others in each run; what fails tells how to have the same again (SUPM_CRASH_SEED).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from supm import secure, simulation
from supm.collection import plan
from supm.messages import Study
from supm.schema import Schema
from supm.service.store import Opened, Store

if TYPE_CHECKING:
    from tests.service.live.conftest import Crowd, Nursery

KILLS = 10


@pytest.fixture
def postgres(durable_cluster: Any) -> Callable[[], str]:
    """Wait for the disk, as PostgreSQL does by default."""
    fresh: Callable[[], str] = durable_cluster.fresh
    return fresh


@contextmanager
def moments(kills: int) -> Iterator[list[float]]:
    """Draw for how many seconds to wait before each kill; a failure names the seed."""
    given = os.environ.get("SUPM_CRASH_SEED")
    seed = int(given or secure().below(1 << 30, 1)[0])
    try:
        yield list(simulation(seed).below(300, kills) / 1000)
    except BaseException as error:
        error.add_note(f"SUPM_CRASH_SEED={seed} waits as long before each kill.")
        raise


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage", "ward"])


def create(store: Store, study: Study) -> Opened:
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


def test_ten_kills_of_the_server_lose_nothing_and_count_nothing_twice(
    nursery: Nursery, store_url: str, study: Study, crowd: Callable[..., Crowd]
) -> None:
    store = Store.open(store_url)
    opened = create(store, study)
    server = nursery.start(store_url)
    owners = crowd(store, opened, server.url)
    with moments(KILLS) as waits:
        for seconds in waits:
            # Each kill meets owners who were answered since the one before.
            owners.wait_until_heard()
            time.sleep(seconds)
            server.kill()
            server = nursery.start(store_url, server.port)
        owners.wait_until_heard()
        owners.finish()
        server.kill()
        owners.check_nothing_is_lost_or_twice()
        assert any(each.attempts > len(each.sent) for each in owners.senders), (
            "no kill met a request"
        )
    store.close()


def test_a_database_that_crashes_under_the_server_loses_nothing(
    durable_cluster: Any, nursery: Nursery, study: Study, crowd: Callable[..., Crowd]
) -> None:
    url = durable_cluster.fresh()
    store = Store.open(url)
    opened = create(store, study)
    server = nursery.start(url)
    owners = crowd(store, opened, server.url)
    with moments(3) as waits:
        for seconds in waits:
            owners.wait_until_heard()
            time.sleep(seconds)
            durable_cluster.stop()
            time.sleep(0.1)
            durable_cluster.start()
        owners.wait_until_heard()
        owners.finish()
        owners.check_nothing_is_lost_or_twice()
        assert any(each.attempts > len(each.sent) for each in owners.senders), (
            "no crash met a request"
        )
    server.kill()
    store.close()
