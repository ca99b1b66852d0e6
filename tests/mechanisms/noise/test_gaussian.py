"""The Gaussian mechanism on floats: calibration, promise and law; the table of paper 003."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.mechanisms import GaussianNoise, classical_sigma
from supm.mechanisms.noise import gaussian
from supm.privacy import GaussianDP, Neighbours

ALARM = 1e-11

# Widths at delta 1e-4: epsilon, classical at S = 1, exact curve at S = 1 and at S = sqrt 2.
TABLE = [
    (0.005, 868.7, 298.6, 422.3),
    (0.025, 173.7, 80.9, 114.4),
    (0.05, 86.9, 44.8, 63.3),
    (0.25, 17.4, 10.9, 15.4),
    (0.5, 8.69, 5.89, 8.34),
    (1.0, 4.34, 3.19, 4.51),
]


@pytest.mark.parametrize(("epsilon", "classical", "one", "root"), TABLE)
def test_widths_are_those_of_the_table(
    epsilon: float, classical: float, one: float, root: float
) -> None:
    found = classical_sigma(sensitivity=1.0, epsilon=epsilon, delta=1e-4)
    assert found == pytest.approx(classical, rel=3e-3)
    for sensitivity, sigma in ((1.0, one), (math.sqrt(2), root)):
        noise = GaussianNoise.for_budget(sensitivity=sensitivity, epsilon=epsilon, delta=1e-4)
        assert noise.sigma == pytest.approx(sigma, rel=3e-3)


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1])
@pytest.mark.parametrize("sensitivity", [1e-3, 1.0, math.sqrt(2), 1e6])
def test_the_budget_is_kept_and_used_up(epsilon: float, delta: float, sensitivity: float) -> None:
    noise = GaussianNoise.for_budget(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    promised = noise.guarantee(sensitivity, Neighbours.REPLACE_ONE)
    assert promised.delta_at(epsilon) <= delta
    assert promised.delta_at(epsilon) == pytest.approx(delta, rel=1e-6)


def test_the_promise_is_sensitivity_over_sigma_rounded_up() -> None:
    promised = GaussianNoise(3.0).guarantee(1.0, Neighbours.ADD_REMOVE)
    assert isinstance(promised, GaussianDP)
    assert promised.neighbours is Neighbours.ADD_REMOVE
    assert 1 / 3 <= promised.mu <= math.nextafter(1 / 3, 1)


def test_draws_follow_the_normal_law() -> None:
    drawn = GaussianNoise(7.0).draw(200_000, secure())
    assert stats.kstest(drawn, stats.norm(scale=7.0).cdf).pvalue > ALARM


@pytest.mark.parametrize("sigma", [1e-12, 1e15])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_extremes_are_drawn_and_fixed_by_a_seed(sigma: float, count: int) -> None:
    drawn = GaussianNoise(sigma).draw(count, simulation(1))
    assert drawn.shape == (count,)
    assert np.isfinite(drawn).all()
    np.testing.assert_array_equal(drawn, GaussianNoise(sigma).draw(count, simulation(1)))


@pytest.mark.parametrize("bad", gaussian._SIGMA.violations())
def test_a_bad_sigma_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="sigma"):
        GaussianNoise(bad)


@pytest.mark.parametrize("name", ["sensitivity", "epsilon", "delta"])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_bad_budget_is_refused(name: str, bad: Any) -> None:
    budget: dict[str, Any] = {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-5, name: bad}
    for make in (GaussianNoise.for_budget, classical_sigma):
        with pytest.raises(ParameterError, match=name):
            make(**budget)
