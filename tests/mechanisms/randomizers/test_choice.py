"""The chooser takes the least variance among short reports, and says so."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
    choose,
)
from supm.mechanisms.randomizers.frequency import SIZE

EPSILONS = [1e-6, 0.1, 0.5, 1.0, 2.0, 4.0, 5.0, 10.0, 1e4]
NAMES = {
    "randomized response",
    "subset selection",
    "optimised unary encoding",
    "symmetric unary encoding",
    "local hashing",
    "Hadamard response",
}


@given(size=st.integers(2, 2**40), epsilon=st.floats(1e-6, 1e4), limit=st.integers(16, 4096))
def test_no_short_report_has_less_variance(size: int, epsilon: float, limit: int) -> None:
    choice = choose(size=size, epsilon=epsilon, report_bytes=limit)
    short = [each for each in choice.candidates if each.randomizer.report_bytes <= limit]
    chosen = choice.randomizer.variance(1 / size)
    assert choice.randomizer.report_bytes <= limit
    assert chosen == min(each.randomizer.variance(1 / size) for each in short)
    assert choice.randomizer.epsilon <= epsilon
    assert choice.randomizer.size == size


@pytest.mark.parametrize("size", [2, 8, 64, 512])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_all_kinds_are_considered_best_first(size: int, epsilon: float) -> None:
    candidates = choose(size=size, epsilon=epsilon).candidates
    assert {each.name for each in candidates} == NAMES
    variances = [each.variance for each in candidates]
    assert variances == sorted(variances)
    assert variances == [each.randomizer.variance(1 / size) for each in candidates]


def test_the_reason_is_one_sentence_with_the_figures() -> None:
    reason = choose(size=64, epsilon=1.0).reason
    assert reason == (
        "subset selection has the least variance for 64 symbols at epsilon 1 among reports of at "
        "most 1024 bytes: 3.55 per report against 3.57 of local hashing."
    )


def test_a_lone_candidate_needs_no_comparison() -> None:
    assert choose(size=2**40, epsilon=1.0, report_bytes=5).reason.endswith(" per report.")


@pytest.mark.parametrize(
    ("size", "epsilon"), [(2, 0.1), (2, 5.0), (8, 2.0), (5, 10.0), (100, 20.0)]
)
def test_a_tie_goes_to_randomized_response(size: int, epsilon: float) -> None:
    choice = choose(size=size, epsilon=epsilon)
    subset = SubsetSelection.for_epsilon(size=size, epsilon=epsilon)
    assert subset.width == 1
    assert subset.variance(1 / size) == choice.randomizer.variance(1 / size)
    assert isinstance(choice.randomizer, GeneralizedRandomizedResponse)
    assert choice.candidates[0].name == "randomized response"


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("step", [-2, -1, 1, 2])
def test_randomized_response_beats_unary_encoding_below_the_papers_size(
    epsilon: float, step: int
) -> None:
    # The papers' rule is for a share that tends to zero: size < 3 e^epsilon + 2.
    size = math.floor(3 * math.exp(epsilon) + 2) + step
    response = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon)
    unary = UnaryEncoding.optimised(size=size, epsilon=epsilon)
    below = size < 3 * math.exp(epsilon) + 2
    assert (response.variance(0.0) < unary.variance(0.0)) == below


def test_a_shorter_limit_leaves_out_long_reports() -> None:
    long = choose(size=4096, epsilon=1.0, report_bytes=1 << 20).randomizer
    short = choose(size=4096, epsilon=1.0, report_bytes=16).randomizer
    assert isinstance(long, SubsetSelection)
    assert isinstance(short, LocalHashing)
    assert long.report_bytes > 16 >= short.report_bytes
    assert long.variance(0.0) < short.variance(0.0)


def test_a_limit_that_no_report_meets_is_refused_with_the_least_one() -> None:
    with pytest.raises(ParameterError, match="report_bytes must be at least 5 for 1099511627776"):
        choose(size=2**40, epsilon=1.0, report_bytes=4)
    assert choose(size=2**40, epsilon=1.0, report_bytes=5).randomizer.report_bytes == 5


@pytest.mark.parametrize("size", [2**20 + 1, 2**40])
def test_a_large_alphabet_has_no_candidate_that_needs_a_table(size: int) -> None:
    names = {each.name for each in choose(size=size, epsilon=1.0).candidates}
    assert names == {"randomized response", "local hashing", "Hadamard response"}


@pytest.mark.parametrize("bad", SIZE.violations())
def test_an_impossible_size_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="size must be a whole number"):
        choose(size=bad, epsilon=1.0)


@pytest.mark.parametrize("bad", EPSILON.violations())
def test_an_impossible_epsilon_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number"):
        choose(size=4, epsilon=bad)


@pytest.mark.parametrize("bad", Integers("report_bytes", 1, 1 << 20).violations())
def test_an_impossible_limit_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="report_bytes must be a whole number"):
        choose(size=4, epsilon=1.0, report_bytes=bad)
