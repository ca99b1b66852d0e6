"""Exact discrete Laplace noise: against scipy, against OpenDP, and piece by piece.

Proof: docs/proofs/discrete-laplace.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.mechanisms.noise import discrete_gaussian, discrete_laplace
from supm.mechanisms.noise.discrete_laplace import FARTHEST, DiscreteLaplaceNoise

ALARM = 1e-11
SCALES = [
    Fraction(1, 5),
    Fraction(2, 7),
    Fraction(1),
    Fraction(7, 2),
    Fraction(355, 113),
    Fraction(60),
]

scales = pytest.mark.parametrize("scale", SCALES, ids=str)


def counted(draws: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the draws up to each edge, and those beyond the last one."""
    return np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)


def edges_of(scale: Fraction, share: float) -> NDArray[np.int64]:
    """Cells of one number each, cut off so that each tail holds at least about the share.

    Chi-square is a poor guide to the far tail of small counts, and the alarm lives in that tail.
    """
    reach = max(math.floor(-math.log(2 * share) * scale) - 1, 0)
    return np.arange(-reach, reach + 1)


@scales
def test_the_probabilities_are_those_of_scipy(scale: Fraction) -> None:
    noise, oracle = DiscreteLaplaceNoise(scale), stats.dlaplace(float(1 / scale))
    numbers = np.arange(-200, 201)
    np.testing.assert_allclose(
        noise.probability(numbers), oracle.pmf(numbers), rtol=1e-9, atol=1e-300
    )
    np.testing.assert_allclose(
        noise.cumulative(numbers), oracle.cdf(numbers), rtol=1e-9, atol=1e-300
    )
    np.testing.assert_allclose(
        noise.survival(numbers), oracle.cdf(-numbers), rtol=1e-9, atol=1e-300
    )
    assert noise.variance == pytest.approx(oracle.var(), rel=1e-9)


@pytest.mark.parametrize(
    "scale", [Fraction(1, 10**4), Fraction(10**12), Fraction(2**48, 3)], ids=str
)
def test_the_probabilities_are_stable_at_extreme_scales(scale: Fraction) -> None:
    noise = DiscreteLaplaceNoise(scale)
    assert noise.cumulative(np.array([-1, 0])).sum() == pytest.approx(1)
    assert noise.probability(np.array([0]))[0] == pytest.approx(math.tanh(float(1 / scale) / 2))
    expected = 0.0 if scale < 1 else 2 * float(scale) ** 2
    assert noise.variance == pytest.approx(expected, rel=1e-6, abs=1e-300)


@scales
def test_the_sampler_draws_the_distribution(scale: Fraction) -> None:
    noise, count = DiscreteLaplaceNoise(scale), 200_000
    edges = edges_of(scale, 1e-3)
    observed = counted(noise.draw(count, secure()), edges)
    chances = np.diff(np.r_[0.0, noise.cumulative(edges), 1.0])
    assert stats.chisquare(observed, count * chances).pvalue > ALARM


@pytest.mark.parametrize(
    "scale", [Fraction(10**6), Fraction(2**48, 5), Fraction(2**48 - 59, 2**20)], ids=str
)
def test_the_sampler_draws_wide_distributions(scale: Fraction) -> None:
    noise = DiscreteLaplaceNoise(scale)
    draws = noise.draw(100_000, secure())
    # Half a step to the side makes the distribution function of the wide discrete law continuous.
    assert stats.kstest(draws + 0.5, lambda x: noise.cumulative(x - 0.5)).pvalue > ALARM
    # The parity of a draw is a fair coin: no low bit is stuck.
    assert stats.binomtest(int((draws % 2).sum()), len(draws)).pvalue > ALARM


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5, 2)], ids=str)
def test_it_draws_what_opendp_draws(scale: Fraction) -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=float(scale))([0] * 20_000))
    ours = DiscreteLaplaceNoise(scale).draw(20_000, secure())
    edges = edges_of(scale, 5e-3)
    table = np.stack([counted(theirs, edges), counted(ours, edges)])
    assert stats.chi2_contingency(table).pvalue > ALARM


@pytest.mark.parametrize("numerator", [0, 1, 3, 7])
def test_a_coin_falls_heads_with_exactly_the_exponential_chance(numerator: int) -> None:
    flips = np.full(300_000, numerator, dtype=np.uint64)
    heads = int(discrete_gaussian.decayed(flips, 7, secure()).sum())
    assert stats.binomtest(heads, len(flips), math.exp(-numerator / 7)).pvalue > ALARM


def test_coins_are_flipped_one_by_one() -> None:
    numerators = np.tile(np.arange(8, dtype=np.uint64), 100_000)
    heads = discrete_gaussian.decayed(numerators, 7, secure()).reshape(-1, 8)
    for numerator, count in enumerate(heads.sum(axis=0)):
        chance = math.exp(-numerator / 7)
        assert stats.binomtest(int(count), len(heads), chance).pvalue > ALARM
    agreement = int((heads[:, 3] & heads[:, 4]).sum())
    assert stats.binomtest(agreement, len(heads), math.exp(-1)).pvalue > ALARM


def test_runs_of_heads_are_geometric() -> None:
    runs = discrete_laplace._runs(200_000, secure())
    observed = np.bincount(np.minimum(runs, 7), minlength=8)
    chances = np.exp(-np.arange(8.0))
    chances[:7] *= 1 - math.exp(-1)
    assert stats.chisquare(observed, len(runs) * chances).pvalue > ALARM
    assert (
        stats.binomtest(int((runs[:-1] * runs[1:] > 0).sum()), len(runs) - 1, math.exp(-2)).pvalue
        > ALARM
    )


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(60)], ids=str)
def test_draws_are_independent_of_their_neighbours(scale: Fraction) -> None:
    draws = DiscreteLaplaceNoise(scale).draw(100_001, secure())
    sides = [np.sign(each) + 1 for each in (draws[:-1:2], draws[1::2])]
    table = np.bincount(3 * sides[0] + sides[1], minlength=9).reshape(3, 3)
    assert stats.chi2_contingency(table).pvalue > ALARM


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 1000])
def test_as_many_numbers_are_drawn_as_were_asked_for(count: int) -> None:
    assert DiscreteLaplaceNoise(Fraction(1, 9)).draw(count, simulation(1)).shape == (count,)


def test_a_seed_fixes_the_noise() -> None:
    noise = DiscreteLaplaceNoise(Fraction(9, 2))
    assert noise.draw(50, simulation(4)).tolist() == noise.draw(50, simulation(4)).tolist()


def test_the_largest_magnitude_fits_a_64_bit_number() -> None:
    numerator = discrete_laplace._NUMERATOR.high
    assert (FARTHEST + 1) * numerator < 1 << 63


@pytest.mark.parametrize(
    "bad",
    [
        Fraction(0),
        Fraction(-1),
        Fraction(2**48 + 1),
        Fraction(1, 2**63),
        1.0,
        1,
        "1",
        None,
        math.nan,
    ],
)
def test_a_bad_scale_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="scale"):
        DiscreteLaplaceNoise(bad)
