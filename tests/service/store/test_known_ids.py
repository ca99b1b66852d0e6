from __future__ import annotations

import numpy as np
import pytest

from supm import simulation
from supm.service.store import _known_ids
from supm.service.store._known_ids import KnownIds


def drawn(count: int, seed: int) -> np.ndarray:
    return simulation(seed).words(2 * count).reshape(count, 2)


@pytest.mark.parametrize("step", [1, 7, 1000, 5000])
def test_exactly_what_was_added_is_known(step: int) -> None:
    known, ids, others = KnownIds(), drawn(10_000, 1), drawn(10_000, 2)
    most = 10 * step if step < 1000 else 10_000
    for start in range(0, most, step):
        part = ids[start : start + step]
        assert not known.has(part).any()
        known.add(part)
        assert known.has(part).all()
    assert known.has(ids).sum() == most
    assert not known.has(others).any()


def test_ids_that_differ_in_one_half_are_told_apart() -> None:
    known = KnownIds()
    ids = np.array([[a, b] for a in range(40) for b in range(40)], dtype=np.uint64)
    known.add(ids[::2])
    assert np.array_equal(known.has(ids), np.arange(len(ids)) % 2 == 0)


def test_zero_is_an_id_like_any_other() -> None:
    known, zero = KnownIds(), np.zeros((1, 2), dtype=np.uint64)
    assert not known.has(zero)[0]
    known.add(zero)
    assert known.has(zero)[0]


def test_adding_again_changes_nothing() -> None:
    known, ids = KnownIds(), drawn(3000, 3)
    for _ in range(20):
        known.add(ids)
    assert known.has(ids).all()
    assert not known.has(drawn(3000, 4)).any()


def test_runs_past_the_end_go_on_at_the_beginning() -> None:
    known, ids = KnownIds(), drawn(40_000, 5)
    table = known._tables[0]
    crowded = ids[table._places(ids ^ known._mask) >= len(table._rows) - 3]
    assert len(crowded) > 3
    known.add(crowded[: len(crowded) // 2 + 1])
    known.add(crowded)
    assert known.has(crowded).all()


def test_a_full_table_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_known_ids, "_LARGEST", 1 << 13)
    known, ids = KnownIds(), drawn(30_000, 7)
    for part in np.split(ids, [7000, 7001, 12_000]):
        known.add(part)
    assert len(known._tables) == 7
    assert known.has(ids).all()
    assert not known.has(drawn(30_000, 8)).any()
