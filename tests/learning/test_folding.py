from __future__ import annotations

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.learning import folds


@pytest.mark.parametrize("rows", [10, 11, 569])
@pytest.mark.parametrize("count", [2, 10])
def test_everyone_is_in_one_fold_and_sizes_differ_by_at_most_one(rows: int, count: int) -> None:
    parts = folds(rows, count, simulation(1))
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_equal_folds_leave_out_the_remainder_as_the_papers_do() -> None:
    parts = folds(569, 10, simulation(1), equal=True)
    assert {len(part) for part in parts} == {56}
    assert len(np.unique(np.concatenate(parts))) == 560


@pytest.mark.parametrize("count", [1, 0, 12, "3"])
def test_a_number_of_folds_that_makes_no_sense_is_refused(count: int) -> None:
    with pytest.raises(ParameterError, match="count must be"):
        folds(11, count, simulation(1))


def test_the_order_is_drawn_and_fixed_by_the_seed() -> None:
    first, again, other = (np.concatenate(folds(200, 4, simulation(seed))) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert first.tolist() != list(range(200))
