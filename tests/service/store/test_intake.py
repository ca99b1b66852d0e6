from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
import sqlalchemy as sa

from supm import ParameterError
from supm.collection import plan
from supm.messages import Study
from supm.schema import Schema
from supm.service.errors import StateChanged
from supm.service.store import Opened, Store, Submission
from supm.service.store._tables import answers, ids
from supm.service.store.values import Refusal, State

Told: TypeAlias = Callable[..., Submission]


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])


@pytest.fixture
def opened(store: Store, study: Study) -> Opened:
    return create(store, study)


def create(store: Store, study: Study, **given: Any) -> Opened:
    limits: dict[str, Any] = {"minimums": {}, "deadlines": {}} | given
    return store.create(study, token_hash="0" * 64, **limits)


def stored(store: Store, opened: Opened) -> set[int]:
    """Return the three numbers of reports that must agree: counter, ids, counts."""
    with store._database.reading() as connection:
        packed = connection.execute(sa.select(ids.c.packed)).scalars().all()
    distinct = {part[start : start + 16] for part in packed for start in range(0, len(part), 16)}
    counts = store.counts(opened.name, "train")
    counted = 0 if counts is None else counts.reports
    return {store.reports(opened.name)["train"], len(distinct), counted}


def test_a_report_is_stored_once_and_acknowledged_each_time(
    store: Store, opened: Opened, told: Told
) -> None:
    given = told(opened, 100, 1)
    first, again = store.add([given])[0], store.add([given])[0]
    assert first.new.all()
    assert not again.new.any()
    assert (first.refused, again.refused) == (None, None)
    assert stored(store, opened) == {100}


def test_an_id_is_remembered_across_restarts(store_url: str, study: Study, told: Told) -> None:
    store = Store.open(store_url)
    opened = create(store, study)
    given = told(opened, 100, 1)
    store.add([given])
    store.close()
    again = Store.open(store_url)
    again.warm()
    assert not again.add([given])[0].new.any()
    assert again.add([told(opened, 7, 2)])[0].new.all()
    assert stored(again, opened) == {107}
    again.close()


def test_an_id_twice_in_one_transaction_is_stored_once(
    store: Store, opened: Opened, told: Told
) -> None:
    one, other = told(opened, 10, 1), told(opened, 10, 2)
    twice = replace(other, ids=np.vstack((one.ids[:4], other.ids[4:9], other.ids[8:9])))
    receipts = store.add([one, twice, one])
    assert [receipt.new.tolist() for receipt in receipts] == [
        [True] * 10,
        [False] * 4 + [True] * 5 + [False],
        [False] * 10,
    ]
    assert stored(store, opened) == {15}


def test_ids_that_share_a_half_are_different(store: Store, opened: Opened, told: Told) -> None:
    given = told(opened, 10, 1)
    halves = given.ids.copy()
    halves[:, :8] = 0
    assert store.add([replace(given, ids=halves)])[0].new.all()
    assert store.add([given])[0].new.all()


def test_one_transaction_holds_several_studies(
    store: Store, opened: Opened, study: Study, told: Told
) -> None:
    other = create(store, study)
    given = [told(opened, 5, 1), told(other, 6, 1), told(opened, 7, 3)]
    assert [int(receipt.new.sum()) for receipt in store.add(given)] == [5, 6, 7]
    assert store.reports(opened.name) == {"train": 12}
    assert store.reports(other.name) == {"train": 6}


def test_what_does_not_belong_is_refused_and_the_rest_is_stored(
    store: Store, opened: Opened, told: Told
) -> None:
    good = told(opened, 5, 1)
    narrow = replace(good, symbols=good.symbols[:, :1])
    wrong = [
        (replace(good, name="nobody"), Refusal.UNKNOWN),
        (replace(good, phase="test"), Refusal.UNKNOWN),
        (replace(good, document="0" * 64), Refusal.OVER),
        (narrow, Refusal.OTHER_QUESTION),
    ]
    receipts = store.add([*(given for given, _ in wrong), good])
    assert [receipt.refused for receipt in receipts] == [*(reason for _, reason in wrong), None]
    assert [int(receipt.new.sum()) for receipt in receipts] == [0, 0, 0, 0, 5]
    assert stored(store, opened) == {5}


