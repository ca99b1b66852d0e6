"""Two servers of one database: they count each report once, and agree on when a phase is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from tests.service.conftest import GUARD

from supm.collection import count, make_model, plan, train
from supm.learning import RadialSVM
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import interview
from supm.schema import Schema
from supm.service.security import hash_token
from supm.service.store import Opened, Store

if TYPE_CHECKING:
    from tests.service.live.conftest import Nursery, Sender

TOKEN = "the token of two servers"  # noqa: S105  of the tests


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage", "ward"])


@pytest.fixture(scope="module")
def addresses(postgres: Callable[[], str], nursery: Nursery) -> tuple[str, list[str]]:
    """Run two servers on one empty PostgreSQL; return its address and theirs."""
    database = postgres()
    return database, [nursery.start(database).url for _ in range(2)]


def create(store: Store, study: Study) -> Opened:
    return store.create(study, token_hash=hash_token(TOKEN), minimums={}, deadlines={})


def wait_until_each_has_sent(senders: list[Sender], bodies: int) -> None:
    while min(len(each.sent) for each in senders) < bodies:
        time.sleep(0.01)


def distinct(senders: list[Sender]) -> dict[bytes, list[int]]:
    """Return the symbols of what was acknowledged, by id."""
    found: dict[bytes, list[int]] = {}
    for given in (each for one in senders for each in one.sent):
        pairs = zip(given.ids, given.symbols.tolist(), strict=True)
        found |= {one.tobytes(): row for one, row in pairs}
    return found


def check_counts(store: Store, opened: Opened, rows: list[list[int]]) -> None:
    told = Reports(symbols=np.array(rows), simulation=False)
    expected: Any = count(interview(opened.study, "train"), told)
    counted: Any = store.counts(opened.name, "train")
    assert store.reports(opened.name) == {"train": len(rows)}
    assert counted.reports == len(rows)
    assert (counted.counts == expected.counts).all()


def test_each_report_counts_once_whichever_server_it_reaches_and_however_often(
    addresses: tuple[str, list[str]], study: Study, sender: Callable[..., Sender]
) -> None:
    database, urls = addresses
    store = Store.open(database)
    opened = create(store, study)
    # The same seeds on both servers: what one takes, the other is sent at the same time.
    twice = [sender(url, opened, kind, 1) for url in urls for kind in ("one", "arrow")]
    once = [sender(url, opened, "json", seed) for seed, url in enumerate(urls, 2)]
    wait_until_each_has_sent([*twice, *once], 20)
    for each in (*twice, *once):
        each.stop()
    for each in (*twice, *once):
        each.join()
        assert each.refused == ""
    both, apart = distinct(twice), distinct(once)
    check_counts(store, opened, [*both.values(), *apart.values()])
    assert sum(each.accepted for each in twice) == len(both)
    assert sum(each.again for each in twice) > 0
    assert sum(each.accepted for each in once) == len(apart)
    assert sum(each.again for each in once) == 0
    found = [
        httpx.get(f"{url}/api/v1/studies/{opened.name}", trust_env=False, timeout=GUARD)
        for url in urls
    ]
    assert found[0].json() == found[1].json()
    assert found[0].json()["reports"] == {"train": len(both) + len(apart)}
    store.close()


def test_one_server_trains_on_exactly_what_both_acknowledged(
    addresses: tuple[str, list[str]], study: Study, sender: Callable[..., Sender]
) -> None:
    database, urls = addresses
    store = Store.open(database)
    opened = create(store, study)
    senders = [sender(url, opened, "arrow", seed) for seed, url in enumerate(urls, 1)]
    senders += [sender(url, opened, "one", seed) for seed, url in enumerate(urls, 3)]
    wait_until_each_has_sent(senders, 5)
    at = f"/api/v1/studies/{opened.name}"
    headers = {"authorization": f"Bearer {TOKEN}"}
    step = httpx.post(f"{urls[0]}{at}/train", headers=headers, trust_env=False, timeout=60)
    assert (step.status_code, step.json()["state"]) == (200, "trained")
    for each in senders:
        each.join()
        # They were told that it is over, and the report of that moment is not counted.
        assert each.refused in ("refused: phase is over.", "the study takes no reports now.")
    check_counts(store, opened, list(distinct(senders).values()))
    assert step.json()["reports"] == store.reports(opened.name)
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert store.find(opened.name).model == make_model(train(study, counts, RadialSVM())).to_json()
    late = sender(urls[1], opened, "json", 9)
    late.join()
    assert late.refused
    assert store.reports(opened.name) == {"train": counts.reports}
    found = [httpx.get(f"{url}{at}", trust_env=False, timeout=GUARD).json() for url in urls]
    assert found[0] == found[1]
    again = httpx.post(f"{urls[1]}{at}/train", headers=headers, trust_env=False, timeout=GUARD)
    assert again.status_code == 409
    store.close()
