"""Corrections 51 to 56 of docs/errata.md: covariances and latent normals of paper 004.

What the paper prints stands here as a function whose name begins with ``printed``. One assertion is
put to both versions: ours passes it, the printed one fails it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from supm import simulation
from supm.datasets import load_boston
from supm.mechanisms import ContinuousLaplace
from supm.mechanisms.noise import GaussianNoise
from supm.synthesis import Archive, ArchiveSchema, NumberColumn, learn_model
from supm.synthesis.distributions import hermite_coefficients, latent_correlations, noisy_polychoric
from supm.synthesis.moments import ColumnRoles, learn_moments
from supm.synthesis.paper_model import _covariance, learn_paper_model
from supm.synthesis.synthetic_model import repaired_covariance
from supm.synthesis.tables import mutual_information

Floats = NDArray[np.float64]


def normals(*shape: int, seed: int = 1) -> Floats:
    return GaussianNoise(1.0).draw(math.prod(shape), simulation(seed)).reshape(shape)


IMPOSSIBLE = np.array([[0.04, 0.05, 0.0], [0.05, 0.04, 0.02], [0.0, 0.02, 0.0]])


def printed_repair(covariance: Floats) -> Floats:
    """Eq. 14 and 15 by their words: D holds the eigenvalues, and Lambda' the clipped vectors."""
    values, vectors = np.linalg.eigh(covariance)
    clipped = np.where(vectors < 0, 1e-6, vectors)
    inverse = np.diag(1 / np.where(values == 0, 1e-6, values))
    return np.asarray(np.diag(values) @ clipped @ inverse)


def assert_is_a_covariance(matrix: Floats, near: Floats) -> None:
    assert matrix == pytest.approx(matrix.T), "a covariance is symmetric"
    assert np.linalg.eigvalsh(matrix)[0] > 0
    assert np.abs(matrix - near).max() < 0.05


def test_51_eigenvalues_are_clipped_and_not_eigenvectors() -> None:
    with pytest.raises(AssertionError, match="symmetric"):
        assert_is_a_covariance(printed_repair(IMPOSSIBLE), IMPOSSIBLE)
    assert_is_a_covariance(repaired_covariance(IMPOSSIBLE), IMPOSSIBLE)


def archive(clean: Floats, span: float, epsilon: float) -> Archive:
    law = ContinuousLaplace.for_epsilon(low=0.0, high=span, epsilon=epsilon)
    schema = ArchiveSchema(columns=tuple(NumberColumn(f"c{i}", law) for i in range(len(clean))))
    table = {f"c{i}": row for i, row in enumerate(clean)}
    return Archive.noised(table, schema, simulation(5))


def covariance_of(noised: Archive) -> Floats:
    """Eq. 11 and 13 as the package has them, in units of the range."""
    moments = learn_moments(noised, ColumnRoles(noised.schema))
    return _covariance(moments, noised.schema.numbers)


def few() -> Archive:
    """Return records so few and so noisy that covariances are beyond the variances."""
    return archive(np.full((3, 60), 0.5), 1.0, 1.0)


def levels_of(factor: Floats, count: int) -> Floats:
    """Return levels that the package draws with a factor of the normals."""
    copula = replace(learn_paper_model(few()).copulas[0], factor=factor)
    return copula.uniform(normals(count, 3), np.empty((count, 0), dtype=np.int64))


def printed_levels(count: int) -> Floats:
    """Eq. 2 and 3 with the standard deviations of Eq. 11, before the repair."""
    covariance = covariance_of(few())
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-6))
    factor = np.linalg.cholesky(repaired_covariance(covariance)) / spread[:, np.newaxis]
    return levels_of(factor, count)


def ours_levels(count: int) -> Floats:
    return levels_of(learn_paper_model(few()).copulas[0].factor, count)


def assert_uniform(levels: Floats) -> None:
    for row in levels:
        distance = np.abs(np.sort(row) - (np.arange(row.size) + 0.5) / row.size).max()
        assert distance < 2 / math.sqrt(row.size), "levels are not uniform"


def test_52_normals_are_divided_by_the_root_of_the_repaired_diagonal() -> None:
    with pytest.raises(AssertionError, match="uniform"):
        assert_uniform(printed_levels(20_000))
    assert_uniform(ours_levels(20_000))


def printed_variance(noised: Archive, name: str, epsilon: float) -> float:
    """Eq. 11, whose 2 / epsilon^2 is that of a range of one."""
    return max(float(noised.reports[name].var()) - 2 / epsilon**2, 0.0)


def ours_variance(noised: Archive, name: str) -> float:
    place, law = noised.schema.names.index(name), noised.schema.numbers[0].mechanism
    return float(covariance_of(noised)[place, place] * law.span**2)


