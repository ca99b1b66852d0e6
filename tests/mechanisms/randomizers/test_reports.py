"""Reports, tallies and estimates: additive, marked when simulated, and never of a strange shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from supm._errors import ParameterError
from supm._validation import Reals
from supm.mechanisms import Estimate, Reports, Tally


def tally(*counts: int, simulation: bool = False) -> Tally:
    return Tally(counts=np.array(counts), reports=sum(counts), simulation=simulation)


def test_reports_are_counted_by_row() -> None:
    assert len(Reports(symbols=np.zeros((5, 3), dtype=np.uint8), simulation=False)) == 5


@pytest.mark.parametrize("symbols", [[0, 1], np.array(1), None, "01", 3])
def test_reports_must_have_rows(symbols: Any) -> None:
    with pytest.raises(ParameterError, match="a plain array with one row per owner"):
        Reports(symbols=symbols, simulation=False)


def test_reports_can_be_kept_in_a_set_and_are_equal_to_themselves_only() -> None:
    one = Reports(symbols=np.array([0, 1]), simulation=False)
    other = Reports(symbols=np.array([0, 1]), simulation=False)
    assert len({one, other}) == 2


def test_tallies_add_up() -> None:
    total = tally(3, 1) + tally(0, 2)
    assert total.counts.tolist() == [3, 3]
    assert total.reports == 6


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_one_simulated_part_marks_the_whole(first: bool, second: bool) -> None:  # noqa: FBT001  cases
    total = tally(1, 1, simulation=first) + tally(1, 1, simulation=second)
    assert total.simulation == (first or second)


def test_tallies_of_different_alphabets_do_not_add_up() -> None:
    with pytest.raises(ParameterError, match="tally must be of shape"):
        tally(1, 1) + tally(1, 1, 1)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999999])
def test_an_interval_is_the_normal_one(confidence: float) -> None:
    estimate = Estimate(
        values=np.array([0.2, -1.0]), standard_error=np.array([0.1, 3.0]), simulation=False
    )
    low, high = estimate.interval(confidence)
    expected = stats.norm.interval(confidence, estimate.values, estimate.standard_error)
    np.testing.assert_allclose((low, high), expected, rtol=1e-9)


@pytest.mark.parametrize("confidence", [*Reals("confidence", 0.5, 1 - 1e-12).violations(), 1.0])
def test_an_impossible_confidence_is_refused(confidence: Any) -> None:
    estimate = Estimate(values=np.zeros(1), standard_error=np.ones(1), simulation=False)
    with pytest.raises(ParameterError, match="confidence must be a number"):
        estimate.interval(confidence)
