"""Independent reports: the budget is split without excess, each attribute has its own noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from supm._errors import ParameterError, RecordError
from supm._random import secure, simulation
from supm._validation import EPSILON
from supm.mechanisms import GeneralizedRandomizedResponse, IndependentReports, Reports
from supm.mechanisms.randomizers.frequency import SIZE

ALARM = 1e-11
SECRET = 123457


def split(*sizes: int, epsilon: float = 2.0) -> IndependentReports:
    return IndependentReports.for_epsilon(sizes=sizes, epsilon=epsilon)


@given(st.lists(st.integers(2, 2**20), min_size=1, max_size=60), st.floats(1e-3, 1e4))
def test_the_parts_never_cost_more_than_the_whole(sizes: list[int], epsilon: float) -> None:
    mechanism = split(*sizes, epsilon=epsilon)
    # The exact ratio is the product; in floats the sum may be rounded either way.
    assert mechanism.epsilon <= epsilon
    total = math.fsum(response.epsilon for response in mechanism.responses)
    assert mechanism.epsilon == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("attributes", [1, 3, 7, 49, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_nearly_all_of_epsilon_is_used(attributes: int, epsilon: float) -> None:
    mechanism = split(*[4] * attributes, epsilon=epsilon)
    assert mechanism.epsilon <= epsilon
    assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-9)


def test_the_channel_is_the_product_of_the_attributes_channels() -> None:
    mechanism = split(2, 3, 2)
    parts = [response.exact_channel() for response in mechanism.responses]
    records = mechanism.inputs().tolist()
    expected = [
        [
            math.prod(
                (part[a][b] for part, a, b in zip(parts, held, told, strict=True)),
                start=Fraction(1),
            )
            for told in records
        ]
        for held in records
    ]
    assert mechanism.exact_channel() == expected


def test_reports_are_numbered_as_records_are() -> None:
    mechanism = split(2, 3, 2)
    records = mechanism.inputs()
    numbers = mechanism.outcome(Reports(symbols=records, simulation=True))
    np.testing.assert_array_equal(numbers, np.arange(12))


def test_attributes_have_noise_of_their_own() -> None:
    mechanism, owners = split(4, 4, epsilon=1.0), 40_000
    told = mechanism.randomize(np.zeros((owners, 2), dtype=np.int64), secure()).symbols
    table = np.zeros((4, 4))
    np.add.at(table, tuple(told.T), 1)
    assert stats.chi2_contingency(table).pvalue > ALARM
    assert not np.array_equal(told[:, 0], told[:, 1])


def test_the_shares_of_each_attribute_come_back() -> None:
    mechanism, owners = split(2, 3, epsilon=4.0), 30_000
    records = np.stack([np.arange(owners) % 5 // 4, np.arange(owners) % 3], axis=1)
    estimates = mechanism.estimate(mechanism.tally(mechanism.randomize(records, simulation(1))))
    for estimate, shares in zip(estimates, ([0.8, 0.2], [1 / 3] * 3), strict=True):
        assert np.abs((estimate.values - shares) / estimate.standard_error).max() < 5
        assert estimate.simulation


def test_each_attribute_keeps_the_order_of_its_owners() -> None:
    mechanism, owners = split(7, 9, epsilon=8.0), 70_000
    records = np.stack([np.arange(owners) % 7, np.arange(owners) % 9], axis=1)
    told = mechanism.randomize(records, secure()).symbols
    for column, response in enumerate(mechanism.responses):
        true = int(np.count_nonzero(told[:, column] == records[:, column]))
        assert stats.binomtest(true, owners, float(response.hit)).pvalue > ALARM


BAD_RECORDS: dict[str, Any] = {
    "a class beyond": [[0, SECRET]],
    "a negative class": [[-SECRET, 0]],
    "a negative class in the last column": np.array([[0, -1]], dtype=np.int8),
    "unsigned": np.array([[0, 2**64 - 1]], dtype=np.uint64),
    "floats": [[0.0, float(SECRET)]],
    "booleans": [[True, False]],
    "strings": [["0", str(SECRET)]],
    "objects": np.array([[0, SECRET]], dtype=object),
    "missing": [[0, None]],
    "one column": [[0], [1]],
    "three columns": [[0, 1, SECRET]],
    "flat": [0, SECRET],
    "ragged": [[0, SECRET], [1]],
    "no dimension": SECRET,
    "empty": np.empty((0, 2), dtype=np.int64),
    "masked": np.ma.masked_array([[0, 1]], mask=[[False, True]]),
}


@pytest.mark.parametrize("records", BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_a_bad_record_is_refused_unseen_and_before_any_draw(records: Any) -> None:
    source = simulation(9)
    with pytest.raises(RecordError) as caught:
        split(300, 300).randomize(records, source)
    assert str(SECRET) not in f"{caught.value!r}"
    assert caught.value.__context__ is None
    np.testing.assert_array_equal(source.words(8), simulation(9).words(8))


@pytest.mark.parametrize(
    "rows",
    [np.zeros(3, int), np.zeros((3, 1), int), np.zeros((3, 2, 1), int), np.zeros((0, 2), int)],
)
def test_reports_of_another_shape_are_refused(rows: Any) -> None:
    with pytest.raises(ParameterError, match="reports must be rows of"):
        split(2, 3).tally(Reports(symbols=rows, simulation=True))


@pytest.mark.parametrize("row", [[0, 3], [2, 0], [-1, 0]])
def test_a_reported_class_outside_is_refused(row: list[int]) -> None:
    with pytest.raises(ParameterError, match="reports must be symbols"):
        split(2, 3).tally(Reports(symbols=np.array([row]), simulation=True))


def test_one_tally_per_attribute_is_needed() -> None:
    mechanism = split(2, 3)
    tallies = mechanism.tally(mechanism.randomize([[0, 0]], simulation(1)))
    with pytest.raises(ParameterError, match="tallies must be 2"):
        mechanism.estimate(tallies[:1])


@pytest.mark.parametrize("bad", EPSILON.violations())
def test_an_impossible_epsilon_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number"):
        split(2, 3, epsilon=bad)


@pytest.mark.parametrize("bad", SIZE.violations())
def test_an_impossible_size_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="size must be a whole number"):
        split(2, bad)


def test_a_share_too_small_to_say_anything_is_refused_with_advice() -> None:
    with pytest.raises(ParameterError, match="raise epsilon or use fewer cells"):
        split(*[2**40] * 100, epsilon=1e-6)


def test_no_attribute_is_refused() -> None:
    with pytest.raises(ParameterError, match="responses must be at least one"):
        IndependentReports(())
    with pytest.raises(ParameterError, match="sizes must be at least one"):
        split()


def test_responses_given_as_a_list_are_kept_as_a_tuple() -> None:
    responses: Any = [GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)]
    assert IndependentReports(responses) == split(3, epsilon=1.0)
    assert hash(IndependentReports(responses)) == hash(split(3, epsilon=1.0))
