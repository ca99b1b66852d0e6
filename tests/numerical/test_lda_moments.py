"""Theorem 3 of docs/proofs/discriminant.md: unbiased, and several tables equal to one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, ks_2samp

from supm import simulation
from supm.federation.discriminant import Discriminant
from supm.federation.discriminant_sums import MomentNoise, read_moments, tell_moments
from supm.federation.protocol import Circle, run_pooled
from supm.federation.rows import GRID, Rows, VectorEncoding, grid_rows
from supm.learning.directions import ClassMoments
from supm.mechanisms.noise import GaussianNoise

WIDTH = 3
# A wrong null hypothesis would be rejected far beyond this; a right one hardly ever is.
LEVEL = 1e-6


def people(size: int, seed: int = 4) -> Rows:
    drawn = GaussianNoise(0.3).draw(size * WIDTH, simulation(seed)).reshape(size, WIDTH)
    labels = (np.arange(size) % 3 == 0).astype(np.int64)
    drawn[:, 0] += 0.5 * labels
    return grid_rows(drawn, labels, classes=2)


def parts(rows: Rows, count: int) -> list[Rows]:
    return [
        Rows(values=rows.values[m::count], labels=rows.labels[m::count], classes=rows.classes)
        for m in range(count)
    ]


def protocol(parties: int, colluders: int) -> Discriminant:
    return Discriminant.for_budget(
        encoding=VectorEncoding(width=WIDTH, classes=2),
        epsilon=2.0,
        delta=1e-3,
        circle=Circle(parties=parties, colluders=colluders),
        histogram=False,
    )


def runs(rows: Rows, plan: Discriminant, count: int) -> tuple[NDArray[np.float64], ...]:
    names = [f"party {n}" for n in range(plan.circle.parties)]
    tables = parts(rows, plan.circle.parties)
    found = [run_pooled(plan, tables, names, simulation(seed)) for seed in range(count)]
    sums = np.array([outcome.moments.sums for outcome in found])
    scatters = np.array([outcome.moments.scatter for outcome in found])
    counts = np.array([outcome.moments.counts for outcome in found])
    return sums, scatters, counts


@pytest.fixture(scope="module")
def rows() -> Rows:
    return people(600)


def test_ten_parties_who_trust_each_other_are_one_table_in_distribution(rows: Rows) -> None:
    one, ten = runs(rows, protocol(1, 0), 120), runs(rows, protocol(10, 0), 120)
    for alone, together in zip(one, ten, strict=True):
        flat, others = alone.reshape(120, -1), together.reshape(120, -1)
        worst = min(ks_2samp(a, b).pvalue for a, b in zip(flat.T, others.T, strict=True))
        assert worst > LEVEL


@pytest.mark.parametrize(
    ("parties", "colluders", "factor"), [(10, 0, 1.0), (10, 9, 10.0), (4, 2, 2.0)]
)
def test_the_noise_is_that_of_one_table_times_the_parties_over_the_holders(
    rows: Rows, parties: int, colluders: int, factor: float
) -> None:
    repeated = 60
    one, plan = protocol(1, 0), protocol(parties, colluders)
    sums, scatters, _ = runs(rows, plan, repeated)
    square = np.square((sums - np.array([_exact_sums(rows)])) / (one.noise.sums / GRID)).sum()
    freedom = sums.size
    low, high = (factor * chi2.ppf(q, freedom) for q in (LEVEL, 1 - LEVEL))
    assert low < square < high
    apart = (scatters - rows.unit.T @ rows.unit) / (one.noise.scatter / GRID**2)
    above = np.array([each[np.triu_indices(WIDTH, 1)] for each in apart])
    middle = np.array([np.diag(each) for each in apart])
    for numbers, share in ((above, 0.5), (middle, 1.0)):
        low, high = (share * factor * chi2.ppf(q, numbers.size) for q in (LEVEL, 1 - LEVEL))
        assert low < np.square(numbers).sum() < high


def _exact_sums(rows: Rows) -> NDArray[np.float64]:
    return np.array([rows.unit[rows.labels == one].sum(axis=0) for one in range(2)])


def test_the_scatter_within_classes_is_right_on_average(rows: Rows) -> None:
    exact = ClassMoments(
        counts=np.bincount(rows.labels).astype(np.float64),
        sums=_exact_sums(rows),
        scatter=rows.unit.T @ rows.unit,
    ).within
    # Noise on sums is wide here, so that the part it adds to the scatter shows.
    noise = MomentNoise(sums=15 * GRID, scatter=GRID**2, counts=GRID // 16)
    drawn = [
        read_moments(tell_moments(rows, noise, simulation(seed)), 2, WIDTH, noise)
        for seed in range(400)
    ]
    found = np.array([each.within for each in drawn])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - exact) < 5 * error).all()
    bias = np.mean([(each.sum_noise**2 / each.counts).sum() for each in drawn])
    # Left in, it would show in the numbers beside the one along which the classes differ.
    assert bias > 10 * error[1, 1]
