from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from supm._random import RandomSource, simulation
from supm.audit import (
    FAMILY_ERROR,
    catalogue,
    check_density,
    check_grid,
    check_raw_values,
    check_sampler,
)
from supm.audit.sampler import _between, _position
from supm.audit.subjects import cells_of
from supm.audit.suite import _every_row, _subject
from supm.mechanisms import GeneralizedRandomizedResponse, OrderedDiscretePerturbation, Reports
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.numeric import PublicGrid
from supm.mechanisms.randomizers.square_wave import SquareWave
from supm.schema import Attribute, Categorical, Continuous, Ordinal

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
    noncentrality = _every_row(_subject(coin, simulation(1), coin.epsilon)) * coin.size * shift
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


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (0.1, 0.7), (-1e6, 1.0), (math.pi, 1e3)])
def test_values_off_the_grid_are_mixtures_for_any_bounds(bounds: tuple[float, float]) -> None:
    low, high = bounds
    for steps in (1, 7, 256):
        wave = SquareWave.for_epsilon(low=low, high=high, steps=steps, epsilon=2.0)
        assert check_grid(wave, simulation(1), draws=1 << 12).passed


def test_the_values_looked_at_lie_inside_and_off_the_grid() -> None:
    grid = PublicGrid(low=-1, high=1, steps=8)
    values = list(_between(grid))
    assert len(values) == 9
    assert all(-1 < value < 1 for value in values)
    assert not set(values) & set(grid.points().tolist())


def test_the_share_of_a_step_is_exact() -> None:
    grid = PublicGrid(low=0, high=4, steps=4)
    assert _position(grid, 2.25) == (2, 0.25)
    assert _position(grid, math.nextafter(1.0, 0.0)) == (0, 1 - 2.0**-53)
    assert _position(grid, 4.0) == (3, 1.0)


def test_a_report_that_is_no_whole_number_is_found() -> None:
    class Shifted(Laplace):
        def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
            told = super().randomize(values, source).symbols + np.asarray(values) * 1e-9
            return Reports(symbols=told, simulation=True)

    found = check_grid(Shifted.for_epsilon(low=0, high=1, epsilon=1.0), simulation(1), draws=100)
    assert not found.passed
    assert found.detail == "reports are float64, not whole numbers"


ATTRIBUTES: list[Attribute] = [
    Continuous("age", low=0, high=100),
    Continuous("age", low=0, high=100, missing="class"),
    Ordinal("stage", values=("I", "II", "III", "IV", "V")),
    Categorical("ward", values=("north", "east", "south"), missing="class"),
]


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("classes", [2, 4, 5])
def test_raw_values_of_every_kind_pass(attribute: Attribute, classes: int) -> None:
    odp = OrderedDiscretePerturbation.for_epsilon(attribute=attribute, classes=classes, epsilon=1.0)
    assert check_raw_values(odp, simulation(1), draws=2000).passed


def test_a_maximum_that_is_reported_as_another_class_is_found() -> None:
    class Wrapping(OrderedDiscretePerturbation):
        """The papers' modulus: the last class becomes the first."""

        def randomize(self, values: Any, source: RandomSource) -> Reports:
            at_top = np.asarray(values) >= 100
            return super().randomize(np.where(at_top, 0.0, values), source)

    odp = Wrapping.for_epsilon(attribute=ATTRIBUTES[0], classes=4, epsilon=2.0)
    assert not check_raw_values(odp, simulation(1), draws=4000).passed