def test_a_submission_that_is_no_table_is_not_made(opened: Opened, told: Told) -> None:
    good = told(opened, 5, 1)
    for change in (
        {"ids": good.ids[:, :15]},
        {"ids": good.ids.astype(np.int64)},
        {"ids": good.ids[:0], "symbols": good.symbols[:0]},
        {"symbols": good.symbols[:4]},
        {"symbols": good.symbols.astype(float)},
        {"symbols": good.symbols - 9},
    ):
        with pytest.raises(ParameterError):
            replace(good, **change)
    assert repr(good) == f"Submission({opened.name!r}, 'train', 5 reports)"


def test_a_report_after_the_phase_is_refused(store: Store, opened: Opened, told: Told) -> None:
    given = told(opened, 5, 1)
    store.advance(opened.name, expected=opened.state, to=State.TRAINED, model="{}")
    assert store.add([given])[0].refused == Refusal.OVER
    assert store.reports(opened.name) == {"train": 0}


def test_a_report_at_the_deadline_or_in_a_pause_is_refused(
    store_url: str, study: Study, told: Told
) -> None:
    now = [100.0]
    store = Store.open(store_url, clock=lambda: now[0])
    opened = create(store, study, deadlines={"train": 200.0})
    given = told(opened, 5, 1)
    found = []
    for moment, pause in ((110.0, 30.0), (139.0, None), (141.0, 0.0), (200.0, None)):
        now[0] = moment
        if pause is not None:
            store.pause(opened.name, "train", pause)
        found.append(store.add([given])[0].refused)
    assert found == [Refusal.PAUSED, Refusal.PAUSED, None, Refusal.LATE]
    store.close()


def test_an_invitation_lets_one_report_in(store: Store, study: Study, told: Told) -> None:
    codes = ["a" * 64, "b" * 64]
    opened = create(store, study, invitations=codes)
    assert opened.invited
    first, second, third = (told(opened, 1, seed, codes[0]) for seed in (1, 2, 3))
    given = [
        (told(opened, 1, 4), Refusal.NOT_INVITED),
        (told(opened, 1, 5, "c" * 64), Refusal.UNKNOWN_INVITATION),
        (told(opened, 2, 6, codes[1]), Refusal.SEVERAL_FOR_ONE),
        (first, None),
        (second, Refusal.USED_INVITATION),
        (told(opened, 1, 7, codes[1]), None),
    ]
    receipts = store.add([each for each, _ in given])
    assert [receipt.refused for receipt in receipts] == [reason for _, reason in given]
    assert store.add([third])[0].refused == Refusal.USED_INVITATION
    again = store.add([first])[0]
    assert again.refused is None, "an acknowledgement may be lost"
    assert not again.new.any()
    assert stored(store, opened) == {2}


def test_a_refused_report_does_not_stand_in_for_its_twin(
    store: Store, study: Study, told: Told
) -> None:
    opened = create(store, study, invitations=["a" * 64])
    bad, good = told(opened, 1, 1, "c" * 64), told(opened, 1, 1, "a" * 64)
    receipts = store.add([bad, good, good])
    assert [receipt.refused for receipt in receipts] == [Refusal.UNKNOWN_INVITATION, None, None]
    assert [int(receipt.new.sum()) for receipt in receipts] == [0, 1, 0]


