from __future__ import annotations

import numpy as np
import pytest

from supm._random import RandomSource, simulation
from supm.audit import check_independence, check_mark, check_mixed, check_source, entry, kinds
from supm.mechanisms import GeneralizedRandomizedResponse, LocalHashing, Reports
from supm.mechanisms.randomizers.laplace import Laplace


class Repeating(GeneralizedRandomizedResponse):
    """Noise that repeats after a number of rows."""

    period: int

    def draw(self, symbols: np.ndarray, source: RandomSource) -> np.ndarray:
        noise = np.resize(self._cells.draw(self.period, source), len(symbols)).view(np.int64)
        told: np.ndarray = (symbols + noise) % self.size
        return told


def repeating(period: int) -> Repeating:
    mechanism = Repeating.for_epsilon(size=4, epsilon=1.0)
    object.__setattr__(mechanism, "period", period)
    return mechanism


@pytest.mark.parametrize("period", [1, 2, 3, 1000, 8191, 1 << 13])
def test_noise_that_repeats_is_found_whatever_its_period(period: int) -> None:
    assert not check_independence(repeating(period), simulation(1), draws=1 << 16).passed


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 30.0])
def test_independent_reports_pass_also_where_they_hardly_vary(epsilon: float) -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=epsilon)
    for seed in range(20):
        assert check_independence(coin, simulation(seed), draws=1 << 13, error=0.001).passed


def test_reports_without_bound_are_checked_too() -> None:
    class Stuck(Laplace):
        def draw(self, indices: np.ndarray, source: RandomSource) -> np.ndarray:
            return super().draw(indices[:1], source).repeat(len(indices))

    honest = Laplace.for_epsilon(low=0, high=1, epsilon=1.0)
    assert check_independence(honest, simulation(1), draws=1 << 14).passed
    stuck = Stuck(grid=honest.grid, scale=honest.scale)
    assert not check_independence(stuck, simulation(1), draws=1 << 14).passed


@pytest.mark.parametrize("name", kinds())
def test_all_that_is_shipped_uses_its_source_and_passes_its_mark_on(name: str) -> None:
    mechanism = entry(name).mechanism
    assert check_mark(mechanism).passed
    assert check_source(mechanism, simulation(1), draws=4096).passed


def test_an_alphabet_too_large_to_be_counted_is_checked_by_its_reports() -> None:
    assert check_mark(LocalHashing.for_epsilon(size=1 << 40, epsilon=1.0)).passed


def test_a_sampler_with_a_seed_of_its_own_is_broken() -> None:
    class Seeded(GeneralizedRandomizedResponse):
        def randomize(self, values: object, source: RandomSource) -> Reports:  # noqa: ARG002  the defect
            return super().randomize(values, simulation(7))  # type: ignore[arg-type]

    found = check_source(Seeded.for_epsilon(size=3, epsilon=1.0), simulation(1))
    assert not found.passed
    assert found.detail == "two seeds gave the same 32768 reports"


def test_where_reports_hardly_vary_equal_reports_prove_nothing() -> None:
    truthful = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=40.0)
    assert check_source(truthful, simulation(1)).passed


@pytest.mark.parametrize("name", kinds())
def test_reports_of_mixed_crowds_of_all_that_is_shipped_are_independent(name: str) -> None:
    assert check_mixed(entry(name).mechanism, simulation(1), draws=8192).passed
