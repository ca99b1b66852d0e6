"""Hadamard response agrees with SciPy's Hadamard matrix and works without holding one."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import linalg, stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.mechanisms import HadamardResponse, Reports
from supm.mechanisms.randomizers.hadamard_response import _walsh_hadamard
from supm.mechanisms.thresholds import words_inside

ALARM = 1e-11


def hadamard(size: int, epsilon: float = 1.0) -> HadamardResponse:
    return HadamardResponse.for_epsilon(size=size, epsilon=epsilon)


@pytest.mark.parametrize(
    ("size", "epsilon", "printed"), [(64, 1.0, 4.68), (512, 4.0, 1.08), (8, 2.0, 1.72)]
)
def test_the_variance_of_a_rare_symbol_is_the_papers(
    size: int, epsilon: float, printed: float
) -> None:
    variance = hadamard(size, epsilon).variance(0.0)
    odds = math.exp(epsilon)
    assert variance == pytest.approx(((odds + 1) / (odds - 1)) ** 2, rel=1e-9)
    assert float(f"{variance:.3g}") == printed


@pytest.mark.parametrize(
    ("size", "columns"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (2**40, 2**41)]
)
def test_there_is_a_row_for_every_symbol_beside_the_constant_one(size: int, columns: int) -> None:
    mechanism = hadamard(size)
    assert mechanism.outcomes == columns
    assert 2**mechanism.report_bits == columns


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8, 20])
def test_the_channel_follows_the_rows_of_the_matrix_after_the_first(size: int) -> None:
    mechanism = hadamard(size)
    signs = linalg.hadamard(mechanism.outcomes)[1 : size + 1]
    half = Fraction(2, mechanism.outcomes)
    expected = [
        [half * (mechanism.hit if sign > 0 else 1 - mechanism.hit) for sign in row]
        for row in signs.tolist()
    ]
    assert mechanism.exact_channel() == expected


@pytest.mark.parametrize("columns", [1, 2, 4, 64, 1024])
def test_the_fast_transform_multiplies_by_the_matrix(columns: int) -> None:
    counts = simulation(1).below(10**6, columns).astype(np.int64)
    np.testing.assert_array_equal(_walsh_hadamard(counts), linalg.hadamard(columns) @ counts)


@pytest.mark.parametrize("size", [2, 5, 8, 33])
def test_a_tally_counts_the_columns_with_a_plus(size: int) -> None:
    mechanism = hadamard(size)
    reports = mechanism.randomize(np.arange(3000) % size, simulation(1))
    signs = linalg.hadamard(mechanism.outcomes)[1 : size + 1]
    expected = (signs[:, reports.symbols] > 0).sum(axis=1)
    np.testing.assert_array_equal(mechanism.tally(reports).counts, expected)


@pytest.mark.parametrize("size", [3, 2**20, 2**40])
def test_the_own_sign_is_true_as_often_as_stated(size: int) -> None:
    mechanism, owners = hadamard(size, 1.5), 20_000
    values = np.array([0, 1, size - 1, size // 2] * (owners // 4))
    tracemalloc.start()
    columns = mechanism.outcome(mechanism.randomize(values, secure()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Six arrays of one word per owner: nothing grows with the alphabet.
    assert peak < 2 * 2**20
    for start in range(4):
        pairs = zip(values[start::4].tolist(), columns[start::4].tolist(), strict=True)
        true = sum((held + 1 & told).bit_count() % 2 == 0 for held, told in pairs)
        assert stats.binomtest(true, owners // 4, float(mechanism.hit)).pvalue > ALARM


@pytest.mark.parametrize("size", [2**20, 2**40])
def test_columns_are_spread_over_the_whole_matrix(size: int) -> None:
    mechanism = hadamard(size, 1.5)
    # Its row, size - 1, has all bits set but the highest, so no part of the matrix is favoured.
    columns = mechanism.randomize([size - 2] * 20_000, secure()).symbols
    assert stats.kstest(columns / mechanism.outcomes, "uniform").pvalue > ALARM
    # Rows other than the own one see a fair coin.
    for row in (1, 2, size // 2, size):
        plus = sum((row & told).bit_count() % 2 == 0 for told in columns.tolist())
        assert stats.binomtest(plus, 20_000, 0.5).pvalue > ALARM


@pytest.mark.parametrize("bad", [4, 7, -1])
def test_a_column_outside_the_matrix_is_refused(bad: int) -> None:
    with pytest.raises(ParameterError, match="symbols 0 … 3"):
        hadamard(3).tally(Reports(symbols=np.array([0, bad]), simulation=True))


def test_reports_of_one_column_are_read_as_reports() -> None:
    mechanism = hadamard(3)
    flat, column = (
        Reports(symbols=np.array(rows), simulation=True) for rows in ([0, 3, 2], [[0], [3], [2]])
    )
    assert mechanism.tally(column).counts.tolist() == mechanism.tally(flat).counts.tolist()


@pytest.mark.parametrize("words", words_inside("agree_words", inside=1, outside=1).violations())
def test_impossible_words_are_refused_by_their_name(words: Any) -> None:
    with pytest.raises(ParameterError, match="agree_words must be a whole number"):
        HadamardResponse(size=3, agree_words=words)
