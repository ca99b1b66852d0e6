"""Scorecards and lines from counts: they find what is there, and little where nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm.learning import Additive, Line, conditional, fit_additive, fit_line, single_opinions
from supm.messages import Scorecard

Floats = NDArray[np.float64]
MakePeople = Callable[..., Any]


def _told_apart(sizes: tuple[int, ...], strength: tuple[float, ...], prior: list[float]) -> Floats:
    """Return shares of classes that lean to a label, each attribute by itself, and the prior's."""
    labels = len(prior)
    grid = np.indices((*sizes, labels)).astype(np.float64)
    table = np.array(prior) * np.ones((*sizes, labels))
    along = grid[-1] / (labels - 1) - 0.5
    for place, (size, strong) in enumerate(zip(sizes, strength, strict=True)):
        lean = np.exp(4.0 * strong * (grid[place] / (size - 1) - 0.5) * along)
        table *= lean / lean.sum(axis=place, keepdims=True)
    return table


def _card(fitted: Additive, sizes: tuple[int, ...], weights: Floats) -> Scorecard:
    points = tuple(np.split(fitted.points(), np.cumsum(sizes)[:-1]))
    return Scorecard(points=points, offsets=fitted.offsets(weights))


def _accuracy(people: Any, fitted: Additive) -> float:
    cells = people.table.reshape(-1, people.table.shape[-1])
    rows = people.rows[:: cells.shape[1], :-1]
    card = _card(fitted, people.sizes, np.ones(cells.shape[1]))
    return float(cells[np.arange(len(cells)), card.predict(rows, people.sizes)].sum())


def _best(people: Any) -> float:
    return float(people.table.max(axis=-1).sum())


EASY = [
    ((2, 3, 4), (1.0, 1.5, 0.0), [0.6, 0.4], 1, 1.0),
    ((2, 3, 4), (1.0, -1.5, 0.0), [0.6, 0.4], 2, 1.0),
    ((3, 4, 2, 2), (2.0, 2.0, 2.0, 0.0), [0.5, 0.3, 0.2], 2, 2.0),
]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(("sizes", "strength", "prior", "sampled", "epsilon"), EASY)
def test_the_labels_of_an_easy_population_are_told_apart(
    people_of: MakePeople,
    sizes: tuple[int, ...],
    strength: tuple[float, ...],
    prior: list[float],
    sampled: int,
    epsilon: float,
    *,
    ordered: bool,
) -> None:
    table = _told_apart(sizes, strength, prior)
    people = people_of(table, sampled=sampled, epsilon=epsilon, ordered=ordered)
    fitted = fit_additive(people.expected(10**6))
    assert _best(people) > max(prior) + 0.2, "there is something to find"
    assert _accuracy(people, fitted) > _best(people) - 0.03
    np.testing.assert_allclose(fitted.shares, prior, atol=0.02)
    tables = np.split(fitted.points(), np.cumsum(sizes)[:-1])
    for points, strong in zip(tables, strength, strict=True):
        # What speaks for the last label against the first grows with the class, or falls.
        lean = np.diff(points[:, -1] - points[:, 0])
        assert (lean * np.sign(strong) > 0).all() if strong else np.abs(points).max() < 0.05


def test_the_labels_are_found_in_reports_that_were_drawn(people_of: MakePeople) -> None:
    table = _told_apart((3, 3, 2), (1.5, 1.5, 0.0), [0.5, 0.5])
    people = people_of(table, sampled=2, epsilon=2.0)
    found = [_accuracy(people, fit_additive(people.drawn(3000, seed))) for seed in range(10)]
    assert np.mean(found) > _best(people) - 0.03


def test_where_there_is_only_noise_the_commonest_label_is_the_answer(people_of: MakePeople) -> None:
    table = _told_apart((2,) * 8, (0.0,) * 8, [0.8, 0.2])
    people = people_of(table, sampled=2, epsilon=4.0)
    found = [_accuracy(people, fit_additive(people.drawn(600, seed))) for seed in range(10)]
    assert np.mean(found) > 0.79, "and 0.8 is all that there is to find"


