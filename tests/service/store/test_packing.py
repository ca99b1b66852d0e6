from __future__ import annotations

import numpy as np
import pytest

from supm.collection import RowCounts
from supm.mechanisms import Tally
from supm.service.errors import StoreError
from supm.service.store._packing import (
    pack_counts,
    pack_symbols,
    unpack_counts,
    unpack_symbols,
)


@pytest.mark.parametrize(
    ("largest", "kind"),
    [(0, "u1"), (255, "u1"), (256, "u2"), (65536, "u4"), (1 << 32, "u8"), ((1 << 63) - 1, "u8")],
)
def test_symbols_take_the_smallest_kind_and_come_back(largest: int, kind: str) -> None:
    symbols = np.array([[0, 1, largest], [largest, 0, 2]], dtype=np.int64)
    stored, packed = pack_symbols(symbols)
    assert stored == kind
    assert np.array_equal(unpack_symbols(stored, packed, 3), symbols)


@pytest.mark.parametrize(
    "counts",
    [
        np.arange(24).reshape(2, 3, 4),
        np.array([0, 1 << 40]),
        np.array([-5, 3]),
        np.array([0.5, -2.25]),
        np.zeros((0, 2), dtype=np.int64),
    ],
)
def test_a_tally_comes_back(counts: np.ndarray) -> None:
    back = unpack_counts(pack_counts(Tally(counts=counts, reports=7, simulation=False)))
    assert isinstance(back, Tally)
    assert np.array_equal(back.counts, counts)
    assert back.counts.dtype == counts.dtype
    assert (back.reports, back.simulation) == (7, False)


def test_rows_come_back() -> None:
    rows = RowCounts.of(np.array([[5, 0], [300, 1], [5, 0]]), simulation=False)
    back = unpack_counts(pack_counts(rows))
    assert isinstance(back, RowCounts)
    assert np.array_equal(back.rows, rows.rows)
    assert np.array_equal(back.counts, rows.counts)
    assert back.reports == 3


def test_counts_of_another_release_are_not_guessed_at() -> None:
    packed = pack_counts(Tally(counts=np.array([1]), reports=1, simulation=False))
    with pytest.raises(StoreError, match="another release"):
        unpack_counts(packed.replace(b'"version":1', b'"version":2'))
