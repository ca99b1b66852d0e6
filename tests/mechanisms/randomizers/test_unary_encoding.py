"""Unary encoding: every bit is randomised, and each with its own probability."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm._validation import Integers
from supm.mechanisms import Reports, UnaryEncoding
from supm.mechanisms.thresholds import WORDS

ALARM = 1e-11


def bits_of(mechanism: UnaryEncoding, reports: Reports) -> NDArray[np.signedinteger]:
    """Unpack with plain arithmetic, not with the mechanism's own reader."""
    symbols = np.arange(mechanism.size)
    return reports.symbols[:, symbols // 8] >> (symbols % 8).astype(np.uint8) & 1


@pytest.mark.parametrize(
    ("size", "epsilon", "printed"), [(64, 1.0, 3.92), (512, 4.0, 0.181), (8, 2.0, 0.921)]
)
def test_the_symmetric_variance_of_a_rare_symbol_is_the_papers(
    size: int, epsilon: float, printed: float
) -> None:
    variance = UnaryEncoding.symmetric(size=size, epsilon=epsilon).variance(0.0)
    root = math.exp(epsilon / 2)
    assert variance == pytest.approx(root / (root - 1) ** 2, rel=1e-9)
    assert float(f"{variance:.3g}") == printed


@pytest.mark.parametrize(
    ("size", "epsilon", "printed"), [(64, 1.0, 3.68), (512, 4.0, 0.076), (8, 2.0, 0.724)]
)
def test_the_optimised_variance_of_a_rare_symbol_is_the_papers(
    size: int, epsilon: float, printed: float
) -> None:
    variance = UnaryEncoding.optimised(size=size, epsilon=epsilon).variance(0.0)
    odds = math.exp(epsilon)
    assert variance == pytest.approx(4 * odds / (odds - 1) ** 2, rel=1e-9)
    assert variance == pytest.approx(printed, rel=5e-3)


def test_the_optimised_encoding_keeps_the_own_bit_half_of_the_time() -> None:
    assert UnaryEncoding.optimised(size=9, epsilon=2.0).hit == Fraction(1, 2)


def test_the_symmetric_encoding_flips_both_kinds_alike() -> None:
    mechanism = UnaryEncoding.symmetric(size=9, epsilon=2.0)
    assert mechanism.hit == 1 - mechanism.miss


@pytest.mark.parametrize("size", [2, 7, 8, 9, 64, 65])
@pytest.mark.parametrize("symmetric", [True, False])
def test_every_bit_up_to_the_last_is_randomised(size: int, symmetric: bool) -> None:  # noqa: FBT001  cases
    make = UnaryEncoding.symmetric if symmetric else UnaryEncoding.optimised
    mechanism, owners = make(size=size, epsilon=1.0), 20_000
    for held in (0, size - 1):
        reports = mechanism.randomize([held] * owners, secure())
        set_bits = bits_of(mechanism, reports).sum(axis=0)
        chance = np.full(size, float(mechanism.miss))
        chance[held] = float(mechanism.hit)
        for count, expected in zip(set_bits, chance, strict=True):
            assert stats.binomtest(int(count), owners, expected).pvalue > ALARM


def test_the_other_bits_are_independent_of_each_other() -> None:
    mechanism, owners = UnaryEncoding.optimised(size=12, epsilon=1.0), 50_000
    bits = bits_of(mechanism, mechanism.randomize([4] * owners, secure()))
    others = np.bincount(np.delete(bits, 4, axis=1).sum(axis=1), minlength=12)
    law = stats.binom(11, float(mechanism.miss))
    # The far tail is gathered: its counts are too small for a chi-square test.
    expected = owners * np.append(law.pmf(np.arange(7)), law.sf(6))
    seen = np.append(others[:7], others[7:].sum())
    assert stats.chisquare(seen, expected).pvalue > ALARM


def test_the_largest_alphabet_works_row_by_row() -> None:
    mechanism = UnaryEncoding.symmetric(size=2**20, epsilon=1.0)
    reports = mechanism.randomize([0, 2**20 - 1], simulation(1))
    assert reports.symbols.shape == (2, 2**17)
    counts = mechanism.tally(reports).counts
    share = float(counts.sum()) / 2**21
    assert share == pytest.approx(float(mechanism.miss), abs=6 * math.sqrt(0.25 / 2**21))


def test_a_tally_counts_every_bit() -> None:
    mechanism = UnaryEncoding.optimised(size=11, epsilon=1.0)
    reports = mechanism.randomize([0, 5, 10] * 5000, simulation(1))
    np.testing.assert_array_equal(
        mechanism.tally(reports).counts, bits_of(mechanism, reports).sum(axis=0, dtype=np.int64)
    )


@pytest.mark.parametrize("size", [3, 7, 9, 15])
def test_a_bit_beyond_the_alphabet_is_refused(size: int) -> None:
    mechanism = UnaryEncoding.optimised(size=size, epsilon=1.0)
    for bit in range(size, 8 * mechanism.report_bytes):
        rows = np.zeros((4, mechanism.report_bytes), dtype=np.uint8)
        rows[3, bit // 8] = 1 << bit % 8
        with pytest.raises(ParameterError, match=f"rows of {size} bits"):
            mechanism.tally(Reports(symbols=rows, simulation=True))
        with pytest.raises(ParameterError, match=f"rows of {size} bits"):
            mechanism.outcome(Reports(symbols=rows, simulation=True))


def test_a_byte_above_255_is_refused() -> None:
    mechanism = UnaryEncoding.optimised(size=8, epsilon=1.0)
    with pytest.raises(ParameterError, match="symbols 0 … 255"):
        mechanism.tally(Reports(symbols=np.array([[256]]), simulation=True))


@pytest.mark.parametrize("bad", Integers("other_words", 1, WORDS - 2).violations())
def test_impossible_words_of_another_bit_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="other_words must be a whole number"):
        UnaryEncoding(size=3, own_words=WORDS - 1, other_words=bad)


@pytest.mark.parametrize("bad", [*Integers("own_words", 6, WORDS - 1).violations(), 4])
def test_the_own_bit_must_be_set_more_often(bad: Any) -> None:
    with pytest.raises(ParameterError, match="own_words must be a whole number"):
        UnaryEncoding(size=3, own_words=bad, other_words=5)


def test_the_ends_of_the_words_are_accepted() -> None:
    loud = UnaryEncoding(size=3, own_words=WORDS - 1, other_words=1)
    quiet = UnaryEncoding(size=3, own_words=WORDS // 2 + 1, other_words=WORDS // 2)
    assert loud.epsilon == pytest.approx(128 * math.log(2))
    assert 0 < quiet.epsilon < 1e-18