def test_53_the_variance_of_the_noise_has_the_range_in_it() -> None:
    clean = 10 * ndtr(normals(1, 200_000))
    noised = archive(clean, 10.0, 2.0)
    true = clean.var()
    with pytest.raises(AssertionError):
        assert printed_variance(noised, "c0", 2.0) == pytest.approx(true, rel=0.05)
    assert ours_variance(noised, "c0") == pytest.approx(true, rel=0.05)


SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "exponential": lambda u: -np.log1p(-u) / 5,
    "skewed": lambda u: u**6,
    "spike": lambda u: np.maximum(0.0, (u - 0.7) / 0.3),
}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_54_the_correlation_of_columns_is_weaker_than_that_of_their_normals(shape: str) -> None:
    """The map of Section III-F attenuates; the inversion of the Hermite series does not."""
    latent = normals(2, 40_000, seed=3)
    latent[1] = -0.7 * latent[0] + math.sqrt(1 - 0.49) * latent[1]
    clean = np.clip(SHAPES[shape](ndtr(latent)), 0.0, 1.0)
    wanted = float(np.corrcoef(clean[0], clean[1])[0, 1])
    noised = archive(clean, 1.0, 40.0)
    found = {}
    for name, learn in {"printed": learn_paper_model, "ours": learn_model}.items():
        rows = learn(noised).sample(40_000, simulation(6))
        found[name] = float(np.corrcoef(rows["c0"], rows["c1"])[0, 1])
    with pytest.raises(AssertionError, match="attenuated"):
        assert abs(found["printed"] - wanted) < 0.03, "attenuated"
    assert abs(found["ours"] - wanted) < 0.03, "attenuated"


def test_54_two_coins_agree_with_the_arcsine_law() -> None:
    """P(both heads) = 1/4 + arcsin(rho) / (2 pi): an outside oracle for the series."""
    coin = hermite_coefficients([1.0], [0.0])
    rho = np.array([-0.9, -0.388, 0.0, 0.5, 0.9])
    covariances = np.arcsin(rho) / (2 * math.pi)
    products = np.repeat(np.square(coin)[:, np.newaxis], len(rho), axis=1)
    assert latent_correlations(covariances, products) == pytest.approx(rho, abs=2e-3)


def test_54_two_uniform_columns_agree_with_the_sine_law() -> None:
    levels = (np.arange(4000) + 0.5) / 4000
    line = hermite_coefficients(np.full(4000, 1 / 4000), ndtri(levels))
    pearson = np.array([-0.891, 0.1, 0.483, 0.891])
    products = np.repeat(np.square(line)[:, np.newaxis], len(pearson), axis=1)
    found = latent_correlations(pearson / 12, products)
    assert found == pytest.approx(2 * np.sin(math.pi * pearson / 6), abs=1e-3)


def best_split(values: Floats, target: Floats) -> float:
    """Where one cut leaves the least squared error, Eq. 5 and 6."""
    order = np.argsort(values, kind="stable")
    x, y = values[order], target[order]
    left = np.arange(1, y.size)
    sums, squares = np.cumsum(y), np.cumsum(y**2)
    error = squares[-1] - sums[:-1] ** 2 / left - (sums[-1] - sums[:-1]) ** 2 / (y.size - left)
    error[np.diff(x) == 0] = np.inf
    place = int(error.argmin())
    return float((x[place] + x[place + 1]) / 2)


@pytest.mark.data
def test_55_the_best_split_of_the_crime_rate_is_seven() -> None:
    boston = load_boston()
    found = best_split(boston.columns["CRIM"].astype(float), boston.columns["MEDV"].astype(float))
    assert round(found) == 7
    with pytest.raises(AssertionError):
        assert round(found) == 5  # the text, three paragraphs later


def coins(rho: float) -> Floats:
    """The table of two fair coins whose normals have a correlation, by the arcsine law."""
    both = 1 / 4 + math.asin(rho) / (2 * math.pi)
    return np.array([[both, 1 / 2 - both], [1 / 2 - both, both]])


def printed_from_information(table: Floats) -> float:
    """Section VII-C with reference 60: the correlation of normals of the same information."""
    return math.sqrt(1 - math.exp(-2 * mutual_information(table[np.newaxis])))


def ours_from_table(table: Floats) -> float:
    clean = [np.eye(1), *map(np.eye, table.shape)]
    one, other = table.sum(axis=1)[np.newaxis], table.sum(axis=0)[np.newaxis]
    return noisy_polychoric(table[np.newaxis], clean, one, other)[0]


@pytest.mark.parametrize("rho", [-0.8, -0.3, 0.6])
def test_56_mutual_information_loses_the_sign_and_the_size(rho: float) -> None:
    with pytest.raises(AssertionError):
        assert printed_from_information(coins(rho)) == pytest.approx(rho, abs=0.02)
    assert ours_from_table(coins(rho)) == pytest.approx(rho, abs=0.02)
