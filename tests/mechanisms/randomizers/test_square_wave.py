"""The square wave: its width, and what comes back. Proof: docs/proofs/square-wave.md."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from supm._errors import ParameterError
from supm._random import simulation
from supm._validation import EPSILON
from supm.mechanisms.randomizers import square_wave
from supm.mechanisms.randomizers.numeric import PublicGrid
from supm.mechanisms.randomizers.randomizer import Tally
from supm.mechanisms.randomizers.square_wave import DistributionEstimate, SquareWave, half_width

PRECISE = Context(prec=100)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.999999, 1.0, 1.000001, 3.0, 50.0, 700.0])
def test_the_half_width_is_the_printed_one_to_the_last_digits(epsilon: float) -> None:
    exact = Decimal(epsilon)
    power = PRECISE.exp(exact)
    above = PRECISE.add(PRECISE.multiply(power, exact - 1), 1)
    below = PRECISE.multiply(2 * power, PRECISE.subtract(PRECISE.subtract(power, 1), exact))
    assert half_width(epsilon) == pytest.approx(float(PRECISE.divide(above, below)), rel=2e-15)


def test_the_half_width_vanishes_without_overflow() -> None:
    assert half_width(1e4) == 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_half_width_maximises_the_bound_on_the_information(epsilon: float) -> None:
    def bound(width: float) -> float:
        inside = width * math.exp(epsilon)
        return -(math.log1p(width) - math.log1p(inside) + epsilon * inside / (1 + inside))

    best = optimize.minimize_scalar(
        bound, bounds=(0, 1.5), method="bounded", options={"xatol": 1e-9}
    )
    assert best.x / 2 == pytest.approx(half_width(epsilon), rel=1e-5)


@pytest.mark.parametrize("bad", EPSILON.violations())
def test_a_bad_epsilon_has_no_width(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        half_width(bad)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 3.0, 8.0, 1e4])
def test_the_window_is_the_nearest_to_the_width(epsilon: float) -> None:
    wave = SquareWave.for_epsilon(low=0, high=1, epsilon=epsilon)
    assert wave.window == max(1, round(256 * 2 * half_width(epsilon)))
    assert wave.outcomes == 256 + wave.window


def estimate_of(epsilon: float, *, smooth: bool) -> DistributionEstimate:
    wave = SquareWave.for_epsilon(low=-10, high=30, epsilon=epsilon)
    values = -10 + 40 * stats.beta(2, 5).ppf((np.arange(200_000) + 0.5) / 200_000)
    return wave.estimate(wave.tally(wave.randomize(values, simulation(6))), smooth=smooth)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("smooth", [True, False])
def test_mean_variance_and_quantiles_come_back(*, epsilon: float, smooth: bool) -> None:
    found, truth = estimate_of(epsilon, smooth=smooth), stats.beta(2, 5)
    assert found.converged
    assert found.simulation
    assert found.shares.sum() == pytest.approx(1)
    assert found.mean == pytest.approx(-10 + 40 * truth.mean(), abs=0.4)
    assert math.sqrt(found.variance) == pytest.approx(40 * truth.std(), abs=0.4)
    for level in (0.1, 0.5, 0.9):
        assert found.quantile(level) == pytest.approx(-10 + 40 * truth.ppf(level), abs=1.0)


def test_without_smoothing_a_spike_stays_sharp() -> None:
    wave = SquareWave.for_epsilon(low=0, high=1, epsilon=3.0)
    tally = wave.tally(wave.randomize(np.full(50_000, 0.5), simulation(2)))
    rough, smooth = (wave.estimate(tally, smooth=each) for each in (False, True))
    assert rough.shares.max() > 2 * smooth.shares.max()
    assert rough.mean == pytest.approx(0.5, abs=0.01)


def point_masses() -> DistributionEstimate:
    return DistributionEstimate(
        points=np.array([1.0, 2.0, 4.0]),
        shares=np.array([0.25, 0.5, 0.25]),
        iterations=1,
        converged=True,
        simulation=False,
    )


def test_quantiles_are_the_least_points_that_hold_the_level() -> None:
    found = point_masses()
    levels = [0.0, 0.25, 0.26, 0.75, 0.76, 1.0]
    assert [found.quantile(level) for level in levels] == [1, 1, 2, 2, 4, 4]
    assert found.mean == 2.25


@pytest.mark.parametrize("bad", square_wave._LEVEL.violations())
def test_a_bad_level_is_refused(bad: Any) -> None:
    found = point_masses()
    with pytest.raises(ParameterError, match="level must be"):
        found.quantile(bad)


@pytest.mark.parametrize("bad", square_wave._STEPS.violations())
def test_a_grid_too_fine_for_the_reconstruction_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="steps must be"):
        SquareWave.for_epsilon(low=0, high=1, epsilon=1.0, steps=bad)
    grid = PublicGrid(low=0, high=1, steps=1025)
    with pytest.raises(ParameterError, match="steps must be"):
        SquareWave(grid=grid, window=4, threshold=(1 << 64) - 1)


def test_no_reports_have_no_distribution() -> None:
    wave = SquareWave.for_epsilon(low=0, high=1, epsilon=1.0)
    with pytest.raises(ParameterError, match="reports must be"):
        wave.estimate(Tally(counts=np.zeros(wave.outcomes), reports=0, simulation=True))
