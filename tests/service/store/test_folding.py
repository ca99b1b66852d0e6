from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import pytest
import sqlalchemy as sa

from supm import ParameterError
from supm.collection import Counts, RowCounts, count, plan
from supm.mechanisms import Reports
from supm.owner import interview
from supm.schema import Schema
from supm.service.store import Opened, Store, Submission, _folding, _room
from supm.service.store._tables import answers
from supm.service.store.refusals import Refusal

Told: TypeAlias = Callable[..., Submission]

FAITHFUL: dict[str, Any] = {"epsilon": 3.0, "mode": "faithful"}
PLANS: dict[str, dict[str, Any]] = {
    "odp": {"attributes": ["age", "stage"], **FAITHFUL},
    "sample": {"epsilon": 1.0, "told": 2},
    "rows": {"attributes": ["age", "stage"], "train": "pw", **FAITHFUL},
    "reduce": {"epsilon": 3.0, "reduce": "rank"},
}


def create(store: Store, schema: Schema, name: str) -> Opened:
    study = plan(schema, **PLANS[name])
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


def expected(opened: Opened, given: list[Submission]) -> Counts:
    symbols = np.vstack([each.symbols for each in given])
    asked = interview(opened.study, given[0].phase)
    return count(asked, Reports(symbols=symbols, simulation=False))


def same(left: Counts | None, right: Counts) -> bool:
    if isinstance(left, RowCounts) and isinstance(right, RowCounts):
        rows = np.array_equal(left.rows, right.rows)
    else:
        rows = type(left) is type(right)
    return left is not None and rows and np.array_equal(left.counts, right.counts)


@pytest.mark.parametrize("name", PLANS)
def test_counts_are_those_of_the_stored_reports(
    store: Store, schema: Schema, told: Told, name: str
) -> None:
    opened = create(store, schema, name)
    phase = opened.open_phase or ""
    assert store.counts(opened.name, phase) is None
    given = []
    for seed in range(4):
        given.append(told(opened, 50 + seed, seed))
        store.add(given[-1:])
        assert same(store.counts(opened.name, phase), expected(opened, given))
        if seed % 2:
            assert store.fold(opened.name, phase) > 0
            assert store.fold(opened.name, phase) == 0
            assert same(store.counts(opened.name, phase), expected(opened, given))


def test_what_is_folded_is_kept_once(store: Store, schema: Schema, told: Told) -> None:
    opened = create(store, schema, "odp")
    store.add([told(opened, 50, 1)])
    assert store.fold(opened.name, "train") == 50
    with store._database.reading() as connection:
        assert connection.execute(sa.select(answers)).all() == []


def test_a_large_rest_is_kept_when_it_is_counted(store: Store, schema: Schema, told: Told) -> None:
    opened = create(store, schema, "odp")
    store.add([told(opened, 40_000, 1)])
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.reports == 40_000
    assert store.fold(opened.name, "train") == 0


def test_answers_are_counted_in_parts(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_folding, "_ROWS_READ_AT_ONCE", 2)
    monkeypatch.setattr(_folding, "_COUNTED_AT_ONCE", 30)
    opened = create(store, schema, "rows")
    given = [told(opened, 10, seed) for seed in range(9)]
    for each in given:
        store.add([each])
    assert same(store.counts(opened.name, "train"), expected(opened, given))


def test_folding_by_many_at_once_counts_each_report_once(
    store_url: str, schema: Schema, told: Told
) -> None:
    servers = [Store.open(store_url) for _ in range(2)]
    opened = create(servers[0], schema, "odp")
    given = [told(opened, 10, seed) for seed in range(40)]

    def work(place: int) -> int:
        servers[place % 2].add([given[place]])
        return servers[(place + 1) % 2].fold(opened.name, "train")

    with ThreadPoolExecutor(4) as threads:
        folded = sum(threads.map(work, range(40)))
    folded += servers[0].fold(opened.name, "train")
    assert folded == 400
    assert same(servers[1].counts(opened.name, "train"), expected(opened, given))
    for server in servers:
        server.close()


def test_a_count_goes_on_while_reports_come(store: Store, schema: Schema, told: Told) -> None:
    opened = create(store, schema, "sample")
    given = [told(opened, 25, seed) for seed in range(20)]
    found = []
    with ThreadPoolExecutor(2) as threads:
        sent = [threads.submit(store.add, [each]) for each in given]
        while not all(each.done() for each in sent):
            counts = store.counts(opened.name, "train")
            found.append(0 if counts is None else counts.reports)
    assert found == sorted(found)
    assert all(each % 25 == 0 for each in found), "a transaction is counted whole"
    assert same(store.counts(opened.name, "train"), expected(opened, given))


def test_no_more_distinct_answers_are_taken_than_can_be_counted(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_room, "DISTINCT", 100)
    opened = create(store, schema, "rows")
    given = [told(opened, 40, seed) for seed in range(4)]
    receipts = [store.add([each])[0] for each in given]
    assert [receipt.refused for receipt in receipts] == [None, None, *[Refusal.NO_ROOM] * 2]
    assert store.add(given[:1])[0].refused is None, "what is stored is acknowledged again"
    assert same(store.counts(opened.name, "train"), expected(opened, given[:2]))


def test_a_table_has_room_for_everybody(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_room, "DISTINCT", 100)
    opened = create(store, schema, "odp")
    given = [told(opened, 40, seed) for seed in range(9)]
    assert all(store.add([each])[0].new.all() for each in given)
    assert same(store.counts(opened.name, "train"), expected(opened, given))


def test_an_error_of_counting_names_no_symbol(store: Store, schema: Schema, told: Told) -> None:
    opened = create(store, schema, "odp")
    given = told(opened, 5, 1)
    given.symbols[2, 1] = 917
    store.add([given])
    with pytest.raises(ParameterError) as refused:
        store.counts(opened.name, "train")
    assert "917" not in str(refused.value)
