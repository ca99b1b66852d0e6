"""What happens when the disk is full, the database is gone, or the process is killed."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from supm.collection import plan
from supm.messages import Study
from supm.schema import Schema
from supm.service.errors import StoreError
from supm.service.store import Opened, Store, Submission

Told: TypeAlias = Callable[..., Submission]

SENDER = """
import sys
import numpy as np
from supm import secure
from supm.service.store import Store, Submission
url, name, width = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = Store.open(url)
opened = store.find(name)
while True:
    ids = secure().words(40).view(np.uint8).reshape(20, 16)
    symbols = np.zeros((20, width), dtype=np.int64)
    made = Submission(
        name=name, phase="train", document=opened.study.hash, ids=ids, symbols=symbols
    )
    new = store.add([made, made])[0].new
    print(ids[new].tobytes().hex(), flush=True)
    store.fold(name, "train")
"""


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])


def create(store: Store, study: Study) -> Opened:
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


def held(store: Store, opened: Opened) -> tuple[int, int]:
    counts = store.counts(opened.name, "train")
    return store.reports(opened.name)["train"], 0 if counts is None else counts.reports


@contextmanager
def no_page_left(store: Store) -> Iterator[None]:
    """Let SQLite's file not grow: the error is that of a full disk."""
    with store._database.reading() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")
    yield
    with store._database.reading() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000000")


@contextmanager
def no_byte_left(_store: Store) -> Iterator[None]:
    """Let the operating system refuse to make any file longer than this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("limit", "said"),
    [(no_page_left, "^the disk of the database is full"), (no_byte_left, "SQLITE_IOERR")],
)
def test_a_full_disk_is_a_clean_refusal(
    tmp_path: Path,
    study: Study,
    told: Told,
    limit: Callable[[Store], AbstractContextManager[None]],
    said: str,
) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/store.db")
    opened = create(store, study)
    first, large = told(opened, 33_000, 1), told(opened, 60_000, 2)
    store.add([first])
    with limit(store):
        for _ in range(2):
            with pytest.raises(StoreError, match=said) as refused:
                store.add([large])
        assert refused.value.__suppress_context__, "what was to be stored is not shown"
        assert held(store, opened) == (33_000, 33_000)
    assert store.add([large])[0].new.all(), "the store goes on once there is room"
    assert not store.add([large, first])[0].new.any()
    assert held(store, opened) == (93_000, 93_000)
    store.close()


def test_a_database_that_is_gone_and_back_needs_no_repair(
    cluster: Any, study: Study, told: Told
) -> None:
    store = Store.open(cluster.fresh())
    opened = create(store, study)
    first, second = told(opened, 100, 1), told(opened, 100, 2)
    store.add([first])
    cluster.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreError, match="does not answer; nothing was stored"):
                store.add([second])
        assert not store.healthy()
    finally:
        cluster.start()
    assert store.healthy()
    assert store.add([second])[0].new.all()
    assert not store.add([first])[0].new.any()
    assert held(store, opened) == (200, 200)
    store.close()


def test_what_was_acknowledged_outlives_a_kill(store_url: str, study: Study) -> None:
    store = Store.open(store_url)
    opened = create(store, study)
    width = 3
    command = [sys.executable, "-c", SENDER, store_url, opened.name, str(width)]
    acknowledged = bytearray()
    for lines in (6,):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:  # noqa: S603  the test's own words
            assert sender.stdout is not None
            for _ in range(lines):
                acknowledged += bytes.fromhex(sender.stdout.readline())
            sender.send_signal(signal.SIGKILL)
            rest = sender.stdout.read()
        acknowledged += b"".join(map(bytes.fromhex, rest.splitlines()))
    ids = np.frombuffer(bytes(acknowledged), dtype=np.uint8).reshape(-1, 16)
    again = Submission(
        name=opened.name,
        phase="train",
        document=opened.study.hash,
        ids=ids,
        symbols=np.zeros((len(ids), width), dtype=np.int64),
    )
    assert not store.add([again])[0].new.any()
    reports, counted = held(store, opened)
    assert reports == counted >= len(ids) >= 120
    store.close()
