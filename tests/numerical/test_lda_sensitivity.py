"""Theorem 1 of docs/proofs/discriminant.md: no neighbours are worse than the formula says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from supm import ParameterError, simulation
from supm.federation.discriminant_sums import MomentNoise, histogram_mu, histogram_width
from supm.federation.rows import GRID, Rows, class_counts, class_sums, grid_rows, scatter
from supm.mechanisms.noise import GaussianNoise

Floats = NDArray[np.float64]
RATIOS = [0.3, 0.6, 0.7072, 1.0, 1.4142, 3.0]


def distance(noise: MomentNoise, holders: int, one: Rows, other: Rows) -> float:
    """Return the mu that these two tables show, by what a party really adds up."""

    def part(width: int, steps: int, before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
        variance = (holders * width**2 - 16) / steps**2
        return float(np.square((after - before) / steps).sum() / variance)

    square = part(noise.sums, GRID, class_sums(one), class_sums(other))
    square += part(noise.scatter, GRID**2, scatter(one.values), scatter(other.values))
    square += part(noise.counts, GRID, class_counts(one), class_counts(other))
    return float(np.sqrt(square))


def table(vector: Floats, label: int, classes: int) -> Rows:
    return grid_rows(vector[np.newaxis], np.array([label]), classes=classes)


def balls(count: int, width: int, seed: int) -> Floats:
    """Return vectors in the unit ball, every other one on its surface."""
    drawn = GaussianNoise(1.0).draw(count * width, simulation(seed)).reshape(count, width)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    drawn[::2] *= (simulation(seed + 1).words(len(drawn[::2])) / 2**64)[:, np.newaxis]
    return drawn


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("holders", [1, 7])
def test_no_random_neighbours_are_worse(ratio: float, holders: int) -> None:
    noise = MomentNoise.for_mu(mu=0.5, holders=holders, ratio=ratio)
    vectors = balls(400, 3, seed=7)
    for place in range(0, 400, 2):
        for label in (0, 1):
            one, other = vectors[place], vectors[place + 1]
            pair = table(one, 0, 3), table(other, label, 3)
            assert distance(noise, holders, *pair) <= noise.mu(holders)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("label", [0, 2])
def test_the_worst_neighbours_that_a_search_finds_reach_the_formula(
    ratio: float, label: int
) -> None:
    noise = MomentNoise.for_mu(mu=0.5, holders=1, ratio=ratio)

    def closeness(numbers: Floats) -> float:
        one, other = np.asarray(numbers).reshape(2, 2)
        return -distance(noise, 1, table(one, 0, 3), table(other, label, 3))

    found = []
    for start in balls(12, 4, seed=3):
        best = minimize(closeness, start, method="Nelder-Mead", options={"maxiter": 250})
        found.append(-best.fun)
    assert max(found) <= noise.mu(1)
    if label == 0:
        # The bound is attained by records that keep their class, and counts come for nothing.
        assert max(found) >= 0.98 * noise.mu(1)


def test_a_changed_label_is_what_costs_where_counts_are_precise() -> None:
    precise = MomentNoise(sums=20 * GRID, scatter=20 * GRID**2, counts=GRID)
    one, other = table(np.array([1.0, 0.0]), 0, 2), table(np.array([0.0, 1.0]), 1, 2)
    assert distance(precise, 1, one, other) == pytest.approx(precise.mu(1), rel=1e-6)
    assert precise.mu(1) == pytest.approx(np.sqrt(2 + 2 / 400 + 2 / 400), rel=1e-6)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("holders", [1, 3, 10])
@pytest.mark.parametrize("mu", [0.01, 0.3, 5.0])
def test_the_widths_keep_mu_and_waste_nothing(ratio: float, holders: int, mu: float) -> None:
    noise = MomentNoise.for_mu(mu=mu, holders=holders, ratio=ratio)
    assert 0.9999 * mu <= noise.mu(holders) <= mu
    histogram = histogram_mu(histogram_width(mu=mu, holders=holders), holders)
    assert 0.9999 * mu <= histogram <= mu


@pytest.mark.parametrize("ratio", RATIOS)
def test_counts_are_free_and_no_wider_than_that(ratio: float) -> None:
    noise = MomentNoise.for_mu(mu=0.1, holders=1, ratio=ratio)
    without = MomentNoise(sums=noise.sums, scatter=noise.scatter, counts=noise.counts * 1000)
    assert noise.mu(1) == pytest.approx(without.mu(1), rel=1e-5)
    narrower = MomentNoise(sums=noise.sums, scatter=noise.scatter, counts=int(0.98 * noise.counts))
    assert narrower.mu(1) > without.mu(1) * (1 + 1e-6)


def test_the_numbers_of_the_report() -> None:
    noise = MomentNoise.for_mu(mu=0.1, holders=1, ratio=2**0.5)
    assert noise.scatter / GRID**2 == pytest.approx(np.sqrt(3.125) / 0.1, rel=1e-6)
    assert noise.counts / noise.scatter * GRID == pytest.approx(4.0, rel=1e-6)


def test_mu_is_exact_and_rounded_up() -> None:
    noise = MomentNoise(sums=GRID * 3, scatter=GRID**2 * 3, counts=GRID * 6)
    sums = Fraction(2 * (GRID * 3) ** 2 - 16, GRID**2)
    products = Fraction(2 * (GRID**2 * 3) ** 2 - 16, GRID**4)
    square = 2 / sums + 2 / products + products / (2 * sums**2)
    stated = Fraction(noise.mu(2)) ** 2
    assert square * (1 + Fraction(2, 10**9)) <= stated <= square * (1 + Fraction(3, 10**9))


def test_noise_that_promises_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="mu must be at most 10"):
        MomentNoise(sums=6, scatter=6, counts=6).mu(1)
    with pytest.raises(ParameterError, match="width"):
        MomentNoise(sums=5, scatter=6, counts=6)
    with pytest.raises(ParameterError, match="mu"):
        MomentNoise.for_mu(mu=0.0, holders=1)
    with pytest.raises(ParameterError, match="holders"):
        MomentNoise.for_mu(mu=0.1, holders=0)
