"""Randomized response agrees with its formulas and with two other implementations."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.mechanisms.thresholds import WORDS, words_inside

ALARM = 1e-11


def response(size: int, epsilon: float) -> GeneralizedRandomizedResponse:
    return GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon)


@pytest.mark.parametrize(
    ("size", "epsilon", "printed"), [(64, 1.0, 21.9), (512, 4.0, 0.197), (8, 2.0, 0.328)]
)
def test_the_variance_of_a_rare_symbol_is_the_papers(
    size: int, epsilon: float, printed: float
) -> None:
    variance = response(size, epsilon).variance(0.0)
    odds = math.exp(epsilon)
    assert variance == pytest.approx((size - 2 + odds) / (odds - 1) ** 2, rel=1e-9)
    assert float(f"{variance:.3g}") == printed


@given(size=st.integers(2, 2**40), epsilon=st.floats(1e-4, 30))
def test_the_truth_is_told_as_often_as_epsilon_allows(size: int, epsilon: float) -> None:
    keep = 1 / (1 + (size - 1) * math.exp(-epsilon))
    told = float(response(size, epsilon).hit)
    assert told == pytest.approx(keep, rel=1e-12, abs=2**-63)


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_opendp_states_the_same_epsilon(size: int, epsilon: float) -> None:
    dp.enable_features("contrib")
    ours = response(size, epsilon)
    theirs: Any = dp.m.make_randomized_response(list(range(size)), float(ours.hit))
    # They take the probability as a float, which moves epsilon by its rounding.
    assert theirs.map(1) == pytest.approx(ours.epsilon, rel=1e-12)


def test_opendp_draws_from_the_same_distribution() -> None:
    dp.enable_features("contrib")
    ours, draws = response(5, 1.0), 4000
    theirs: Any = dp.m.make_randomized_response(list(range(5)), float(ours.hit))
    table = [
        np.bincount([theirs(2) for _ in range(draws)], minlength=5),
        ours.tally(ours.randomize([2] * draws, secure())).counts,
    ]
    expected = draws * ours.channel()[2]
    assert stats.chisquare(table[0], expected).pvalue > ALARM
    assert stats.chisquare(table[1], expected).pvalue > ALARM
    assert stats.chi2_contingency(table).pvalue > ALARM


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_dp_accounting_states_the_same_epsilon(size: int, epsilon: float) -> None:
    ours, grid = response(size, epsilon), 1e-5
    # Their noise is the chance of a uniform redraw, which tells the truth once in `size` times.
    noise = size * float(ours.miss)
    theirs = privacy_loss_distribution.from_randomized_response(
        noise, size, value_discretization_interval=grid
    )
    # They round the privacy loss up to a grid.
    assert 0 <= theirs.get_epsilon_for_delta(0.0) - ours.epsilon <= 1.01 * grid


def test_the_largest_alphabet_needs_no_table() -> None:
    size, owners = 2**40, 2000
    mechanism = response(size, math.log(size))
    values = np.array([0, size - 1, 2**39, 12345] * (owners // 4))
    tracemalloc.start()
    told = mechanism.outcome(mechanism.randomize(values, simulation(2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    assert int(told.min()) >= 0
    assert int(told.max()) < size
    true = int(np.count_nonzero(told == values))
    assert stats.binomtest(true, owners, float(mechanism.hit)).pvalue > ALARM
    # Lies are spread over the whole alphabet: their position within it is uniform.
    lies = told[told != values] / size
    assert stats.kstest(lies, "uniform").pvalue > ALARM
    assert mechanism.report_bytes == 5


@pytest.mark.parametrize("held", [0, 3, 6])
def test_a_lie_is_any_other_symbol_alike(held: int) -> None:
    mechanism = response(7, 1.0)
    told = mechanism.tally(mechanism.randomize([held] * 100_000, secure())).counts
    assert stats.chisquare(np.delete(told, held)).pvalue > ALARM


def test_two_symbols_make_warners_response() -> None:
    mechanism = response(2, math.log(3))
    np.testing.assert_allclose(mechanism.channel(), [[0.75, 0.25], [0.25, 0.75]], rtol=1e-15)


@pytest.mark.parametrize("words", words_inside("keep_words", inside=1, outside=4).violations())
def test_impossible_words_are_refused_by_their_name(words: Any) -> None:
    with pytest.raises(ParameterError, match="keep_words must be a whole number"):
        GeneralizedRandomizedResponse(size=5, keep_words=words)


def test_the_ends_of_the_words_are_accepted() -> None:
    weakest = GeneralizedRandomizedResponse(size=5, keep_words=WORDS // 5 + 1)
    strongest = GeneralizedRandomizedResponse(size=5, keep_words=WORDS - 1)
    assert 0 < weakest.epsilon < 1e-18
    assert strongest.epsilon == pytest.approx(math.log(4) + 64 * math.log(2))


def test_reports_of_one_column_are_read_as_reports() -> None:
    mechanism = response(3, 1.0)
    column = Reports(symbols=np.array([[0], [2], [2]]), simulation=True)
    assert mechanism.tally(column).counts.tolist() == [1, 0, 2]


@pytest.mark.parametrize("bad", [3, -1, 2**63])
def test_one_symbol_outside_spoils_the_reports(bad: int) -> None:
    rows = np.array([0, 1, bad], dtype=np.uint64 if bad == 2**63 else np.int64)
    with pytest.raises(
        ParameterError, match="reports must be symbols 0 … 2, got 'a symbol outside"
    ):
        response(3, 1.0).tally(Reports(symbols=rows, simulation=True))


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0, 36.0, 1e4])
@pytest.mark.parametrize("size", [2, 3, 1000])
def test_a_response_that_a_file_can_state_keeps_epsilon(size: int, epsilon: float) -> None:
    made = GeneralizedRandomizedResponse.for_epsilon_in_floats(size=size, epsilon=epsilon)
    assert min(epsilon, 30) * (1 - 1e-9) < made.epsilon <= epsilon
    again = GeneralizedRandomizedResponse.with_keep(size=size, keep=float(made.hit))
    assert again == made
