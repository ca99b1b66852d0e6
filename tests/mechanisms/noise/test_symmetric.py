"""Symmetric noise: variances on and off the diagonal, exact laws, and the papers' copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import DiscreteGaussian, mirrored_triangle, symmetric_gaussian, symmetric_noise

ALARM = 1e-11
UPPER = np.triu_indices(300, 1)


def pairs_law(sigma: int, reach: int) -> NDArray[np.float64]:
    """Return the law of the sum of two draws, on -2 reach … 2 reach."""
    one = DiscreteGaussian(sigma).probability(np.arange(-reach, reach + 1))
    return np.convolve(one, one)


@pytest.mark.parametrize("sigma", [1, 4])
def test_whole_noise_follows_its_law_on_and_off_the_diagonal(sigma: int) -> None:
    noise = symmetric_noise(300, sigma, secure())
    law, middle = pairs_law(sigma, 9 * sigma), 18 * sigma
    assert goodness_of_fit(np.bincount(noise[UPPER] + middle, minlength=len(law)), law) > ALARM
    diagonal = np.concatenate([np.diag(symmetric_noise(60, sigma, secure())) for _ in range(40)])
    assert (diagonal % 2 == 0).all()
    one = DiscreteGaussian(sigma).probability(np.arange(-9 * sigma, 9 * sigma + 1))
    assert goodness_of_fit(np.bincount(diagonal // 2 + 9 * sigma, minlength=len(one)), one) > ALARM


@pytest.mark.parametrize(
    ("draw", "off"), [(symmetric_gaussian, np.sqrt(0.5)), (mirrored_triangle, 1.0)]
)
def test_normal_noise_has_the_stated_widths(draw: Callable[..., Any], off: float) -> None:
    noise = draw(300, 3.0, secure())
    assert stats.kstest(noise[UPPER], stats.norm(scale=3.0 * off).cdf).pvalue > ALARM
    diagonal = np.concatenate([np.diag(draw(60, 3.0, secure())) for _ in range(40)])
    assert stats.kstest(diagonal, stats.norm(scale=3.0).cdf).pvalue > ALARM


@pytest.mark.parametrize("draw", [symmetric_noise, symmetric_gaussian, mirrored_triangle])
@pytest.mark.parametrize("dimension", [1, 2, 17])
def test_all_are_symmetric_and_fixed_by_a_seed(draw: Callable[..., Any], dimension: int) -> None:
    noise = draw(dimension, 5, simulation(1))
    assert noise.shape == (dimension, dimension)
    assert (noise == noise.T).all()
    assert (noise == draw(dimension, 5, simulation(1))).all()


def test_rows_are_independent_but_for_symmetry() -> None:
    noise = symmetric_gaussian(300, 1.0, secure())
    correlation = np.corrcoef(noise[UPPER][:-1], noise[UPPER][1:])[0, 1]
    assert abs(correlation) < 8 / np.sqrt(UPPER[0].size)


@pytest.mark.parametrize("draw", [symmetric_noise, symmetric_gaussian, mirrored_triangle])
@pytest.mark.parametrize("bad", [0, -1, 2.0, True, None, 1 << 15])
def test_a_bad_dimension_is_refused(draw: Callable[..., Any], bad: Any) -> None:
    with pytest.raises(ParameterError, match="dimension"):
        draw(bad, 5, simulation(1))