@pytest.mark.parametrize(("way", "again"), [("rank", False), ("waldp", True)])
def test_an_invitation_is_for_one_report_of_the_study_unless_it_asks_everybody_twice(
    store: Store, schema: Schema, told: Told, way: str, *, again: bool
) -> None:
    mode = "strict" if way == "rank" else "faithful"
    study = plan(schema, epsilon=4.0, keep=2, reduce=way, mode=mode)
    opened = create(store, study, invitations=["a" * 64, "b" * 64])
    (first,) = store.add([replace(told(opened, 1, 1), invitation="a" * 64)])
    assert first.new.tolist() == [True]
    store.advance(
        opened.name,
        expected=opened.state,
        to=State.REDUCED,
        document=study.reduced(tuple(study.schema.names[:2])),
    )
    opened = store.advance(opened.name, expected=State.REDUCED, to=State.COLLECTING_TO_TRAIN)
    old, new = (
        store.add([replace(told(opened, 1, seed), invitation=code * 64)])[0]
        for seed, code in ((2, "a"), (3, "b"))
    )
    assert old.refused == (None if again else Refusal.USED_INVITATION)
    assert new.new.tolist() == [True]


def test_what_the_test_phase_tells_is_not_kept(store: Store, opened: Opened, told: Told) -> None:
    for to in (State.TRAINED, State.SERVING):
        opened = store.advance(opened.name, expected=opened.state, to=to)
    given = told(opened, 5, 1)
    assert store.add([given])[0].new.all()
    assert not store.add([given])[0].new.any()
    assert store.reports(opened.name)["test"] == 5
    assert store.counts(opened.name, "test") is None
    with store._database.reading() as connection:
        assert connection.execute(sa.select(answers)).all() == []


def test_reports_are_listed_by_minute(store_url: str, study: Study, told: Told) -> None:
    now = [0.0]
    store = Store.open(store_url, clock=lambda: now[0])
    opened = create(store, study)
    for seed, moment in enumerate((3600.0, 3659.0, 3660.0, 7200.0)):
        now[0] = moment
        store.add([told(opened, seed + 1, seed)])
    assert store.series(opened.name, "train") == [(60, 3), (61, 3), (120, 4)]
    store.close()


def test_two_servers_of_one_database_store_each_id_once(
    store_url: str, study: Study, told: Told
) -> None:
    servers = [Store.open(store_url) for _ in range(2)]
    opened = create(servers[0], study)
    given = [told(opened, 20, seed) for seed in range(30)]

    def send(place: int) -> int:
        # Neighbours overlap: every submission is sent to both servers, by two threads each.
        receipts = servers[place % 2].add([given[place // 4], given[(place // 4 + 1) % 30]])
        return sum(int(receipt.new.sum()) for receipt in receipts)

    with ThreadPoolExecutor(4) as threads:
        new = sum(threads.map(send, range(120)))
    assert new == 600
    assert stored(servers[0], opened) == stored(servers[1], opened) == {600}
    for server in servers:
        server.close()


def test_a_model_is_made_of_exactly_the_stored_reports(
    store: Store, opened: Opened, told: Told
) -> None:
    given = [told(opened, 10, seed) for seed in range(60)]

    def train() -> int:
        while True:
            counts = store.counts(opened.name, "train")
            counted = 0 if counts is None else counts.reports
            try:
                step: dict[str, Any] = {"expected": opened.state, "to": State.TRAINED}
                store.advance(opened.name, counted=counted, **step)
            except StateChanged:
                continue
            return counted

    with ThreadPoolExecutor(4) as threads:
        sent = [threads.submit(store.add, [each]) for each in given[:40]]
        trained = threads.submit(train)
        sent += [threads.submit(store.add, [each]) for each in given[40:]]
        receipts = [each.result()[0] for each in sent]
    acknowledged = sum(int(receipt.new.sum()) for receipt in receipts)
    assert {receipt.refused for receipt in receipts} <= {None, Refusal.OVER}
    assert stored(store, opened) == {acknowledged} == {trained.result()}


def test_an_invitation_of_another_study_is_refused_and_stays_good_there(
    store: Store, study: Study, told: Told
) -> None:
    codes = ["a" * 64, "b" * 64]
    here, there = (create(store, study, invitations=[code]) for code in codes)
    wrong, right = (told(opened, 1, 1, codes[1]) for opened in (here, there))
    assert store.add([wrong])[0].refused == Refusal.UNKNOWN_INVITATION
    assert store.reports(here.name) == {"train": 0}
    assert store.add([right])[0].new.all()
