from __future__ import annotations

import numpy as np
import pytest

from supm._random import RandomSource, simulation
from supm.audit import check_crowd, check_mixed, entry, kinds
from supm.mechanisms import GeneralizedRandomizedResponse, LocalHashing, Reports


@pytest.mark.parametrize("name", kinds())
def test_all_that_is_shipped_passes(name: str) -> None:
    assert check_crowd(entry(name).mechanism, simulation(1)).passed


def test_a_selection_of_the_largest_alphabet_is_held() -> None:
    hashing = LocalHashing.for_epsilon(size=1 << 40, epsilon=1.0)
    found = check_crowd(hashing, simulation(1), draws=6400)
    assert found.passed
    assert found.detail.startswith("6400 owners of 100 inputs")


def test_to_refuse_a_type_is_not_a_defect() -> None:
    class Picky(GeneralizedRandomizedResponse):
        def randomize(self, values: object, source: RandomSource) -> Reports:
            if not isinstance(values, np.ndarray) or values.dtype != np.int64:
                message = "only int64"
                raise TypeError(message)
            return super().randomize(values, source)

    assert check_crowd(Picky.for_epsilon(size=5, epsilon=1.0), simulation(1)).passed


def test_no_more_than_a_few_p_values_are_small() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0)
    found = [check_crowd(coin, simulation(seed), draws=2000).statistic for seed in range(100)]
    assert sum(value < 0.05 for value in found if value is not None) <= 15


@pytest.mark.parametrize("name", kinds())
def test_reports_of_mixed_crowds_of_all_that_is_shipped_are_independent(name: str) -> None:
    assert check_mixed(entry(name).mechanism, simulation(1), draws=8192).passed
