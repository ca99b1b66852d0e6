from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from supm._random import RandomSource, simulation
from supm.audit import check_grid
from supm.audit.sampler import _between, _position
from supm.mechanisms import Reports
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.public_grid import PublicGrid
from supm.mechanisms.randomizers.square_wave import SquareWave


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (0.1, 0.7), (-1e6, 1.0), (math.pi, 1e3)])
def test_values_off_the_grid_are_mixtures_for_any_bounds(
    bounds: tuple[float, float],
) -> None:
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
