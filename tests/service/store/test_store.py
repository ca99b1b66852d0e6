from __future__ import annotations

import json
from itertools import accumulate

import pytest
import sqlalchemy as sa

from supm.collection import plan
from supm.schema import Schema
from supm.service.status import study_progress
from supm.service.store import Opened, Store
from supm.service.store._tables import minutes, phases


@pytest.fixture
def opened(store: Store, schema: Schema) -> Opened:
    """Return a study in which reports came in each minute of thirty days, but for one hour."""
    study = plan(schema, epsilon=4.0, attributes=["age", "stage", "ward"])
    made = store.create(study, token_hash="0" * 64, minimums={}, deadlines={})
    with store._database.writing() as connection:
        phase_id = connection.execute(sa.select(phases.c.id)).scalar_one()
        rows = [
            {"phase_id": phase_id, "minute": 29_000_000 + each, "reports": 1 + each % 3}
            for each in range(43_200)
            if not 1000 <= each < 1060
        ]
        connection.execute(sa.insert(minutes), rows)
    return made


@pytest.mark.parametrize("most", [1, 2, 500, 10_000])
def test_many_minutes_are_told_in_few(store: Store, opened: Opened, most: int) -> None:
    whole = store.series(opened.name, "train")
    assert len(whole) == 43_140
    told = store.series(opened.name, "train", most=most)
    assert most // 2 <= len(told) <= most
    assert told == sorted(told)
    assert added_up(told).items() <= added_up(whole).items()
    assert told[-1][0] == whole[-1][0]


def added_up(series: list[tuple[int, int]]) -> dict[int, int]:
    """Return how many had come by each minute."""
    sums = accumulate(reports for _, reports in series)
    return dict(zip((minute for minute, _ in series), sums, strict=True))


def test_progress_is_short_however_long_a_study_lasts(store: Store, opened: Opened) -> None:
    found = study_progress(store, opened.name)
    assert 250 <= len(found["series"]["train"]) <= 500
    assert len(json.dumps(found)) < 20_000
