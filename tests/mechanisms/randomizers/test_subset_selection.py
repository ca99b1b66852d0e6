"""Subset selection: sets of the right width, all alike, told in increasing order."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm._validation import Integers
from supm.mechanisms import GeneralizedRandomizedResponse, Reports, SubsetSelection
from supm.mechanisms.thresholds import WORDS, words_inside

ALARM = 1e-11


def subset(size: int, width: int, epsilon: float = 1.0) -> SubsetSelection:
    return SubsetSelection.with_width(size=size, width=width, epsilon=epsilon)


def sets_of(mechanism: SubsetSelection, held: int, owners: int) -> NDArray[np.int64]:
    return mechanism.randomize([held] * owners, secure()).symbols.astype(np.int64)


@pytest.mark.parametrize(
    ("size", "epsilon", "width", "printed"),
    [(64, 1.0, 17, 3.54), (512, 4.0, 9, 0.072), (8, 2.0, 1, 0.328)],
)
def test_the_variance_of_a_rare_symbol_is_the_papers(
    size: int, epsilon: float, width: int, printed: float
) -> None:
    mechanism = subset(size, width, epsilon)
    own = width * math.exp(epsilon) / (width * math.exp(epsilon) + size - width)
    other = (own * (width - 1) + (1 - own) * width) / (size - 1)
    variance = mechanism.variance(0.0)
    assert variance == pytest.approx(other * (1 - other) / (own - other) ** 2, rel=1e-9)
    assert variance == pytest.approx(printed, rel=5e-3)


@pytest.mark.parametrize("size", [2, 3, 8, 64, 200])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 2.0, 4.0, 5.0, 1e4])
def test_no_other_width_has_less_variance(size: int, epsilon: float) -> None:
    chosen = SubsetSelection.for_epsilon(size=size, epsilon=epsilon).variance(1 / size)
    others = [subset(size, width, epsilon).variance(1 / size) for width in range(1, size)]
    assert chosen <= min(others) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 1e4])
def test_a_set_of_one_symbol_is_randomized_response(epsilon: float) -> None:
    one = subset(6, 1, epsilon)
    response = GeneralizedRandomizedResponse.for_epsilon(size=6, epsilon=epsilon)
    assert one.exact_channel() == response.exact_channel()
    assert (one.hit, one.miss, one.epsilon) == (response.hit, response.miss, response.epsilon)


@given(
    size=st.integers(2, 40), data=st.data(), seed=st.integers(0, 1000), epsilon=st.floats(1e-4, 20)
)
def test_a_report_is_an_increasing_set(
    size: int, data: st.DataObject, seed: int, epsilon: float
) -> None:
    width = data.draw(st.integers(1, size - 1))
    mechanism = subset(size, width, epsilon)
    told = mechanism.randomize(np.arange(size), simulation(seed)).symbols.astype(np.int64)
    assert told.shape == (size, width)
    assert (np.diff(told, axis=1) > 0).all()
    assert told.min() >= 0
    assert told.max() < size
    assert mechanism.tally(Reports(symbols=told, simulation=True)).counts.sum() == size * width


@pytest.mark.parametrize("width", [7, 12, 19])
@pytest.mark.parametrize("held", [0, 10, 19])
def test_the_rest_of_a_set_is_hypergeometric(width: int, held: int) -> None:
    mechanism, owners = subset(20, width), 20_000
    told = sets_of(mechanism, held, owners)
    holds = (told == held).any(axis=1)
    assert stats.binomtest(int(holds.sum()), owners, float(mechanism.hit)).pvalue > ALARM
    marked = [symbol for symbol in range(20) if symbol != held][:8]
    for group, drawn in ((holds, width - 1), (~holds, width)):
        found = np.isin(told[group], marked).sum(axis=1)
        law = stats.hypergeom(19, 8, drawn)
        for number, chance in enumerate(law.pmf(np.arange(9))):
            seen = int(np.count_nonzero(found == number))
            assert stats.binomtest(seen, len(found), chance).pvalue > ALARM


@pytest.mark.parametrize(
    ("size", "width", "held"), [(64, 17, 0), (64, 17, 29), (64, 17, 63), (64, 50, 7), (24, 20, 23)]
)
def test_every_other_symbol_is_in_the_set_equally_often(size: int, width: int, held: int) -> None:
    mechanism, owners = subset(size, width), 30_000
    counts = mechanism.tally(mechanism.randomize([held] * owners, secure())).counts
    for symbol, count in enumerate(counts):
        chance = float(mechanism.hit if symbol == held else mechanism.miss)
        assert stats.binomtest(int(count), owners, chance).pvalue > ALARM


@pytest.mark.parametrize(("size", "width"), [(7, 3), (6, 5), (9, 1), (12, 6)])
def test_sets_are_numbered_in_colexicographic_order(size: int, width: int) -> None:
    sets = sorted(itertools.combinations(range(size), width), key=lambda chosen: chosen[::-1])
    reports = Reports(symbols=np.array(sets, dtype=np.uint32), simulation=True)
    np.testing.assert_array_equal(subset(size, width).outcome(reports), np.arange(len(sets)))


@pytest.mark.parametrize(
    "rows", [[[2, 1, 3]], [[1, 3, 2]], [[1, 1, 2]], [[1, 2, 2]], [[0, 1, 2], [3, 3, 3]]]
)
@pytest.mark.parametrize("dtype", ["u1", "u4", "i8", "u8"])
def test_a_set_out_of_order_or_with_a_symbol_twice_is_refused(
    rows: list[list[int]], dtype: str
) -> None:
    reports = Reports(symbols=np.array(rows, dtype=dtype), simulation=True)
    with pytest.raises(ParameterError, match="sets in increasing order"):
        subset(6, 3).tally(reports)
    with pytest.raises(ParameterError, match="sets in increasing order"):
        subset(6, 3).outcome(reports)


@pytest.mark.parametrize("rows", [[[0, 1]], [[0, 1, 2, 3]], [0, 1, 2]])
def test_a_set_of_another_width_is_refused(rows: Any) -> None:
    with pytest.raises(ParameterError, match="rows of 3 whole numbers"):
        subset(6, 3).tally(Reports(symbols=np.array(rows), simulation=True))


def test_a_symbol_outside_is_refused() -> None:
    with pytest.raises(ParameterError, match="symbols 0 … 5"):
        subset(6, 3).tally(Reports(symbols=np.array([[0, 1, 6]]), simulation=True))


@pytest.mark.parametrize("width", [*Integers("width", 1, 5).violations(), 6])
def test_an_impossible_width_is_refused(width: Any) -> None:
    with pytest.raises(ParameterError, match="width must be a whole number"):
        subset(6, width)
    with pytest.raises(ParameterError, match="width must be a whole number"):
        SubsetSelection(size=6, width=width, hold_words=WORDS - 1)


@pytest.mark.parametrize("words", words_inside("hold_words", inside=2, outside=4).violations())
def test_impossible_words_are_refused_by_their_name(words: Any) -> None:
    with pytest.raises(ParameterError, match="hold_words must be a whole number"):
        SubsetSelection(size=6, width=2, hold_words=words)


def test_narrow_sets_of_a_large_alphabet_need_no_table_of_it() -> None:
    mechanism = subset(2**20, 3)
    tracemalloc.start()
    told = mechanism.randomize([0, 2**20 - 1, 5] * 100, simulation(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**18
    assert mechanism.tally(told).counts.sum() == 900


def test_wide_sets_of_a_large_alphabet_work_row_by_row() -> None:
    mechanism = subset(2**17, 2**13)
    told = mechanism.randomize([0] * 9, simulation(1))
    assert mechanism.tally(told).counts.sum() == 9 * 2**13
