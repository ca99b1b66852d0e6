"""What was acknowledged is on the disk: each connection waits for it, whoever opened it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supm.service.store import Store

FULL = 2


def test_every_connection_to_sqlite_waits_for_the_disk(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/store.db")
    database = store._database
    with database.reading() as one, database.reading() as other, database.writing() as third:
        connections = (one, other, third)
        assert len({id(each.connection.dbapi_connection) for each in connections}) == 3
        for each in connections:
            assert each.exec_driver_sql("PRAGMA synchronous").scalar_one() == FULL
            assert each.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
    store.close()


def test_every_connection_to_postgresql_waits_for_the_disk(cluster: Any) -> None:
    careless = f"{cluster.fresh()}%20-csynchronous_commit%3Doff"
    store = Store.open(careless)
    with store._database.reading() as one, store._database.writing() as other:
        for each in (one, other):
            assert each.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"
    store.close()
