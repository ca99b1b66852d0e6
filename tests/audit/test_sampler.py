from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource, simulation
from supm.audit import FAMILY_ERROR, catalogue, check_density, check_sampler
from supm.audit.subjects import cells_of
from supm.audit.suite import _every_row, _subject
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.mechanisms.randomizers.laplace import Laplace

RESPONSES = [
    line.mechanism
    for line in catalogue()
    if line.name in {"binary-response", "randomized-response"} and line.sampled
]


@pytest.mark.parametrize(
    "coin",
    [coin for coin in RESPONSES if coin.epsilon < 4 and coin.report_bits <= 3],
    ids=lambda coin: f"{coin.size} symbols, epsilon {coin.epsilon:.3g}",
)
def test_a_bias_of_one_part_in_two_hundred_is_noticed_by_all_but_one_audit_in_ten_thousand(
    coin: GeneralizedRandomizedResponse,
) -> None:
    """The power of the test of all rows together, by level, from the noncentral chi-square."""
    keep = float(coin.hit)
    shift = (keep / 200) ** 2 / (keep * (1 - keep))
    noncentrality = (
        _every_row(_subject(coin, simulation(1), coin.epsilon))["draws"] * coin.size * shift
    )
    tests = (coin.size + 1) * 5 * len(catalogue())
    limit = stats.chi2.isf(FAMILY_ERROR / tests, 1)
    assert stats.ncx2.sf(limit, 1, noncentrality) > 1 - 1e-4


def test_a_true_sampler_is_rarely_accused() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=6, epsilon=3.0)
    verdicts = [check_sampler(coin, simulation(seed), draws=500, error=0.05) for seed in range(200)]
    assert sum(not verdict.passed for verdict in verdicts) <= 20


def test_an_outcome_of_probability_zero_is_found_at_once() -> None:
    class Stray(GeneralizedRandomizedResponse):
        def channel(self) -> NDArray[np.float64]:
            return np.eye(self.size)

    found = check_sampler(Stray.for_epsilon(size=3, epsilon=1.0), simulation(1), draws=100)
    assert not found.passed
    assert "probability zero" in found.detail


def test_a_report_too_few_is_found() -> None:
    class Short(GeneralizedRandomizedResponse):
        def randomize(self, values: NDArray[np.int64], source: RandomSource) -> Reports:  # type: ignore[override]  # narrower on purpose
            told = super().randomize(values, source).symbols[1:]
            return Reports(symbols=told, simulation=True)

    found = check_sampler(Short.for_epsilon(size=3, epsilon=1.0), simulation(1), draws=100)
    assert found.detail == "300 values gave 299 reports"


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("steps", [1, 16, 1024])
def test_the_cells_of_unbounded_reports_have_all_the_probability(
    epsilon: float, steps: int
) -> None:
    meter = Laplace.for_epsilon(low=-1, high=1, steps=steps, epsilon=epsilon)
    cells = cells_of(meter, [0, steps // 2, steps])
    np.testing.assert_allclose(cells.probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert check_density(meter, simulation(1), draws=1 << 12).passed
