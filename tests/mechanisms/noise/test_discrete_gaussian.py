"""The discrete Gaussian: against its exact law, against OpenDP, and piece by piece.

Proof: docs/proofs/discrete-gaussian.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import DiscreteGaussian
from supm.mechanisms.noise import discrete_gaussian
from supm.mechanisms.noise.discrete_gaussian import LARGEST_SIGMA

ALARM = 1e-11
NARROW = [1, 2, 3, 5, 17, 60]
WIDE = [1000, 1 << 20, 1 << 37, (1 << 45) - 1, LARGEST_SIGMA]
DRAWS = 300_000


def counted(draws: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the draws up to each edge, and those beyond the last one."""
    return np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)


def brute_force(sigma: int, reach: int) -> NDArray[np.float64]:
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    return np.asarray(weights / math.fsum(weights))


@pytest.mark.parametrize("sigma", NARROW)
def test_the_stated_law_is_the_definition(sigma: int) -> None:
    noise, reach = DiscreteGaussian(sigma), 45 * sigma
    numbers = np.arange(-reach, reach + 1)
    exact = brute_force(sigma, reach)
    np.testing.assert_allclose(noise.probability(numbers), exact, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(noise.cumulative(numbers), np.cumsum(exact), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        noise.survival(numbers), np.cumsum(exact[::-1])[::-1], rtol=1e-12, atol=1e-300
    )
    assert noise.variance == pytest.approx(math.fsum(exact * numbers**2.0), rel=1e-12)


@pytest.mark.parametrize("sigma", [1023, 1024, 1500])
def test_the_distribution_function_of_wide_noise_is_a_sum_too(sigma: int) -> None:
    exact = np.cumsum(brute_force(sigma, 40 * sigma))
    numbers = np.arange(-12 * sigma, 12 * sigma, 97)
    found = DiscreteGaussian(sigma).cumulative(numbers)
    np.testing.assert_allclose(found, exact[numbers + 40 * sigma], rtol=1e-12)


@pytest.mark.parametrize("sigma", [1, *WIDE])
def test_the_stated_law_holds_at_the_ends_of_64_bits(sigma: int) -> None:
    noise = DiscreteGaussian(sigma)
    ends = np.array([-(2**63) + 1, 2**63 - 1])
    assert noise.cumulative(ends).tolist() == [0.0, 1.0]
    assert noise.survival(ends).tolist() == [1.0, 0.0]
    assert noise.probability(ends).tolist() == [0.0, 0.0]
    below, at = noise.cumulative([-1, 0])
    assert below + at == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("sigma", NARROW)
def test_the_sampler_draws_every_number_as_often_as_it_should(sigma: int) -> None:
    noise = DiscreteGaussian(sigma)
    edges = np.arange(-7 * sigma, 7 * sigma + 1)
    chances = np.diff(np.r_[0.0, noise.cumulative(edges), 1.0])
    drawn = noise.draw(DRAWS, secure())
    assert goodness_of_fit(counted(drawn, edges), chances) > ALARM


@pytest.mark.parametrize("sigma", WIDE)
def test_the_sampler_draws_wide_laws_with_their_tails_and_low_bits(sigma: int) -> None:
    noise = DiscreteGaussian(sigma)
    edges = np.array([step * sigma // 8 for step in range(-48, 49)])
    chances = np.diff(np.r_[0.0, noise.cumulative(edges), 1.0])
    drawn = noise.draw(DRAWS, secure())
    assert goodness_of_fit(counted(drawn, edges), chances) > ALARM
    low = np.bincount(drawn & 7, minlength=8)
    assert goodness_of_fit(low, np.full(8, 1 / 8)) > ALARM


@pytest.mark.parametrize("sigma", [1, 5])
def test_a_few_draws_at_a_time_follow_the_same_law(sigma: int) -> None:
    """A batch that is small, or cut where it ends, must not favour anything."""
    noise, source = DiscreteGaussian(sigma), secure()
    drawn = np.concatenate([noise.draw(1 + turn % 3, source) for turn in range(2500)])
    edges = np.arange(-4 * sigma, 4 * sigma + 1)
    chances = np.diff(np.r_[0.0, noise.cumulative(edges), 1.0])
    assert goodness_of_fit(counted(drawn, edges), chances) > ALARM


@pytest.mark.parametrize("sigma", [1, 3])
def test_it_draws_what_opendp_draws(sigma: int) -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*space, scale=float(sigma))([0] * 20_000))
    ours = DiscreteGaussian(sigma).draw(20_000, secure())
    edges = np.arange(-2 * sigma, 2 * sigma + 1)
    table = np.stack([counted(theirs, edges), counted(ours, edges)])
    assert stats.chi2_contingency(table).pvalue > ALARM


@pytest.mark.parametrize("part", [0, 1, 3, 6, 7])
def test_coins_fall_heads_with_exactly_the_exponential_chance(part: int) -> None:
    parts, x = np.full(200_000, part, dtype=np.uint64), part / 7
    for flip, chance in (
        (discrete_gaussian.decayed, math.exp(-x)),
        (discrete_gaussian.squared, math.exp(-x * x / 2)),
    ):
        heads = int(flip(parts, 7, secure()).sum())
        assert stats.binomtest(heads, len(parts), chance).pvalue > ALARM


def test_half_coins_fall_heads_with_exactly_their_chance() -> None:
    heads = int(discrete_gaussian.halves(500_000, secure()).sum())
    assert stats.binomtest(heads, 500_000, math.exp(-0.5)).pvalue > ALARM


def test_wholes_follow_the_coarse_law() -> None:
    wholes = discrete_gaussian._wholes(300_000, secure())
    chances = np.exp(-0.5 * np.arange(12.0) ** 2)
    share = 300_000 * (1 - math.exp(-0.5)) * chances.sum()
    assert abs(len(wholes) - share) < 8 * math.sqrt(share)
    assert goodness_of_fit(np.bincount(wholes, minlength=12), chances / chances.sum()) > ALARM


def test_short_lists_of_runs_do_not_favour_short_runs() -> None:
    """All runs that end within so many coins would."""
    source = secure()
    coins = discrete_gaussian._COINS
    drawn = [
        discrete_gaussian.runs(3, coins, lambda size: discrete_gaussian.halves(size, source))
        for _ in range(10_000)
    ]
    runs = np.concatenate(drawn)
    assert len(runs) == 30_000
    chances = (1 - math.exp(-0.5)) * np.exp(-0.5 * np.arange(40.0))
    assert goodness_of_fit(np.bincount(runs, minlength=40)[:40], chances) > ALARM


@pytest.mark.parametrize("sigma", [1, 5, LARGEST_SIGMA])
def test_draws_are_independent_of_their_neighbours(sigma: int) -> None:
    drawn = DiscreteGaussian(sigma).draw(200_000, secure())
    thirds = (drawn > sigma // 2).astype(np.int64) + (drawn >= -(sigma // 2))
    for reading in (thirds, np.minimum(np.abs(drawn) // sigma, 2)):
        pairs = np.bincount(3 * reading[0::2] + reading[1::2], minlength=9).reshape(3, 3)
        assert stats.chi2_contingency(pairs).pvalue > ALARM


def test_sign_and_size_are_independent() -> None:
    drawn = DiscreteGaussian(5).draw(200_000, secure())
    drawn = drawn[drawn != 0]
    table = np.zeros((2, 5), dtype=np.int64)
    np.add.at(table, ((drawn > 0).astype(int), np.minimum(np.abs(drawn) // 4, 4)), 1)
    assert stats.chi2_contingency(table).pvalue > ALARM


@pytest.mark.parametrize("count", [0, 1, 2, 63, 1000, (1 << 18) + 3])
def test_as_many_numbers_are_drawn_as_were_asked_for(count: int) -> None:
    drawn = DiscreteGaussian(4).draw(count, simulation(1))
    assert drawn.shape == (count,)
    assert drawn.dtype == np.dtype(np.int64)


def test_blocks_are_joined_without_a_gap_or_a_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_gaussian, "_BLOCK", 1000)
    drawn = DiscreteGaussian(1 << 40).draw(10_500, simulation(3))
    assert len(np.unique(drawn)) == 10_500


def test_a_batch_that_is_too_small_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_gaussian, "_CANDIDATES", 0.1)
    monkeypatch.setattr(discrete_gaussian, "_COINS", 0.1)
    drawn = DiscreteGaussian(1 << 40).draw(20_000, simulation(3))
    assert len(np.unique(drawn)) == 20_000
    assert abs(float(np.std(drawn)) / (1 << 40) - 1) < 0.03


def test_a_seed_fixes_the_noise_and_another_gives_other_noise() -> None:
    noise = DiscreteGaussian(9)
    assert noise.draw(50, simulation(4)).tolist() == noise.draw(50, simulation(4)).tolist()
    assert noise.draw(50, simulation(4)).tolist() != noise.draw(50, simulation(5)).tolist()


def test_the_widest_noise_has_room_in_64_bits() -> None:
    """Sixty-four widths out, the probability is below e^-2000, and a thousand parties add up."""
    assert 64 * LARGEST_SIGMA * 1000 < 1 << 62


@pytest.mark.parametrize("bad", [*discrete_gaussian._SIGMA.violations(), 1.0])
def test_a_bad_sigma_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="sigma"):
        DiscreteGaussian(bad)


@pytest.mark.parametrize("bad", discrete_gaussian._COUNT.violations())
def test_a_bad_count_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="count"):
        DiscreteGaussian(3).draw(bad, simulation(1))


def test_a_source_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="source"):
        DiscreteGaussian(3).draw(1, 7)  # type: ignore[arg-type]
