"""Discrete Laplace noise for counts; its sampler is tested with the Laplace randomizer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import DiscreteLaplaceNoise

ALARM = 1e-11


@pytest.mark.parametrize("sensitivity", [1, 2, 1000, 1 << 40])
@pytest.mark.parametrize("epsilon", [1e-2, 0.1, 1.0, 7.0])
def test_epsilon_is_kept_and_used_up(sensitivity: int, epsilon: float) -> None:
    noise = DiscreteLaplaceNoise.for_epsilon(sensitivity=sensitivity, epsilon=epsilon)
    assert noise.epsilon(sensitivity) <= epsilon
    assert noise.epsilon(sensitivity) == pytest.approx(epsilon, rel=1e-12)


def test_the_ratio_of_shifted_laws_is_epsilon() -> None:
    noise = DiscreteLaplaceNoise(Fraction(7, 3))
    numbers = np.arange(-40, 41)
    ratios = noise.probability(numbers) / noise.probability(numbers - 2)
    assert math.log(ratios.max()) == pytest.approx(noise.epsilon(2))
    assert math.log(ratios.min()) == pytest.approx(-noise.epsilon(2))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 3)], ids=str)
def test_draws_follow_the_stated_law(scale: Fraction) -> None:
    noise, edges = DiscreteLaplaceNoise(scale), np.arange(-12, 13)
    drawn = noise.draw(100_000, secure())
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
    chances = np.diff(np.r_[0.0, noise.cumulative(edges), 1.0])
    assert goodness_of_fit(counts, chances) > ALARM
    assert drawn.var() == pytest.approx(noise.variance, rel=0.1)


@pytest.mark.parametrize("count", [0, 1, 100])
def test_as_many_as_asked_for_and_fixed_by_a_seed(count: int) -> None:
    noise = DiscreteLaplaceNoise(Fraction(9))
    assert noise.draw(count, simulation(1)).shape == (count,)
    np.testing.assert_array_equal(
        noise.draw(count, simulation(1)), noise.draw(count, simulation(1))
    )


@pytest.mark.parametrize("bad", [0.5, 1, Fraction(0), Fraction(-1, 2), None])
def test_a_bad_scale_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="scale"):
        DiscreteLaplaceNoise(bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
def test_a_bad_sensitivity_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="sensitivity"):
        DiscreteLaplaceNoise(Fraction(2)).epsilon(bad)
    with pytest.raises(ParameterError, match="sensitivity"):
        DiscreteLaplaceNoise.for_epsilon(sensitivity=bad, epsilon=1.0)