def test_probabilities_are_those_of_labels(people_of: MakePeople) -> None:
    table = _told_apart((2, 3, 4), (0.5, 0.5, 0.5), [0.6, 0.3, 0.1])
    people = people_of(table, sampled=2, epsilon=2.0)
    card = _card(fit_additive(people.expected(10**6)), people.sizes, np.ones(3))
    found = card.probabilities(people.rows[::3, :-1])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # Over all people they are about the shares of the labels.
    mean = people.table.sum(axis=-1).ravel() @ found
    np.testing.assert_allclose(mean, [0.6, 0.3, 0.1], atol=0.06)


def _skewed(table: Floats) -> Floats:
    """Return shares of which the first classes have the most, whatever the label."""
    skewed = table * np.exp(-0.8 * np.indices(table.shape)[:-1].sum(axis=0))
    shares: Floats = skewed / skewed.sum()
    return shares


def test_means_are_those_of_the_people_of_each_label(people_of: MakePeople) -> None:
    table = _skewed(_told_apart((2, 3, 4), (0.5, 0.5, 0.5), [0.6, 0.3, 0.1]))
    people = people_of(table, sampled=2, epsilon=2.0)
    fitted = fit_additive(people.expected(10**9))
    scores = people.indicators(3)[:, :-3] @ fitted.directions
    shares = people.table.ravel()
    labels = people.indicators(3)[:, -3:] * shares[:, np.newaxis]
    means = scores.T @ labels / labels.sum(axis=0) - (shares @ scores)[:, np.newaxis]
    np.testing.assert_allclose(fitted.means, means, atol=0.01 * np.abs(means).max())
    np.testing.assert_allclose(fitted.shares, labels.sum(axis=0), atol=1e-4)


def test_scores_are_measured_from_the_mean_of_the_people(people_of: MakePeople) -> None:
    table = _skewed(_told_apart((4, 4, 4), (0.6, 0.6, 0.6), [0.5, 0.5]))
    people = people_of(table, sampled=2, epsilon=2.0)
    fitted = fit_additive(people.expected(10**6))
    rows, shares = people.rows[::2, :-1], people.table.sum(axis=-1).ravel()
    found = shares @ _card(fitted, people.sizes, np.ones(2)).probabilities(rows)
    np.testing.assert_allclose(found, people.table.sum(axis=(0, 1, 2)), atol=0.04)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.9, 0.1], [0.5, 0.3, 0.2]])
@pytest.mark.parametrize("reports", [200, 10**6])
def test_expected_answers_are_shares_of_all_people(
    people_of: MakePeople, prior: list[float], reports: int
) -> None:
    people = people_of(_told_apart((2, 3), (1.0, 1.0), prior), sampled=2, epsilon=1.0)
    fitted = fit_additive(people.expected(reports))
    labels = len(prior)
    for weights in (np.ones(labels), 1.0 / np.array(prior)):
        answers = fitted.answers(weights)
        assert answers.shape == (labels, labels)
        assert answers.sum() == pytest.approx(1.0)
        assert answers.min() >= 0
        # Among those who get an answer it is the likeliest label, but for the coarse points.
        right = answers * weights / (answers * weights).sum()
        assert (np.diag(right) >= right.max(axis=1) - 0.01).all()


