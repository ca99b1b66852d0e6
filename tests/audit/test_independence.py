from __future__ import annotations

import numpy as np
import pytest

from supm._random import RandomSource, simulation
from supm.audit import check_independence
from supm.audit.independence import correlation_bound
from supm.mechanisms import GeneralizedRandomizedResponse
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


@pytest.mark.parametrize("lag", [1, 7, 4001])
def test_a_faint_dependence_is_found(lag: int) -> None:
    noise = simulation(1).below(1000, 1 << 17) / 999.0 - 0.5
    first, second = noise[: 1 << 16], noise[1 << 16 :]
    faint = first.copy()
    faint[lag:] = np.where(np.arange(first.size - lag) % 10 == 0, first[:-lag], first[lag:])
    assert correlation_bound(faint, second, variance=1 / 12, reach=0.5) < 1e-9


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
