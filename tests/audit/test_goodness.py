from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import simulation
from supm.audit.goodness import correlation_bound, goodness_of_fit

SKEWED = np.array([0.9, 0.0999, 1e-4 - 3e-7, 1e-7, 1e-7, 1e-7])
MANY = np.full(400, 1 / 400)


def draw(probabilities: NDArray[np.float64], total: int, seed: int) -> NDArray[np.int64]:
    steps = np.cumsum(probabilities)
    uniform = simulation(seed).words(total) * 2.0**-64
    cells = np.minimum(np.searchsorted(steps, uniform), probabilities.size - 1)
    return np.bincount(cells, minlength=probabilities.size)


@pytest.mark.parametrize("probabilities", [SKEWED, MANY, np.array([0.5, 0.5])])
@pytest.mark.parametrize("total", [300, 3_000, 30_000])
def test_the_p_value_of_a_true_sampler_is_small_as_rarely_as_it_says(
    probabilities: NDArray[np.float64], total: int
) -> None:
    found = np.array(
        [goodness_of_fit(draw(probabilities, total, seed), probabilities) for seed in range(300)]
    )
    assert np.count_nonzero(found < 0.01) <= 10
    assert found.min() > 1e-5


def test_a_rare_cell_that_is_drawn_too_often_is_found() -> None:
    assert goodness_of_fit(np.array([90_000, 9_990, 4, 6, 0, 0]), SKEWED) < 1e-9


def test_a_cell_of_probability_zero_must_not_be_drawn() -> None:
    assert goodness_of_fit(np.array([5_000, 5_000, 1]), np.array([0.5, 0.5, 0.0])) == 0.0


def test_rare_cells_that_are_all_a_little_off_are_found_together() -> None:
    tilted = np.repeat([40, 60], 200)
    assert goodness_of_fit(np.append(tilted, 0), np.append(np.full(400, 1 / 400), 0.0)) < 1e-9


def test_one_cell_fits_whatever_is_drawn() -> None:
    assert goodness_of_fit(np.array([12_345]), np.array([1.0])) == 1.0


@pytest.mark.parametrize("lag", [1, 7, 4001])
def test_a_faint_dependence_is_found(lag: int) -> None:
    noise = simulation(1).below(1000, 1 << 17) / 999.0 - 0.5
    first, second = noise[: 1 << 16], noise[1 << 16 :]
    faint = first.copy()
    faint[lag:] = np.where(np.arange(first.size - lag) % 10 == 0, first[:-lag], first[lag:])
    assert correlation_bound(faint, second, variance=1 / 12, reach=0.5) < 1e-9
