"""Directions from moments: right without noise, defined and unharmed with it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from supm import ParameterError, simulation
from supm.learning.directions import (
    ClassMoments,
    GaussianRule,
    average_subspace,
    principal_components,
)
from supm.mechanisms.noise import GaussianNoise, symmetric_gaussian

Floats = NDArray[np.float64]


def people(classes: int, width: int, size: int = 3000, seed: int = 1) -> tuple[Floats, Floats]:
    """Return records of norm at most one whose classes differ along a few lines."""
    drawn = GaussianNoise(1.0).draw(size * width, simulation(seed)).reshape(size, width)
    labels = np.arange(size) % classes
    centres = GaussianNoise(1.0).draw(classes * width, simulation(99)).reshape(classes, width)
    spread = 1.0 + np.arange(width) / width
    vectors = 0.5 * drawn * spread + centres[labels]
    return vectors / np.linalg.norm(vectors, axis=1).max(), labels.astype(np.float64)


def moments_of(vectors: Floats, labels: Floats, classes: int, **noise: float) -> ClassMoments:
    member = (labels == np.arange(classes)[:, np.newaxis]).astype(np.float64)
    return ClassMoments(
        counts=member.sum(axis=1), sums=member @ vectors, scatter=vectors.T @ vectors, **noise
    )


@pytest.mark.parametrize(("classes", "width"), [(2, 5), (3, 5), (5, 8)])
def test_without_noise_the_directions_are_those_of_the_textbook(classes: int, width: int) -> None:
    vectors, labels = people(classes, width)
    found = moments_of(vectors, labels, classes).directions(classes - 1)
    fitted = LinearDiscriminantAnalysis(solver="eigen").fit(vectors, labels)
    wanted = fitted.scalings_[:, : classes - 1].T
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    agreement = np.abs(np.sum(found * wanted, axis=1))
    np.testing.assert_allclose(agreement, 1.0, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)


@pytest.mark.parametrize(("classes", "width"), [(2, 5), (4, 6)])
def test_without_noise_the_rule_answers_as_the_textbook(classes: int, width: int) -> None:
    vectors, labels = people(classes, width)
    moments = moments_of(vectors, labels, classes)
    directions = moments.directions(classes - 1)
    answers = moments.rule(directions).predict(vectors @ directions.T)
    fitted = LinearDiscriminantAnalysis().fit(vectors, labels)
    assert np.mean(answers == fitted.predict(vectors)) > 0.995


def test_the_second_of_two_classes_has_the_larger_score() -> None:
    vectors, labels = people(2, 4)
    for flipped in (labels, 1 - labels):
        moments = moments_of(vectors, flipped, 2)
        first, second = moments.means @ moments.directions(1)[0]
        assert second > first


def test_the_threshold_is_where_the_answer_changes() -> None:
    rule = GaussianRule(
        centres=np.array([[-0.5], [0.3]]), spread=np.eye(1) * 0.2, shares=np.array([0.8, 0.2])
    )
    scores = np.linspace(-1, 1, 2001)[:, np.newaxis]
    assert np.array_equal(rule.predict(scores) == 1, scores[:, 0] > rule.threshold)


def test_a_class_without_share_is_never_answered() -> None:
    rule = GaussianRule(
        centres=np.array([[-0.5], [0.3]]), spread=np.eye(1), shares=np.array([0.0, 1.0])
    )
    assert rule.predict(np.array([[-9.0], [9.0]])).tolist() == [1, 1]
    assert rule.threshold == -math.inf


@pytest.mark.parametrize("scatter_noise", [0.0, 1.0, 50.0, 1e6])
def test_the_lifted_scatter_is_positive_whatever_the_noise(scatter_noise: float) -> None:
    vectors, labels = people(2, 6, size=200)
    noise = symmetric_gaussian(6, max(scatter_noise, 1e-9), simulation(2))
    exact = moments_of(vectors, labels, 2, scatter_noise=scatter_noise)
    moments = ClassMoments(
        counts=exact.counts,
        sums=exact.sums,
        scatter=exact.scatter + noise,
        scatter_noise=scatter_noise,
    )
    values = np.linalg.eigvalsh(moments.lifted)
    assert values.min() > 0
    assert np.isfinite(moments.directions(1)).all()


def test_what_is_far_above_the_noise_is_hardly_lifted_and_zero_becomes_the_lift() -> None:
    scatter = np.diag([100.0, 0.0])
    moments = ClassMoments(
        counts=np.array([1e9, 1e9]), sums=np.zeros((2, 2)), scatter=scatter, scatter_noise=1.0
    )
    low, high = np.linalg.eigvalsh(moments.lifted)
    assert moments.lift == moments.edge == pytest.approx(2.0)
    assert low == pytest.approx(moments.lift)
    assert 100.0 < high < 100.1


def test_long_rows_are_lifted_by_less_than_the_edge() -> None:
    moments = ClassMoments(
        counts=np.array([1e3]), sums=np.zeros((1, 81)), scatter=np.eye(81), scatter_noise=2.0
    )
    assert moments.lift == pytest.approx(2.5 * 2.0 * 3.0)
    assert moments.lift < moments.edge


def test_noise_alone_stays_below_the_edge() -> None:
    width = 60
    moments = ClassMoments(
        counts=np.array([10.0]), sums=np.zeros((1, width)), scatter=np.eye(width), scatter_noise=1.0
    )
    largest = np.linalg.eigvalsh(symmetric_gaussian(width, 1.0, simulation(5)))[-1]
    assert 0.85 * moments.edge < largest < 1.1 * moments.edge


def test_constant_columns_are_no_difficulty() -> None:
    vectors, labels = people(2, 3)
    wider = np.column_stack([vectors, np.zeros(len(vectors)), np.full(len(vectors), 0.1)])
    wider /= np.linalg.norm(wider, axis=1).max()
    moments = moments_of(wider, labels, 2)
    scores = wider @ moments.directions(1).T
    assert np.mean(moments.rule(moments.directions(1)).predict(scores) == labels) > 0.9


@pytest.mark.parametrize("counts", [[100.0, 0.0], [100.0, -3.0], [100.0, 30.0], [1.0, 1.0]])
def test_a_class_that_noise_hides_is_not_told_apart(counts: list[float]) -> None:
    moments = ClassMoments(
        counts=np.array(counts), sums=np.ones((2, 3)), scatter=np.eye(3), count_noise=10.0
    )
    assert not moments.decides
    directions = moments.directions(1)
    assert directions.tolist() == [[1.0, 0.0, 0.0]]
    answers = moments.rule(directions).predict(np.array([[-1.0], [1.0]]))
    assert answers.tolist() == [0, 0]


def test_three_classes_of_which_one_is_empty() -> None:
    vectors, labels = people(2, 4)
    moments = moments_of(vectors, labels * 2, 3)
    assert moments.present.tolist() == [0, 2]
    directions = moments.directions(2)
    assert np.linalg.matrix_rank(directions) == 2
    answers = moments.rule(directions).predict(vectors @ directions.T)
    assert set(answers.tolist()) == {0, 2}


def test_a_mean_is_never_longer_than_a_record() -> None:
    moments = ClassMoments(counts=np.array([2.0]), sums=np.array([[30.0, 40.0]]), scatter=np.eye(2))
    np.testing.assert_allclose(moments.means, [[0.6, 0.8]])


def test_more_directions_than_there_can_be_are_refused() -> None:
    vectors, labels = people(3, 4)
    moments = moments_of(vectors, labels, 3)
    with pytest.raises(ParameterError, match="directions"):
        moments.directions(3)
    with pytest.raises(ParameterError, match="sums"):
        ClassMoments(counts=np.ones(2), sums=np.ones((3, 2)), scatter=np.eye(2))
    with pytest.raises(ParameterError, match="noise"):
        ClassMoments(counts=np.ones(2), sums=np.ones((2, 2)), scatter=np.eye(2), sum_noise=-1.0)


def test_one_class_and_one_number() -> None:
    moments = ClassMoments(counts=np.array([5.0]), sums=np.ones((1, 1)), scatter=np.eye(1))
    assert moments.directions(1).tolist() == [[1.0]]
    assert moments.rule(np.eye(1)).predict(np.zeros((2, 1))).tolist() == [0, 0]


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


def basis(seed: int, count: int, width: int) -> Floats:
    return np.linalg.qr(normals(seed, width, count))[0].T


def test_components_are_those_of_the_largest_eigenvalues_not_of_the_largest_sizes() -> None:
    axes = basis(1, 6, 6)
    matrix = axes.T @ np.diag([5.0, 3.0, 1.0, -2.0, -4.0, -9.0]) @ axes
    components, eigenvalues = principal_components(matrix, 2)
    np.testing.assert_allclose(eigenvalues, [5.0, 3.0])
    np.testing.assert_allclose(np.abs(components @ axes[:2].T), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(components @ components.T, np.eye(2), atol=1e-12)
    largest = components[np.arange(2), np.abs(components).argmax(axis=1)]
    assert (largest > 0).all()


def test_more_components_than_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most the width of the rows, 3"):
        principal_components(np.eye(3), 4)


def test_the_average_of_subspaces_does_not_depend_on_their_bases() -> None:
    parts = [basis(seed, 3, 8) for seed in (1, 2, 3)]
    weights = [1.0, 2.0, 5.0]
    plain = average_subspace(parts, weights)
    turned = [-parts[0], parts[1][[2, 0, 1]], basis(9, 3, 3) @ parts[2]]
    again = average_subspace(turned, weights)
    np.testing.assert_allclose(plain.T @ plain, again.T @ again, atol=1e-10)
    # The naive average does depend on it.
    naive = sum(w * p for w, p in zip(weights, parts, strict=True))
    other = sum(w * p for w, p in zip(weights, turned, strict=True))
    assert np.abs(np.asarray(naive).T @ naive - np.asarray(other).T @ other).max() > 0.1


def test_equal_subspaces_are_their_own_average_and_weights_decide() -> None:
    one, other = basis(1, 2, 6), basis(2, 2, 6)
    same = average_subspace([one, one], [0.3, 0.7])
    np.testing.assert_allclose(same.T @ same, one.T @ one, atol=1e-12)
    heavy = average_subspace([one, other], [1e6, 1.0])
    np.testing.assert_allclose(heavy.T @ heavy, one.T @ one, atol=1e-5)


@pytest.mark.parametrize("weights", [[], [1.0], [1.0, 0.0]])
def test_weights_that_fit_no_parts_are_refused(weights: list[float]) -> None:
    with pytest.raises(ParameterError, match="one positive number for each"):
        average_subspace([np.eye(2)] * 2, weights)
