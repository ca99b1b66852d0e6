"""The disk of a server's database is full: a clean refusal, nothing lost, and no repair.

Either no file may grow any more, or, where tests may mount one (root), a small disk is full.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest
from tests.service.conftest import GUARD

from supm.collection import plan
from supm.messages import Study
from supm.schema import Schema
from supm.service.store import Store

if TYPE_CHECKING:
    from tests.service.live.conftest import Crowd, Nursery, Server

FULL = "the disk of the database is full"
MOST = 24 << 20


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage", "ward"])


class Disk:
    """A disk of a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def full(self, _server: Server) -> Iterator[None]:
        ballast = self.folder / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        yield
        ballast.unlink()


@contextmanager
def mounted(owner: str) -> Iterator[Disk]:
    """Mount a small disk, or skip."""
    folder = Path(tempfile.mkdtemp(prefix="supm-disk-"))
    mount, unmount = (shutil.which(each) or "" for each in ("mount", "umount"))
    options = f"size={MOST},mode=0700,uid={owner}"
    words = [mount, "-t", "tmpfs", "-o", options, "supm", str(folder)]
    try:
        if (
            os.geteuid()
            or not mount
            or subprocess.run(words, capture_output=True, check=False).returncode  # noqa: S603  the tests' own words
        ):
            pytest.skip("only root can mount a small disk")
        try:
            yield Disk(folder)
        finally:
            subprocess.run([unmount, "--lazy", str(folder)], check=True)  # noqa: S603  the same
    finally:
        folder.rmdir()


@contextmanager
def no_file_may_grow(server: Server) -> Iterator[None]:
    before = resource.prlimit(server.process, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process, resource.RLIMIT_FSIZE, (1, before[1]))
    yield
    resource.prlimit(server.process, resource.RLIMIT_FSIZE, before)


def check_a_full_disk(
    url: str,
    nursery: Nursery,
    study: Study,
    crowd: Callable[..., Crowd],
    full: Callable[[Server], AbstractContextManager[None]],
) -> None:
    store = Store.open(url)
    opened = store.create(study, token_hash="0" * 64, minimums={}, deadlines={})
    server = nursery.start(url)
    owners = crowd(store, opened, server.url)
    for _ in range(2):
        owners.wait_until_heard()
        with full(server):
            owners.wait_until_sent_away()
            # What is stored can be read meanwhile.
            accepted = sum(each.accepted for each in owners.senders)
            shown = httpx.get(
                f"{server.url}/api/v1/studies/{opened.name}", trust_env=False, timeout=GUARD
            )
            assert shown.json()["reports"]["train"] >= accepted > 0
    owners.wait_until_heard()
    owners.finish()
    owners.check_nothing_is_lost_or_twice()
    assert {when for each in owners.senders for when in each.sent_away} == {"5"}
    server.kill()
    store.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_file_that_may_not_grow_is_a_refusal_and_no_loss(
    nursery: Nursery, tmp_path: Path, study: Study, crowd: Callable[..., Crowd]
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    check_a_full_disk(url, nursery, study, crowd, no_file_may_grow)


def test_a_full_disk_under_sqlite_is_a_refusal_and_no_loss(
    nursery: Nursery, study: Study, crowd: Callable[..., Crowd]
) -> None:
    with mounted("root") as disk:
        said = nursery.said().count(FULL)
        check_a_full_disk(f"sqlite:///{disk.folder}/s.db", nursery, study, crowd, disk.full)
        assert nursery.said().count(FULL) > said


def test_a_full_disk_under_postgresql_is_a_refusal_and_no_loss(
    cluster: Any, nursery: Nursery, study: Study, crowd: Callable[..., Crowd]
) -> None:
    with mounted("postgres") as disk:
        url = cluster.fresh()
        with psycopg.connect(url.partition("&options")[0], autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'".encode())
        said = nursery.said().count(FULL)
        small = f"{url}%20-cdefault_tablespace%3Dsmall"
        check_a_full_disk(small, nursery, study, crowd, disk.full)
        assert nursery.said().count(FULL) > said
        with psycopg.connect(url.partition("&options")[0], autocommit=True) as connection:
            schema = url.rpartition("%3D")[2]
            connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())
            connection.execute(b"DROP TABLESPACE small")
