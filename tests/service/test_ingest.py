from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pytest

from supm.collection import plan
from supm.schema import Schema
from supm.service import ingest
from supm.service.errors import Busy, StoreError
from supm.service.ingest import Writer
from supm.service.store import Opened, Store, Submission, Verdict

Told: TypeAlias = Callable[..., Submission]


class Gate(Store):
    """A store whose transactions wait until they are let through, and are listed."""

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        super().__init__(url, clock)
        self.passing, self.groups = threading.Event(), [0][:0]
        self.failing: Exception | None = None

    def add(self, submissions: Sequence[Submission]) -> list[Verdict]:
        self.passing.wait()
        self.groups.append(len(submissions))
        if self.failing is not None:
            raise self.failing
        return super().add(submissions)


@pytest.fixture
def opened(store: Store, schema: Schema) -> Opened:
    study = plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


@pytest.fixture
def gate(store_url: str, opened: Opened) -> Gate:
    assert opened.name
    return Gate(store_url, lambda: 0.0)


def _in_a_thread(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine where no other loop runs: Playwright keeps one in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, main).result()


def run(
    store: Store, work: Callable[[Writer], Coroutine[Any, Any, None]], most: int = 1000
) -> Writer:
    writer = Writer(store, most_waiting=most)

    async def main() -> None:
        await writer.start()
        try:
            await work(writer)
        finally:
            await writer.stop()

    _in_a_thread(main())
    return writer


def test_a_receipt_comes_after_the_commit(store: Store, opened: Opened, told: Told) -> None:
    async def work(writer: Writer) -> None:
        for seed in range(3):
            receipt = await writer.submit(told(opened, 5, seed))
            assert receipt.new.all()
            assert store.reports(opened.name) == {"train": 5 * (seed + 1)}

    assert run(store, work).waiting == 0


def test_what_waits_is_stored_in_one_transaction(gate: Gate, opened: Opened, told: Told) -> None:
    given = [told(opened, 3, seed) for seed in range(30)]

    async def work(writer: Writer) -> None:
        tasks = [asyncio.create_task(writer.submit(each)) for each in given]
        await asyncio.sleep(0)
        assert writer.waiting == 90
        gate.passing.set()
        receipts = await asyncio.gather(*tasks)
        assert all(receipt.new.all() for receipt in receipts)

    run(gate, work)
    assert sum(gate.groups) == 30
    assert len(gate.groups) <= 2
    assert gate.reports(opened.name) == {"train": 90}
    gate.close()


def test_too_many_are_sent_away_and_the_rest_is_stored(
    gate: Gate, opened: Opened, told: Told
) -> None:
    async def work(writer: Writer) -> None:
        taken = asyncio.create_task(writer.submit(told(opened, 8, 1)))
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="send again later"):
            await writer.submit(told(opened, 3, 2))
        fits = asyncio.create_task(writer.submit(told(opened, 2, 3)))
        await asyncio.sleep(0)
        gate.passing.set()
        await asyncio.gather(taken, fits)
        assert (await writer.submit(told(opened, 30, 4))).new.all(), "alone, it is taken"

    run(gate, work, most=10)
    assert gate.reports(opened.name) == {"train": 40}
    gate.close()


def test_what_waits_at_the_end_is_stored_and_nothing_after(
    gate: Gate, opened: Opened, told: Told
) -> None:
    async def main() -> None:
        writer = Writer(gate, most_waiting=100)
        await writer.start()
        tasks = [asyncio.create_task(writer.submit(told(opened, 3, seed))) for seed in range(9)]
        await asyncio.sleep(0)
        gate.passing.set()
        await writer.stop()
        assert all(receipt.new.all() for receipt in await asyncio.gather(*tasks))
        with pytest.raises(Busy):
            await writer.submit(told(opened, 3, 99))
        await writer.stop()

    _in_a_thread(main())
    assert gate.reports(opened.name) == {"train": 27}
    gate.close()


def test_a_waiter_who_left_does_not_disturb_the_others(
    gate: Gate, opened: Opened, told: Told
) -> None:
    async def work(writer: Writer) -> None:
        left, stays = (asyncio.create_task(writer.submit(told(opened, 3, n))) for n in (1, 2))
        await asyncio.sleep(0)
        left.cancel()
        gate.passing.set()
        assert (await stays).new.all()

    run(gate, work)
    gate.close()


@pytest.mark.parametrize("failure", [StoreError("the disk is full."), ValueError("917")])
def test_a_failed_transaction_is_told_to_all_and_the_next_goes_on(
    gate: Gate, opened: Opened, told: Told, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    given = [told(opened, 3, seed) for seed in range(5)]

    async def work(writer: Writer) -> None:
        gate.failing = failure
        gate.passing.set()
        tasks = [writer.submit(each) for each in given]
        refused = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(each) for each in refused} == {StoreError}
        assert not any("917" in str(each) for each in refused)
        gate.failing = None
        again = await asyncio.gather(*(writer.submit(each) for each in given))
        assert all(receipt.new.all() for receipt in again)

    run(gate, work)
    assert "917" not in caplog.text
    assert gate.reports(opened.name) == {"train": 15}
    gate.close()


def test_a_database_that_is_gone_and_back_is_written_again(
    cluster: Any, schema: Schema, told: Told
) -> None:
    store = Store.open(cluster.fresh())
    study = plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])
    opened = store.create(study, token_hash="0" * 64, minimums={}, deadlines={})

    async def work(writer: Writer) -> None:
        await writer.submit(told(opened, 5, 1))
        cluster.stop()
        try:
            with pytest.raises(StoreError, match="does not answer"):
                await writer.submit(told(opened, 5, 2))
        finally:
            cluster.start()
        assert (await writer.submit(told(opened, 5, 2))).new.all()

    run(store, work)
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.reports == 10
    store.close()


def test_counts_are_kept_while_reports_come(
    store: Store, opened: Opened, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_FOLD_AFTER", 50)

    async def work(writer: Writer) -> None:
        for seed in range(6):
            await writer.submit(told(opened, 25, seed))

    run(store, work)
    assert store.fold(opened.name, "train") == 0, "the writer folded all of it"
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.reports == 150
