from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
import sqlalchemy as sa

from supm.collection import plan
from supm.messages import Study
from supm.schema import Schema
from supm.service.store import Opened, Store, Submission, _leaves
from supm.service.store._tables import ids, sorted_ids
from supm.service.store.values import State

Told: TypeAlias = Callable[..., Submission]


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])


def create(store: Store, study: Study, **given: Any) -> Opened:
    limits: dict[str, Any] = {"minimums": {}, "deadlines": {}} | given
    return store.create(study, token_hash="0" * 64, **limits)


def end(store: Store, opened: Opened) -> None:
    store.advance(opened.name, expected=opened.state, to=State.TRAINED, model="{}")


def rows(store: Store, table: sa.Table) -> int:
    with store._database.reading() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


@pytest.mark.parametrize("people", [1, 1024, 1025, 3000])
def test_what_is_stored_is_known_after_its_phase_and_nothing_else(
    store: Store, study: Study, told: Told, people: int
) -> None:
    opened = create(store, study)
    stored, other = told(opened, people, 1), told(opened, 500, 2)
    for first in range(0, people, 700):
        part = slice(first, first + 700)
        store.add([replace(stored, ids=stored.ids[part], symbols=stored.symbols[part])])
    end(store, opened)
    for _ in range(2):
        assert store.recall(stored).all()
        assert not store.recall(other).any()
        mixed = np.vstack((other.ids[:3], stored.ids[:1], other.ids[3:5]))
        some = replace(other, ids=mixed, symbols=other.symbols[:6])
        assert store.recall(some).tolist() == [False] * 3 + [True] + [False] * 2
    assert store.reports(opened.name) == {"train": people}
    # Each id is in one place, and only what is asked for is read.
    assert (rows(store, ids), rows(store, sorted_ids)) == (0, -(-people // 1024))


def test_ids_are_sorted_and_found_some_leaves_at_a_time(
    store: Store, study: Study, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_leaves, "_AT_ONCE", 2)
    monkeypatch.setattr(_leaves, "_MOST_IDS", 32)
    opened = create(store, study)
    given = told(opened, 1000, 1)
    edges = np.array([[0] * 16, [255] * 16, [0] * 15 + [1], [128] + [0] * 15], dtype=np.uint8)
    # Strangers choose ids: some have a half in common.
    same = given.ids[4:400].copy()
    same[:, :8] = 7
    given = replace(given, ids=np.vstack((edges, same, given.ids[400:])))
    store.add([given])
    end(store, opened)
    assert store.recall(given).all()
    assert not store.recall(told(opened, 1000, 2)).any()
    with store._database.reading() as connection:
        packed = b"".join(
            connection.execute(
                sa.select(sorted_ids.c.packed).order_by(sorted_ids.c.start)
            ).scalars()
        )
    found = [packed[place : place + 16] for place in range(0, len(packed), 16)]
    assert found == sorted(each.tobytes() for each in given.ids)


def test_a_report_is_known_only_to_the_phase_that_it_was_made_for(
    store: Store, study: Study, told: Told
) -> None:
    opened, other = create(store, study), create(store, study)
    given = told(opened, 5, 1)
    store.add([given])
    end(store, opened)
    for elsewhere in (
        replace(given, name=other.name),
        replace(given, name="nobody"),
        replace(given, phase="test"),
        replace(given, document="0" * 64),
    ):
        assert not store.recall(elsewhere).any()
    assert store.recall(given).all()


def test_a_phase_without_reports_knows_none(store: Store, study: Study, told: Told) -> None:
    opened = create(store, study)
    end(store, opened)
    for _ in range(2):
        assert not store.recall(told(opened, 5, 1)).any()


def test_after_a_deadline_reports_are_known_also_by_a_new_server(
    store_url: str, study: Study, told: Told
) -> None:
    now = [100.0]
    servers = [Store.open(store_url, clock=lambda: now[0]) for _ in range(2)]
    opened = create(servers[0], study, deadlines={"train": 200.0})
    given = told(opened, 5, 1)
    servers[0].add([given])
    now[0] = 300.0
    for server in servers:
        assert server.recall(given).all()
        assert not server.recall(told(opened, 5, 2)).any()
        server.close()


def test_two_servers_that_sort_at_once_lose_nothing(
    store_url: str, study: Study, told: Told
) -> None:
    servers = [Store.open(store_url) for _ in range(2)]
    opened = create(servers[0], study)
    given = told(opened, 5000, 1)
    servers[0].add([given])
    end(servers[0], opened)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda place: servers[place % 2].recall(given).all(), range(8)))
    assert found == [True] * 8
    assert (rows(servers[0], ids), rows(servers[0], sorted_ids)) == (0, 5)
    for server in servers:
        server.close()