def test_a_label_that_counts_more_is_answered_more_often(people_of: MakePeople) -> None:
    people = people_of(_told_apart((3, 4), (0.7, 0.7), [0.85, 0.15]), sampled=2, epsilon=2.0)
    fitted = fit_additive(people.expected(10**6))
    rows, shares = people.rows[::2, :-1], people.table.sum(axis=-1).ravel()
    plain, heavy = np.ones(2), np.array([1.0, 8.0])
    often = [
        float(shares @ _card(fitted, people.sizes, weights).predict(rows, people.sizes))
        for weights in (plain, heavy)
    ]
    assert often[0] < often[1]
    assert fitted.answers(plain)[1].sum() < fitted.answers(heavy)[1].sum()
    np.testing.assert_allclose(fitted.offsets(heavy) - fitted.offsets(plain), [0.0, np.log(8.0)])


@pytest.mark.parametrize("sampled", [1, 2])
def test_the_order_of_attributes_and_of_labels_does_not_matter(
    people_of: MakePeople, sampled: int
) -> None:
    table = _told_apart((2, 3, 4), (0.4, -0.8, 0.3), [0.6, 0.25, 0.15])
    table *= 1.0 + 0.3 * np.cos(np.indices(table.shape).sum(axis=0))
    plain = fit_additive(people_of(table, sampled=sampled, epsilon=1.0).expected(10**5))
    turned = np.flip(np.transpose(table, (2, 0, 1, 3)), axis=-1)
    other = fit_additive(people_of(turned, sampled=sampled, epsilon=1.0).expected(10**5))
    expected = np.concatenate([plain.points()[5:], plain.points()[:5]])[:, ::-1]
    np.testing.assert_allclose(other.points(), expected, atol=2e-3)
    weights = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(
        other.offsets(weights[::-1]), plain.offsets(weights)[::-1], atol=2e-3
    )


def _leaning(sizes: tuple[int, ...], slopes: tuple[float, ...], levels: int) -> tuple[Any, Floats]:
    """Return shares of people at the ends of the scale, and the mean target of each cell."""
    grid = np.indices(sizes).astype(np.float64)
    parts = [
        slope * (2.0 * axis / (size - 1) - 1.0)
        for axis, size, slope in zip(grid, sizes, slopes, strict=True)
    ]
    mean: Floats = 0.2 + np.sum(parts, axis=0)
    table = np.zeros((*sizes, levels))
    table[..., 0], table[..., -1] = (1.0 - mean) / 2.0, (1.0 + mean) / 2.0
    return table / table.sum(), mean


def _predicted(line: Line, sizes: tuple[int, ...]) -> Floats:
    starts = np.cumsum((0, *sizes[:-1]))
    rows = np.array(list(np.ndindex(*sizes))) + starts
    sums: Floats = line.offset + line.points[rows].sum(axis=1)
    return sums.reshape(sizes)


@pytest.mark.parametrize("sampled", [1, 2])
def test_a_line_recovers_a_linear_target(people_of: MakePeople, sampled: int) -> None:
    sizes, slopes = (3, 4, 2), (0.3, -0.25, 0.0)
    table, mean = _leaning(sizes, slopes, 5)
    line = fit_line(
        people_of(table, sampled=sampled, epsilon=2.0).expected(10**7), np.linspace(-1, 1, 5)
    )
    assert line.mean == pytest.approx(0.2, abs=0.01)
    assert np.corrcoef(_predicted(line, sizes).ravel(), mean.ravel())[0, 1] > 0.99
    slope = np.polyfit(mean.ravel(), _predicted(line, sizes).ravel(), 1)[0]
    assert 0.85 < slope < 1.1
    assert line.variance == pytest.approx(float(_predicted(line, sizes).var()), rel=0.1)
    assert _predicted(line, sizes).mean() == pytest.approx(line.mean, abs=0.01)


def test_a_line_is_right_on_average_where_classes_are_uneven(people_of: MakePeople) -> None:
    table, mean = _leaning((3, 4, 2), (0.3, -0.25, 0.1), 5)
    people = people_of(_skewed(table), sampled=2, epsilon=2.0)
    line = fit_line(people.expected(10**7), np.linspace(-1, 1, 5))
    shares = people.table.sum(axis=-1)
    true = float((shares * mean).sum())
    assert abs(true - 0.2) > 0.02, "the mean of the cells is another"
    assert line.mean == pytest.approx(true, abs=0.005)
    assert float((shares * _predicted(line, people.sizes)).sum()) == pytest.approx(true, abs=0.005)


