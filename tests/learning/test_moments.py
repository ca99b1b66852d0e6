"""What is learned from noisy counts is, on average, exactly what is true of the people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm.learning import Gaps, Moments

Floats = NDArray[np.float64]
MANY = 10**12


def _related(sizes: tuple[int, ...], labels: int) -> Floats:
    """Return skewed shares in which every two attributes and the label have to do with another."""
    grid = np.indices((*sizes, labels)).astype(np.float64)
    skewed = np.exp(-0.7 * grid).prod(axis=0)
    bent = np.prod([np.cos(0.4 * axis + place) + 1.6 for place, axis in enumerate(grid)], axis=0)
    met = 1.0 + 0.3 * np.cos(grid[0] + 2.0 * grid[1] * grid[-1]) + 0.2 * np.sin(grid.sum(axis=0))
    met += 0.4 * np.cos(np.pi * (grid[0] - grid[1]))
    shares: Floats = skewed * bent * met / (skewed * bent * met).sum()
    return shares


CASES = [
    ((2, 3, 4), 2, 1, 0.5),
    ((2, 3, 4), 3, 1, 3.0),
    ((2, 3, 4), 3, 2, 0.5),
    ((2, 3, 4), 2, 2, 4.0),
    ((4, 2, 3, 2), 3, 2, 1.0),
    ((4, 2, 3, 2), 2, 3, 1.0),
    ((3, 3), 4, 2, 2.0),
]


@pytest.mark.parametrize(("sizes", "labels", "sampled", "epsilon"), CASES)
def test_the_noise_is_taken_off_exactly_on_average(
    people_of: Callable[..., Any], sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float
) -> None:
    people = people_of(_related(sizes, labels), sampled=sampled, epsilon=epsilon)
    found = people.expected(MANY)
    shares, covariances = people.truth()
    classes = sum(sizes)
    # The case is a hard one: shares are uneven, and what was told is far from what is true.
    assert shares[classes:].max() > 1.2 / labels
    assert found.gaps.overall < 0.95
    assert np.abs(found.frequencies - shares[:classes]).max() > 0.02
    np.testing.assert_allclose(found.centre, shares[:classes], atol=1e-6)
    np.testing.assert_allclose(found.shares, shares[classes:], atol=1e-6)
    inside = covariances[:classes, :classes]
    np.testing.assert_allclose(found.with_label, covariances[:classes, classes:], atol=1e-6)
    assert np.abs(covariances[:classes, classes:]).max() > 0.01
    np.testing.assert_allclose(found.spread, np.where(found.inside, inside, 0.0), atol=1e-6)
    if sampled > 1:
        np.testing.assert_allclose(found.across, np.where(found.inside, 0.0, inside), atol=1e-6)
        assert np.abs(found.across).max() > 0.01
    else:
        assert not found.across.any()


@pytest.mark.parametrize("sampled", [1, 2])
def test_a_number_that_was_rounded_at_random_is_right_on_average(
    people_of: Callable[..., Any], sampled: int
) -> None:
    levels, fine = 3, 2 * 64 + 1
    grid = np.indices((2, 3, fine)).astype(np.float64)
    table = np.exp(-((grid[2] / 64 - 0.3 - 0.5 * grid[0] - 0.2 * grid[1]) ** 2) - 0.4 * grid[1])
    people = people_of(table, sampled=sampled, epsilon=1.0, levels=levels)
    found = people.expected(MANY)
    _, covariances = people.truth()
    numbers = np.linspace(-1.0, 1.0, fine)
    mean = float(people.table.sum(axis=(0, 1)) @ numbers)
    assert found.shares @ np.linspace(-1.0, 1.0, levels) == pytest.approx(mean, abs=1e-6)
    np.testing.assert_allclose(
        found.with_label @ np.linspace(-1.0, 1.0, levels), covariances[:5, 5:] @ numbers, atol=1e-6
    )


def test_counts_are_those_that_were_told(people_of: Callable[..., Any]) -> None:
    people = people_of(_related((2, 3, 4), 3), sampled=2, epsilon=1.0)
    found = people.drawn(3000, seed=4)
    assert (found.classes, found.labels, found.reports) == (9, 3, 3000)
    assert found.of.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert found.tables.sum() == 2 * 3000
    assert found.told.tolist() == [found.tables[found.of == place].sum() for place in found.of]
    assert found.label_shares.sum() == pytest.approx(1.0)
    assert found.pairs == pytest.approx(1000.0)
    for shares in (found.frequencies, found.centre, found.even):
        np.testing.assert_allclose(np.bincount(found.of, weights=shares), 1.0)


def test_the_noise_of_few_reports_is_taken_off_without_a_bias(
    people_of: Callable[..., Any],
) -> None:
    people = people_of(_related((2, 3, 2), 2), sampled=2, epsilon=2.0)
    _, covariances = people.truth()
    drawn = [people.drawn(4000, seed) for seed in range(60)]
    for name, true in (
        ("with_label", covariances[:7, 7:]),
        ("across", np.where(drawn[0].inside, 0.0, covariances[:7, :7])),
    ):
        found = np.array([getattr(each, name) for each in drawn])
        deviation = found.std(axis=0) / np.sqrt(len(drawn))
        assert (np.abs(found.mean(axis=0) - true) < 5.0 * deviation + 1e-3).all()


def _moments(labels: list[int], classes: list[int], gap: float) -> Moments:
    """Return the moments of one attribute that has nothing to do with the label."""
    reports = sum(labels)
    tables = np.rint(np.outer(classes, labels) / reports).astype(np.int64)
    together = np.block([[np.diag(classes), tables], [tables.T, np.diag(labels)]])
    gaps = Gaps(overall=gap, single=np.array([gap]), pair=np.array([[gap]]))
    size = len(classes)
    return Moments(
        together=together, reports=reports, sizes=(size,), ordered=(size,), sampled=1, gaps=gaps
    )


def test_shares_of_labels_shrink_to_equal_ones_by_their_noise_and_keep_their_order() -> None:
    few = _moments([104, 96], [100, 100], 0.05)
    assert (few.label_shares[0] - 0.5) / 0.05 == pytest.approx(0.4), "what would be told otherwise"
    assert 0.5 < few.shares[0] < 0.51
    many = _moments([1_040_000, 960_000], [1_000_000, 1_000_000], 0.05)
    assert many.shares[0] == pytest.approx(0.9, abs=0.01)
    exact = _moments([100, 100], [100, 100], 0.05)
    assert exact.shares.tolist() == [0.5, 0.5]


def test_shares_of_labels_are_never_zero() -> None:
    moments = _moments([1_000_000, 0, 0], [500_000, 500_000], 0.9)
    assert moments.shares.min() > 0
    assert moments.shares.sum() == pytest.approx(1.0)
    assert moments.shares[0] > 0.999


def test_shares_of_classes_shrink_to_even_ones_by_their_noise() -> None:
    few = _moments([100, 100], [104, 96], 0.05)
    assert (few.frequencies[0] - 0.5) / 0.05 == pytest.approx(0.4), "what would be told otherwise"
    assert 0.5 < few.centre[0] < 0.6
    assert few.centre_left[0] < few.centre_noise[0]
    many = _moments([1_000_000, 1_000_000], [1_030_000, 970_000], 0.05)
    assert many.centre[0] == pytest.approx(0.8, abs=0.02)
    rare = _moments([1_000_000, 1_000_000], [1_900_000, 100_000], 0.5)
    assert 0 < rare.centre[1] <= 0.05 * 0.5, "a share below zero is held above it"


def test_where_nobody_reported_nothing_is_divided_by_zero() -> None:
    gaps = Gaps(overall=0.5, single=np.array([0.5, 0.4]), pair=np.full((2, 2), 0.3))
    together = np.zeros((7, 7), dtype=np.int64)
    nobody = Moments(
        together=together, reports=0, sizes=(2, 3), ordered=(2, 0), sampled=2, gaps=gaps
    )
    np.testing.assert_allclose(nobody.shares, 0.5)
    np.testing.assert_allclose(nobody.centre, nobody.even)
    assert not nobody.across.any()
    assert np.isfinite(nobody.with_label).all()
