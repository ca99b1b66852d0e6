"""What was acknowledged is in the files at that moment, without a close or a checkpoint after it.

That these files are on the disk by then is for the operating system to keep: each commit waits for
it (`tests/service/store/test_settings.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.service.conftest import GUARD

from supm.collection import plan
from supm.messages import Study
from supm.schema import Schema
from supm.service.store import Store, Submission

if TYPE_CHECKING:
    from tests.service.live.conftest import Nursery


@pytest.fixture
def study(schema: Schema) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage", "ward"])


def test_what_is_acknowledged_is_in_a_copy_of_the_files_made_then(
    nursery: Nursery, tmp_path: Path, study: Study, body: Callable[..., Any]
) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/store.db")
    opened = store.create(study, token_hash="0" * 64, minimums={}, deadlines={})
    server = nursery.start(f"sqlite:///{tmp_path}/store.db")
    sent: list[Submission] = []
    with httpx.Client(base_url=server.url, trust_env=False, timeout=GUARD) as client:
        for number in range(9):
            kind = ("one", "json", "arrow")[number % 3]
            given, path, media_type, content = body(opened, kind, number)
            sent.append(given)
            answer = client.post(
                f"/api/v1/studies/{opened.name}/{path}",
                content=content,
                headers={"content-type": media_type},
            )
            assert answer.status_code in (200, 201)
            copy = tmp_path / f"copy{number}"
            copy.mkdir()
            # As if the power was cut now: the index of the log is in memory only.
            for name in ("store.db", "store.db-wal"):
                shutil.copyfile(tmp_path / name, copy / name)
            assert (copy / "store.db-wal").stat().st_size
    server.kill()
    store.close()
    for number in range(len(sent)):
        found = Store.open(f"sqlite:///{tmp_path}/copy{number}/store.db")
        people = sum(map(len, sent[: number + 1]))
        counts = found.counts(opened.name, "train")
        assert counts is not None
        assert found.reports(opened.name)["train"] == counts.reports == people
        assert all(found.recall(each).all() for each in sent[: number + 1])
        assert not any(found.recall(each).any() for each in sent[number + 1 :])
        found.close()
