"""Two attributes that act together are found beyond noise, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm.learning import fit_additive, fit_interactions
from supm.learning.interactions import _BY_CHANCE, _contrasts, _examine, _from_margins, _tables

MakePeople = Callable[..., Any]


def _acting_together(strength: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return three attributes of two classes, of which the first and the last act together."""
    first, _, last = np.indices((2, 2, 2)) * 2.0 - 1.0
    lean = strength * first * last
    return np.stack((1.0 - lean, 1.0 + lean), axis=-1) / 16.0


def _adding_up() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return two correlated attributes whose odds multiply: nothing acts together."""
    signs = np.indices((2, 3)) * np.array([2.0, 1.0]).reshape(2, 1, 1) - 1.0
    shares = np.exp(0.9 * signs[0] * signs[1])
    odds = np.exp(1.2 * signs[0] + 0.8 * signs[1])
    table = np.stack((shares, shares * odds), axis=-1)
    people: np.ndarray[Any, np.dtype[np.float64]] = table / table.sum()
    return people


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 12.0])
def test_a_pair_that_acts_together_is_found_with_its_log_odds(
    people_of: MakePeople, epsilon: float
) -> None:
    people = people_of(_acting_together(0.6), sampled=2, epsilon=epsilon)
    (pair,) = fit_interactions(people.expected(10**10))
    assert (pair.first, pair.second) == (0, 2)
    lean = np.log(1.6) / 2 - np.log(0.4) / 2
    margin = pair.points[:, :, 1] - pair.points[:, :, 0]
    assert margin == pytest.approx(2 * lean * np.array([[1, -1], [-1, 1]]), abs=0.01)


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 12.0])
def test_odds_that_multiply_are_no_pair_however_many_people_tell(
    people_of: MakePeople, epsilon: float
) -> None:
    people = people_of(_adding_up(), sampled=2, epsilon=epsilon)
    moments = people.expected(10**6)
    assert fit_interactions(moments) == ()


def test_noise_is_hardly_ever_taken_for_a_pair(people_of: MakePeople) -> None:
    people = people_of(_adding_up(), sampled=2, epsilon=2.0)
    found = [len(fit_interactions(people.drawn(2_000, seed))) for seed in range(300)]
    # One in a hundred is meant; seven of 300 would come once in thirty times then.
    assert sum(found) <= 9


def test_few_reports_show_no_pair(people_of: MakePeople) -> None:
    people = people_of(_acting_together(1.0), sampled=2, epsilon=12.0)
    assert fit_interactions(people.expected(60)) == ()


def test_labels_that_are_not_counted_apart_show_no_pair(people_of: MakePeople) -> None:
    moments = people_of(_acting_together(0.6), sampled=2, epsilon=4.0).expected(10**6)
    assert fit_interactions(replace(moments, by_label=None)) == ()


def test_an_attribute_is_in_one_pair_at_most(people_of: MakePeople) -> None:
    first, second, last = np.indices((2, 2, 2)) * 2.0 - 1.0
    lean = 0.5 * first * last + 0.4 * second * last
    table = np.stack((1.0 - lean, 1.0 + lean), axis=-1) / 16.0
    (pair,) = fit_interactions(people_of(table, sampled=2, epsilon=8.0).expected(10**6))
    assert (pair.first, pair.second) == (0, 2)


def test_expected_answers_know_the_pairs(people_of: MakePeople) -> None:
    moments = people_of(_acting_together(0.8), sampled=2, epsilon=8.0).expected(10**8)
    alike = np.ones(2)
    without = fit_additive(moments).answers(alike)
    known = fit_additive(moments).answers(alike, fit_interactions(moments))
    # Nine in ten are told apart; half of the doubt that is possible is kept.
    assert np.trace(without) == pytest.approx(0.5, abs=0.05)
    assert 0.65 < np.trace(known) < 0.9


def test_contrasts_see_nothing_that_two_of_three_explain() -> None:
    rows = _contrasts(3, 2, 4)
    assert np.linalg.matrix_rank(rows) == len(rows) == 2 * 1 * 3
    two = [np.arange(6.0).reshape(3, 2, 1), np.arange(12.0).reshape(3, 1, 4) ** 2]
    for each in two:
        seen = rows @ np.broadcast_to(each, (3, 2, 4)).ravel()
        assert seen == pytest.approx(0.0, abs=1e-9)


def test_margins_are_kept() -> None:
    table = np.arange(1.0, 25.0).reshape(2, 3, 4)
    table /= table.sum()
    fitted = _from_margins(table)
    for axis in range(3):
        assert fitted.sum(axis=axis) == pytest.approx(table.sum(axis=axis), rel=1e-3)


def test_a_surprise_counts_less_where_there_are_more_pairs_to_be_surprised_by(
    people_of: MakePeople,
) -> None:
    first, second, *_ = np.indices((2, 2, 2, 2)) * 2.0 - 1.0
    lean = 0.42 * first * second
    people = people_of(np.stack((1.0 - lean, 1.0 + lean), axis=-1), sampled=2, epsilon=8.0)
    few, more = people.expected(300), people.expected(600)
    surprises = [_examine(few, *each).surprise for each in _tables(few)]
    assert len(surprises) == 6
    assert _BY_CHANCE / 6 < min(surprises) < _BY_CHANCE
    assert fit_interactions(few) == ()
    assert [(each.first, each.second) for each in fit_interactions(more)] == [(0, 1)]