def test_a_line_shrinks_to_the_mean_where_there_is_only_noise(people_of: MakePeople) -> None:
    table, _ = _leaning((3, 4, 2), (0.0, 0.0, 0.0), 5)
    people = people_of(table, sampled=1, epsilon=1.0)
    lines = [fit_line(people.drawn(4000, seed), np.linspace(-1, 1, 5)) for seed in range(20)]
    assert sum(line.variance == 0 for line in lines) >= 8, "about half the time nothing is left"
    assert np.mean([line.variance for line in lines]) < 0.05, (
        "of a target whose variance is nearly 1"
    )
    assert np.mean([line.mean for line in lines]) == pytest.approx(0.2, abs=0.1)


def test_the_mean_of_a_target_shrinks_to_the_middle_by_its_noise(people_of: MakePeople) -> None:
    table, _ = _leaning((3, 4, 2), (0.0, 0.0, 0.0), 5)
    people = people_of(table, sampled=1, epsilon=0.1)
    moments = people.expected(200)
    assert abs(fit_line(moments, np.linspace(-1, 1, 5)).mean) < 0.01
    assert float(moments.label_shares @ np.linspace(-1, 1, 5)) / moments.gaps.overall > 0.1


def _people(people_of: Callable[..., Any], *, sampled: int, epsilon: float = 1.0) -> Any:
    grid = np.indices((2, 3, 3)).astype(np.float64)
    table = np.exp(-0.6 * grid[2] + 0.5 * grid[2] * (grid[0] - 0.4 * grid[1]))
    return people_of(table, sampled=sampled, epsilon=epsilon)


def test_probabilities_of_classes_given_the_label_are_those_of_the_people(
    people_of: Callable[..., Any],
) -> None:
    for sampled in (1, 2):
        people = _people(people_of, sampled=sampled)
        shares, covariances = people.truth()
        joint = covariances[:5, 5:] + np.outer(shares[:5], shares[5:])
        moments = people.expected(10**12)
        np.testing.assert_allclose(conditional(moments), joint / shares[5:], atol=1e-4)
        expected = np.log(joint / shares[5:] / shares[:5, np.newaxis])
        np.testing.assert_allclose(single_opinions(moments), expected, atol=1e-3)


def test_probabilities_are_smoothed_by_the_noise_of_their_estimates(
    people_of: Callable[..., Any],
) -> None:
    epsilon, reports = 0.1, 10**6
    people = _people(people_of, sampled=1, epsilon=epsilon)
    shares, covariances = people.truth()
    given = covariances[:5, 5:] / shares[5:] + shares[:5, np.newaxis]
    found = conditional(people.expected(reports))
    for rows in (slice(0, 2), slice(2, 5)):
        size = rows.stop - rows.start
        gap = np.expm1(epsilon) / (np.expm1(epsilon) + size * 3)
        # Half of the reports tell this attribute; a cell of noise has one part in so many.
        noise = np.sqrt(1 / (size * 3) / (reports / 2)) / gap
        assert noise > 0.01
        expected = (given[rows] + noise) / (1 + size * noise)
        np.testing.assert_allclose(found[rows], expected, atol=0.1 * noise)


def test_those_of_one_attribute_add_up_to_one_however_few_reports_there_are(
    people_of: Callable[..., Any],
) -> None:
    for seed in range(20):
        moments = _people(people_of, sampled=1).drawn(30, seed)
        chances = conditional(moments)
        assert chances.min() > 0
        for rows in (chances[:2], chances[2:]):
            np.testing.assert_allclose(rows.sum(axis=0), 1.0)
        assert np.isfinite(single_opinions(moments)).all()
