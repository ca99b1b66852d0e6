"""Cells, thresholds, densities and made-up pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chisquare, kstest

from supm import simulation
from supm.federation.discriminant_sums import ScoreCells, ScoreHistogram, _simplex
from supm.federation.rows import GRID
from supm.learning.directions import GaussianRule
from supm.mechanisms.noise import GaussianNoise

Floats = NDArray[np.float64]
LINE = ScoreCells(low=np.array([-0.5]), high=np.array([0.5]), bins=4)
PLANE = ScoreCells(low=np.array([-1.0, 0.0]), high=np.array([1.0, 2.0]), bins=3)


def histogram(counts: list[list[float]], noise: float = 0.0, total: int = 100) -> ScoreHistogram:
    return ScoreHistogram(cells=LINE, counts=np.array(counts), noise=noise, total=total)


@given(
    low=st.floats(-2, 1.9),
    wide=st.floats(1e-6, 4),
    bins=st.integers(2, 50),
    scores=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20),
)
def test_every_score_is_in_one_cell(
    low: float, wide: float, bins: int, scores: list[float]
) -> None:
    cells = ScoreCells(low=np.array([low]), high=np.array([low + wide]), bins=bins)
    labels = np.arange(len(scores)) % 2
    tally = cells.tally(np.array(scores)[:, np.newaxis], labels, 2)
    assert tally.sum() == len(scores) * GRID
    assert (tally % GRID == 0).all()
    assert tally[:bins].sum() == np.count_nonzero(labels == 0) * GRID


def test_a_replaced_record_moves_one_count() -> None:
    before = PLANE.tally(np.array([[-0.9, 0.1], [0.5, 0.5]]), np.array([0, 1]), 2)
    after = PLANE.tally(np.array([[0.9, 1.9], [0.5, 0.5]]), np.array([1, 1]), 2)
    assert np.square((after - before) / GRID).sum() == 2


def test_cells_of_two_scores_are_numbered_by_rows() -> None:
    scores = np.array([[-0.9, 0.1], [-0.9, 1.9], [0.9, 0.1], [0.9, 1.9]])
    assert PLANE.places(scores).tolist() == [0, 2, 6, 8]


@pytest.mark.parametrize("cells", [LINE, PLANE])
def test_a_score_drawn_inside_a_cell_is_in_that_cell_and_uniform(cells: ScoreCells) -> None:
    places = np.repeat(np.arange(cells.count), 3000)
    drawn = cells.inside(places, simulation(3))
    np.testing.assert_array_equal(cells.places(drawn), places)
    widths = (cells.high - cells.low) / cells.bins
    parts = (drawn - cells.low) / widths % 1
    for column in parts.T:
        assert kstest(column, "uniform").pvalue > 1e-6


def test_the_threshold_answers_the_fewest_wrongly() -> None:
    found = histogram([[50, 30, 5, 5], [1, 10, 20, 30]])
    assert found.threshold(0.4) == 0.0
    assert histogram([[5, 5, 5, 5], [1, 1, 1, 1]]).threshold(0.0) == math.inf
    assert histogram([[1, 1, 1, 1], [5, 5, 5, 5]]).threshold(0.0) == -math.inf


def test_noise_moves_the_threshold_only_if_it_has_to() -> None:
    slightly = histogram([[50, 10, 9, 10], [1, 9, 10, 30]], noise=5.0)
    assert slightly.threshold(-0.25) == -0.25
    assert slightly.threshold(0.25) == 0.25
    clearly = histogram([[500, 300, 0, 0], [0, 0, 200, 300]], noise=5.0)
    assert clearly.threshold(-0.25) == clearly.threshold(0.25) == 0.0


def test_cells_that_noise_decides_are_left_to_the_rule() -> None:
    rule = GaussianRule(
        centres=np.array([[-1.0], [0.0], [1.0]]), spread=np.eye(1), shares=np.ones(3) / 3
    )
    counts = [[90.0, 10.0, 10.0, 10.0], [10.0, 11.0, 10.0, 10.0], [10.0, 10.0, 10.0, 12.0]]
    found = histogram(counts, noise=5.0)
    scores = np.array([[-0.45], [-0.2], [0.2], [0.45]])
    assert found.predict(scores, rule)[0] == 0
    assert found.predict(scores, rule)[1:].tolist() == rule.predict(scores)[1:].tolist()
    certain = histogram(counts, noise=0.1)
    assert certain.predict(scores, rule)[[0, 1, 3]].tolist() == [0, 1, 2]


@pytest.mark.parametrize("total", [0.0, 1.0, 50.0])
def test_densities_are_the_nearest_that_are_possible(total: float) -> None:
    counts = GaussianNoise(10.0).draw(12, simulation(2)) + 3
    found = _simplex(counts, total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total, abs=1e-9)
    nearest = minimize(
        lambda point: np.square(point - counts).sum(),
        np.full(12, total / 12),
        jac=lambda point: 2 * (point - counts),
        bounds=[(0, None)] * 12,
        constraints={"type": "eq", "fun": lambda point: point.sum() - total},
        method="SLSQP",
    )
    np.testing.assert_allclose(found, nearest.x, atol=1e-3)


def test_made_up_pairs_are_distributed_as_the_densities() -> None:
    found = histogram([[30, 20, 0, 0], [0, 10, 15, 25]])
    labels, scores = found.sample(20_000, simulation(5))
    place = labels * 4 + LINE.places(scores)
    seen = np.bincount(place, minlength=8)
    expected = found.densities.ravel()
    assert (seen[expected == 0] == 0).all()
    kept = expected > 0
    assert chisquare(seen[kept], 20_000 * expected[kept] / expected.sum()).pvalue > 1e-6


def test_pairs_from_a_histogram_of_nobody() -> None:
    nobody = histogram([[0, 0, 0, 0], [0, 0, 0, 0]], total=0)
    labels, scores = nobody.sample(8000, simulation(1))
    seen = np.bincount(labels * 4 + LINE.places(scores), minlength=8)
    assert chisquare(seen).pvalue > 1e-6
