"""Noise whose length is gamma: moments, density, and the ratio that makes it private.

Proof: docs/proofs/gamma-norm.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.mechanisms import GammaNorm
from supm.mechanisms.noise import gamma_norm

ALARM = 1e-11


@pytest.mark.parametrize("dimension", [1, 2, 20, 300])
def test_lengths_and_directions_follow_their_laws(dimension: int) -> None:
    noise = GammaNorm(dimension=dimension, rate=0.25)
    drawn = noise.draws(20_000, secure())
    lengths = np.linalg.norm(drawn, axis=1)
    assert stats.kstest(lengths, stats.gamma(dimension, scale=4.0).cdf).pvalue > ALARM
    assert lengths.mean() == pytest.approx(noise.mean_length, rel=0.1)
    assert lengths.var() == pytest.approx(noise.length_variance, rel=0.25)
    assert drawn[:, 0].var() == pytest.approx(noise.variance, rel=0.25)
    # A direction says nothing about the length.
    upper = drawn[:, 0] > 0
    assert stats.ks_2samp(lengths[upper], lengths[~upper]).pvalue > ALARM


def test_the_density_is_the_stated_one() -> None:
    """In one dimension it is the Laplace law; in two, cells of the plane are counted."""
    line = GammaNorm(dimension=1, rate=2.0).draws(100_000, secure())[:, 0]
    assert stats.kstest(line, stats.laplace(scale=0.5).cdf).pvalue > ALARM
    plane = GammaNorm(dimension=2, rate=1.0).draws(200_000, secure())

    def density(y: float, x: float) -> float:
        return math.exp(-math.hypot(x, y)) / (2 * math.pi)

    for low in (-2.0, 0.0, 1.0):
        inside = ((plane >= low) & (plane < low + 1)).all(axis=1)
        chance = integrate.dblquad(density, low, low + 1, low, low + 1)[0]
        assert stats.binomtest(int(inside.sum()), len(plane), chance).pvalue > ALARM


def test_epsilon_is_the_largest_change_of_the_exponent() -> None:
    noise, source = GammaNorm(dimension=5, rate=0.7), simulation(1)
    points = noise.draws(2000, source)
    shift = 3.0 * GammaNorm(dimension=5, rate=1.0).draw(source)
    size = float(np.linalg.norm(shift))
    lengths = [np.linalg.norm(points - move, axis=1) for move in (0.0, shift)]
    changes = noise.rate * np.abs(lengths[0] - lengths[1])
    assert changes.max() <= noise.epsilon(size)
    on_the_line = noise.rate * (np.linalg.norm(2 * shift) - np.linalg.norm(shift))
    assert on_the_line == pytest.approx(noise.epsilon(size))


def test_epsilon_is_rounded_up() -> None:
    assert GammaNorm(dimension=3, rate=0.1).epsilon(3.0) >= 0.3
    assert GammaNorm(dimension=3, rate=0.25).epsilon(2.0) == 0.5


@pytest.mark.parametrize("count", [0, 1, 3])
def test_extremes_and_seeds(count: int) -> None:
    for noise in (GammaNorm(dimension=1, rate=1e15), GammaNorm(dimension=1000, rate=1e-12)):
        drawn = noise.draws(count, simulation(1))
        assert drawn.shape == (count, noise.dimension)
        assert np.isfinite(drawn).all()
        np.testing.assert_array_equal(drawn, noise.draws(count, simulation(1)))
        np.testing.assert_array_equal(noise.draw(simulation(1)), noise.draw(simulation(1)))


@pytest.mark.parametrize("bad", gamma_norm._DIMENSION.violations())
def test_a_bad_dimension_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="dimension"):
        GammaNorm(dimension=bad, rate=1.0)


@pytest.mark.parametrize("bad", gamma_norm._RATE.violations())
def test_a_bad_rate_or_sensitivity_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="rate"):
        GammaNorm(dimension=2, rate=bad)
    too_small = isinstance(bad, float) and 0 < bad < 1
    if not too_small:
        with pytest.raises(ParameterError, match="sensitivity"):
            GammaNorm(dimension=2, rate=1.0).epsilon(bad)
