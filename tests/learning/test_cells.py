from __future__ import annotations

import numpy as np
import pytest

from supm import ParameterError
from supm.learning import WeightedCells

PLACES = np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])


def test_rows_and_counts_of_the_same_records_give_the_same_cells() -> None:
    rows = PLACES[[0, 0, 1, 2, 2, 2]]
    merged = WeightedCells.from_rows(rows, [0, 1, 1, 0, 0, 1])
    counted = WeightedCells.from_counts(PLACES, [[1, 1], [0, 1], [2, 1]])
    for name in ("features", "labels", "weights"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(counted, name))
    np.testing.assert_allclose(merged.variances, rows.var(axis=0))


def test_cells_without_people_and_negative_estimates_are_left_out() -> None:
    cells = WeightedCells.from_counts(PLACES, [[0.0, 2.5], [-1.0, 0.0], [0.5, -3.0]])
    assert cells.weights.tolist() == [2.5, 0.5]


def test_some_classes_are_numbered_by_their_place_in_the_list() -> None:
    cells = WeightedCells.from_counts(PLACES, [[1, 2, 3], [0, 0, 4], [5, 0, 0]])
    pair = cells.only((0, 2))
    assert pair.labels.tolist() == [0, 1, 1, 0]
    assert pair.weights.tolist() == [1.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [1.0, np.nan, 1.0], [1.0, np.inf, 1.0]])
def test_weights_must_be_positive_and_finite(weights: list[float]) -> None:
    with pytest.raises(ParameterError, match="weights must be positive"):
        WeightedCells(
            features=PLACES, labels=np.zeros(3, dtype=np.int64), weights=np.array(weights)
        )


def test_no_cell_at_all_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one point"):
        WeightedCells.from_counts(PLACES, np.zeros((3, 2)))
