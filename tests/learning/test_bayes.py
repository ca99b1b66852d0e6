"""What each class says by itself: the logarithms of a naive Bayes classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supm.learning import conditional, single_opinions


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
