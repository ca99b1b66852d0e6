"""Where noise has gone, the fit is plain least squares; where it rules, nothing breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from supm.learning import fit_additive, fit_line
from supm.learning.additive import _doubted, _solvable

MakePeople = Callable[..., Any]
LEVELS = np.array([-1.0, 1.0])


def _suppressed() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return people whose number rises with one attribute and falls with its near twin."""
    signs = np.indices((2, 2)) * 2.0 - 1.0
    mean = 0.5 * signs[0] - 0.3 * signs[1]
    shares = np.where(signs[0] == signs[1], 0.45, 0.05)
    return np.stack((shares * (1.0 - mean) / 2.0, shares * (1.0 + mean) / 2.0), axis=-1)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_with_ever_more_people_the_line_points_where_least_squares_does(
    people_of: MakePeople, epsilon: float
) -> None:
    people = people_of(_suppressed(), sampled=2, epsilon=epsilon)
    points = fit_line(people.expected(10**12), LEVELS).points
    first, second = points[1] - points[0], points[3] - points[2]
    assert first > 0
    # Alone, the second attribute rises with the number: a ridge that stays would say so.
    assert second / first == pytest.approx(-0.6, abs=0.01)


def test_with_ever_more_people_the_slope_is_that_of_least_squares_too(
    people_of: MakePeople,
) -> None:
    people = people_of(_suppressed(), sampled=2, epsilon=4.0)
    points = fit_line(people.expected(10**12), LEVELS).points
    # From one class to the other the number rises by 2 * 0.5 and falls by 2 * 0.3.
    assert points[1] - points[0] == pytest.approx(1.0, abs=0.02)
    assert points[3] - points[2] == pytest.approx(-0.6, abs=0.02)


def test_with_few_people_the_ridge_is_still_there(people_of: MakePeople) -> None:
    people = people_of(_suppressed(), sampled=2, epsilon=1.0)
    few, many = (fit_additive(people.expected(count)).directions for count in (10**3, 10**12))
    assert np.abs(few).max() < np.abs(many).max() / 2


def test_a_spread_that_noise_made_negative_is_left_out() -> None:
    turn = np.linalg.qr(np.array([[1.0, 2.0], [3.0, 4.0]]))[0]
    seen, ridge = (turn * [2.0, -5.0]) @ turn.T, 0.1 * np.eye(2)
    assert np.linalg.eigvalsh(_solvable(seen, ridge)) == pytest.approx([0.1, 2.1])
    good = (turn * [2.0, 0.5]) @ turn.T
    assert _solvable(good, ridge) == pytest.approx(good + ridge)


def test_answers_are_doubted_half_way_to_what_they_mean_at_least() -> None:
    shares, alike = np.array([0.7, 0.3]), np.ones(2)
    sure = np.array([[0.65, 0.05], [0.05, 0.25]])
    # The rarer label would still be the likelier one at 0.625 of the way to the shares; the
    # commoner one all the way.
    assert _doubted(sure, shares, alike) == pytest.approx(np.array([[0.57, 0.13], [0.1, 0.2]]))


def test_an_answer_that_is_never_given_means_the_shares() -> None:
    shares = np.array([0.7, 0.3])
    found = _doubted(np.array([[0.7, 0.3], [0.0, 0.0]]), shares, np.ones(2))
    assert found == pytest.approx(np.array([[0.7, 0.3], [0.0, 0.0]]))
