"""The Laplace mechanism on the grid. Proof: docs/proofs/discrete-laplace.md, Theorem 2."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure
from supm._validation import Integers
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.numeric import PublicGrid

ALARM = 1e-11


def laplace(epsilon: float, steps: int = 6) -> Laplace:
    return Laplace.for_epsilon(low=-3, high=5, epsilon=epsilon, steps=steps)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_largest_ratio_is_the_stated_epsilon(epsilon: float) -> None:
    mechanism = laplace(epsilon)
    least, greatest = mechanism.alphabet
    symbols = np.arange(least, greatest + 1)
    rows = np.array([mechanism.probability(index, symbols) for index in range(7)])
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    ratios = np.log(rows.max(axis=0) / rows.min(axis=0))
    assert ratios.max() == pytest.approx(mechanism.epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1 / 3, 1.0, math.pi, 100.0, 1e4])
@pytest.mark.parametrize("steps", [1, 6, 1000, 1024, 1 << 20])
def test_the_scale_is_rounded_toward_privacy_and_by_little(epsilon: float, steps: int) -> None:
    mechanism = laplace(epsilon, steps)
    assert Fraction(steps) / mechanism.scale <= Fraction(epsilon)
    assert epsilon * (1 - 1e-12) < mechanism.epsilon <= epsilon
    assert Fraction(mechanism.epsilon) >= Fraction(steps) / mechanism.scale


@pytest.mark.parametrize("index", [0, 3, 6])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_sampler_draws_the_stated_distribution(index: int, epsilon: float) -> None:
    mechanism, count = laplace(epsilon), 100_000
    value = mechanism.grid.points()[index]
    symbols = mechanism.randomize(np.full(count, value), secure()).symbols
    reach = math.floor(6 * mechanism.scale)
    edges = np.arange(index - reach, index + reach + 1)
    observed = np.bincount(np.searchsorted(edges, symbols), minlength=len(edges) + 1)
    chances = np.diff(np.r_[0.0, mechanism.cumulative(index, edges), 1.0])
    assert stats.chisquare(observed, count * chances).pvalue > ALARM


def test_between_points_the_sampler_draws_the_mixture() -> None:
    mechanism, count = laplace(2.0), 100_000
    symbols = mechanism.randomize(np.full(count, -3 + 8 * 2.25 / 6), secure()).symbols
    edges = np.arange(-12, 18)
    below = 0.75 * mechanism.cumulative(2, edges) + 0.25 * mechanism.cumulative(3, edges)
    observed = np.bincount(np.searchsorted(edges, symbols), minlength=len(edges) + 1)
    assert stats.chisquare(observed, count * np.diff(np.r_[0.0, below, 1.0])).pvalue > ALARM


def test_the_cumulative_sums_the_probabilities() -> None:
    mechanism = laplace(3.0)
    least, greatest = mechanism.alphabet
    symbols = np.arange(least - 2, greatest + 3)
    chances = mechanism.probability(1, symbols)
    np.testing.assert_allclose(np.cumsum(chances), mechanism.cumulative(1, symbols), atol=1e-14)
    assert chances[[0, 1, -2, -1]].tolist() == [0, 0, 0, 0]
    assert chances[2] > 0
    assert mechanism.cumulative(1, greatest) == 1


def test_a_report_beyond_the_reach_is_cut_to_it() -> None:
    mechanism = Laplace(grid=PublicGrid(low=0, high=1, steps=6), scale=Fraction(3))
    assert mechanism.alphabet == (-192, 198)
    assert mechanism.report_bits == 9
    told = mechanism.probability(0, [-192, -193, 198, 199])
    assert told[0] == pytest.approx(math.exp(-64) / (1 + math.exp(-1 / 3)), rel=1e-9)
    assert told[1] == told[3] == 0


def test_the_whole_alphabet_is_within_the_exact_part_of_the_noise() -> None:
    """Saturated noise must be cut wherever the owner stands, or cutting would not be free."""
    for epsilon in (1e-6, 1.0, 1e4):
        for steps in (1, 1024, 1 << 20):
            mechanism = laplace(epsilon, steps)
            least, greatest = mechanism.alphabet
            assert greatest - least < (1 << 14) * mechanism.scale
            assert greatest < 1 << 62


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 100.0, 1e4])
@pytest.mark.parametrize("position", [0.0, 0.25, 2.5, 6.0])
def test_the_stated_variance_is_that_of_the_distribution(epsilon: float, position: float) -> None:
    mechanism = laplace(epsilon)
    row = min(int(position), 5)
    least, greatest = mechanism.alphabet
    symbols = np.arange(least, greatest + 1)
    below, above = (mechanism.probability(index, symbols) for index in (row, row + 1))
    chances = (1 - position + row) * below + (position - row) * above
    assert chances @ symbols == pytest.approx(position, abs=1e-12)
    exact = chances @ np.square(symbols - position) * (8 / 6) ** 2
    assert mechanism.variance(-3 + 8 / 6 * position) == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0])
def test_the_variance_nears_that_of_the_continuous_mechanism(epsilon: float) -> None:
    mechanism = Laplace.for_epsilon(low=-1, high=1, epsilon=epsilon)
    assert mechanism.variance(0.0) == pytest.approx(2 * (2 / epsilon) ** 2, rel=1e-4)


@pytest.mark.parametrize("bad", Integers("index", 0, 6).violations())
def test_a_point_outside_the_grid_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="index must be"):
        laplace(1.0).probability(bad, [0])
    with pytest.raises(ParameterError, match="index must be"):
        laplace(1.0).cumulative(bad, [0])


@pytest.mark.parametrize("bad", [Fraction(0), Fraction(6, 10_001), 1.5, "1", None])
def test_a_bad_scale_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="scale"):
        Laplace(grid=PublicGrid(low=0, high=1, steps=6), scale=bad)
