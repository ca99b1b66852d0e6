"""The joint report: exact numbering, the whole budget, alphabets to 2^40 without a table."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from supm._errors import ParameterError, RecordError
from supm._random import secure, simulation
from supm._validation import EPSILON
from supm.mechanisms import (
    FrequencyRandomizer,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    IndependentReports,
    JointReport,
    LocalHashing,
    Tally,
    choose,
)
from supm.mechanisms.randomizers.frequency import SIZE

ALARM = 1e-11
SECRET = 123457


def joint(*sizes: int, epsilon: float = 2.0) -> JointReport:
    return JointReport.for_epsilon(sizes=sizes, epsilon=epsilon)


@given(
    st.lists(st.integers(2, 50), min_size=1, max_size=7).filter(
        lambda sizes: math.prod(sizes) <= 2**40
    ),
    st.data(),
)
def test_numbers_and_records_are_inverse(sizes: list[int], data: st.DataObject) -> None:
    mechanism = joint(*sizes)
    cells = math.prod(sizes)
    numbers = data.draw(st.lists(st.integers(0, cells - 1), min_size=1, max_size=20))
    records = mechanism.records(numbers)
    assert mechanism.numbers(records).tolist() == numbers
    expected = np.ravel_multi_index(tuple(records.T), tuple(sizes))
    np.testing.assert_array_equal(expected, numbers)


def test_the_whole_budget_is_spent_on_the_whole_record() -> None:
    mechanism = joint(2, 3, 4, epsilon=3.0)
    assert mechanism.randomizer == choose(size=24, epsilon=3.0).randomizer
    assert mechanism.epsilon == mechanism.randomizer.epsilon <= 3.0
    assert mechanism.epsilon == pytest.approx(3.0, rel=1e-9)
    assert mechanism.report_bits == mechanism.randomizer.report_bits


def test_it_says_more_than_independent_reports_of_the_same_epsilon() -> None:
    epsilon, response = 4.0, GeneralizedRandomizedResponse
    together = response.for_epsilon(size=8, epsilon=epsilon).hit
    apart = IndependentReports.for_epsilon(sizes=(2, 2, 2), epsilon=epsilon).exact_channel()[0][0]
    assert together > apart


def test_the_table_of_shares_comes_back() -> None:
    mechanism, owners = joint(2, 3, epsilon=3.0), 40_000
    shares = np.array([[0.3, 0.1, 0.2], [0.0, 0.15, 0.25]])
    cells = np.repeat(np.arange(6), np.round(shares.ravel() * owners).astype(int))
    reports = mechanism.randomize(mechanism.records(cells), simulation(1))
    estimate = mechanism.estimate(mechanism.tally(reports))
    assert estimate.values.shape == (2, 3)
    assert np.abs((estimate.values - shares) / estimate.standard_error).max() < 5
    assert estimate.simulation


def test_a_record_is_reported_as_its_number() -> None:
    mechanism, records = joint(4, 5), np.array([[3, 4], [0, 2], [1, 1]])
    direct = mechanism.randomizer.randomize([19, 2, 6], simulation(1))
    told = mechanism.randomize(records, simulation(1))
    np.testing.assert_array_equal(told.symbols, direct.symbols)


MAKERS = (
    GeneralizedRandomizedResponse.for_epsilon,
    LocalHashing.for_epsilon,
    HadamardResponse.for_epsilon,
)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("sizes", [(2,) * 40, (4,) * 20, (2**20, 2**20)])
def test_two_to_the_forty_cells_need_no_table(make: Any, sizes: tuple[int, ...]) -> None:
    randomizer: FrequencyRandomizer = make(size=2**40, epsilon=5.0)
    mechanism = JointReport(sizes=sizes, randomizer=randomizer)
    source = simulation(1)
    records = np.stack([source.below(size, 1000).astype(np.int64) for size in sizes], axis=1)
    tracemalloc.start()
    reports = mechanism.randomize(records, secure())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(reports) == 1000
    assert peak < 2**21
    np.testing.assert_array_equal(mechanism.records(mechanism.numbers(records)), records)


def test_lies_about_the_largest_records_are_spread_over_all_of_them() -> None:
    randomizer = GeneralizedRandomizedResponse.for_epsilon(size=2**40, epsilon=5.0)
    mechanism = JointReport(sizes=(2,) * 40, randomizer=randomizer)
    told = mechanism.outcome(mechanism.randomize(np.ones((5000, 40), dtype=np.uint8), secure()))
    bits = mechanism.records(told).sum(axis=0)
    for ones in bits.tolist():
        assert stats.binomtest(ones, 5000, 0.5).pvalue > ALARM


def test_a_million_records_of_eight_attributes_fit_in_200_megabytes() -> None:
    mechanism = joint(*[4] * 8, epsilon=8.0)
    tracemalloc.start()
    records = simulation(1).below(4, 8_000_000).astype(np.int64).reshape(-1, 8)
    tracemalloc.reset_peak()
    reports = mechanism.randomize(records, secure())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(reports) == 1_000_000
    # The records themselves, 64 MB, are part of it.
    assert peak < 200 * 10**6


@pytest.mark.parametrize("sizes", [(2,) * 41, (2**20, 2**20, 2), (2**40, 2), (2**40,) * 1000])
def test_more_than_two_to_the_forty_cells_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"sizes must be of at most 2\^40 cells"):
        joint(*sizes)
    randomizer = GeneralizedRandomizedResponse.for_epsilon(size=2**40, epsilon=1.0)
    with pytest.raises(ParameterError, match=r"sizes must be of at most 2\^40 cells"):
        JointReport(sizes=sizes, randomizer=randomizer)


def test_a_randomizer_of_another_size_is_refused() -> None:
    randomizer = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0)
    with pytest.raises(ParameterError, match="randomizer must be of size 6, got 5"):
        JointReport(sizes=(2, 3), randomizer=randomizer)


BAD_RECORDS: dict[str, Any] = {
    "a class beyond": [[0, SECRET]],
    "a negative class": [[-SECRET, 0]],
    "a negative class that another makes up for": [[1, -1]],
    "a class that the number would hide": [[0, 300 + 5]],
    "a narrow negative class": np.array([[1, -1]], dtype=np.int8),
    "unsigned": np.array([[0, 2**64 - 1]], dtype=np.uint64),
    "a number of 70 bits": [[0, 2**70 + SECRET]],
    "floats": [[0.0, float(SECRET)]],
    "booleans": [[True, False]],
    "strings": [["0", str(SECRET)]],
    "objects": np.array([[0, SECRET]], dtype=object),
    "one column": [[0], [1]],
    "flat": [0, SECRET],
    "ragged": [[0, SECRET], [1]],
    "no dimension": SECRET,
    "nothing": None,
    "empty": np.empty((0, 2), dtype=np.int64),
    "masked": np.ma.masked_array([[0, 1]], mask=[[False, True]]),
}


@pytest.mark.parametrize("records", BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_a_bad_record_is_refused_unseen_and_before_any_draw(records: Any) -> None:
    source = simulation(9)
    with pytest.raises(RecordError) as caught:
        joint(300, 300).randomize(records, source)
    assert str(SECRET) not in f"{caught.value!r}"
    assert caught.value.__context__ is None
    np.testing.assert_array_equal(source.words(8), simulation(9).words(8))


def test_the_last_of_many_records_is_checked_before_the_first_is_drawn() -> None:
    records = np.zeros((40_000, 2), dtype=np.int64)
    records[-1, 1] = SECRET
    source = simulation(9)
    with pytest.raises(RecordError, match="attribute 1 must be a class 0 … 299"):
        joint(300, 300).randomize(records, source)
    np.testing.assert_array_equal(source.words(8), simulation(9).words(8))


@pytest.mark.parametrize("numbers", [[SECRET], [-1], [0.5], ["3"], [True], [[1]], 2, [], None])
def test_numbers_of_no_record_are_refused(numbers: Any) -> None:
    with pytest.raises(RecordError) as caught:
        joint(2, 3).records(numbers)
    assert str(SECRET) not in f"{caught.value!r}"
    assert caught.value.__context__ is None


@pytest.mark.parametrize("bad", EPSILON.violations())
def test_an_impossible_epsilon_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number"):
        joint(2, 3, epsilon=bad)


@pytest.mark.parametrize("bad", SIZE.violations())
def test_an_impossible_size_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="size must be a whole number"):
        joint(2, bad)


def test_a_tally_of_another_alphabet_is_refused() -> None:
    tally = Tally(counts=np.zeros((2, 3)), reports=1, simulation=True)
    with pytest.raises(ParameterError, match="tally must be of 6 counts"):
        joint(2, 3).estimate(tally)


def test_sizes_given_as_a_list_are_kept_as_a_tuple() -> None:
    sizes: Any = [np.int32(2), 3]
    same = JointReport(sizes=sizes, randomizer=joint(2, 3).randomizer)
    assert same == joint(2, 3)
    assert hash(same) == hash(joint(2, 3))
