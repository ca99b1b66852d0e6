"""Thresholds never promise too little, whatever the caller does to decimal arithmetic.

The oracle is decimal arithmetic with 200 digits (docs/proofs/two-level.md, Lemma 1 and Theorem 1).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from supm.mechanisms.thresholds import WORDS, epsilon_of, exponential, threshold_for

LONG = decimal.Context(prec=200, Emax=999_999, Emin=-999_999)
EPSILONS = st.floats(1e-6, 1e4)
CELLS = st.integers(1, 2**41)


def exact_exponential(epsilon: float) -> Fraction:
    """The smaller of what the float is and what it prints as, exponentiated."""
    return Fraction(LONG.exp(min(Decimal(epsilon), Decimal(repr(epsilon)))))


def exact_logarithm(ratio: Fraction) -> Fraction:
    return Fraction(LONG.ln(LONG.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))))


def ratio_of(threshold: int, *, inside: int, outside: int) -> Fraction:
    return Fraction(threshold * outside, (WORDS - threshold) * inside)


@contextmanager
def hostile_decimals() -> Iterator[None]:
    """Two digits, always rounded up, and an exception at the first inexact result."""
    with decimal.localcontext() as context:
        context.prec = 2
        context.rounding = decimal.ROUND_UP
        context.traps[decimal.Inexact] = True
        context.traps[decimal.FloatOperation] = True
        yield


@given(EPSILONS)
@example(1e-6)
@example(1e4)
def test_the_exponential_is_below_the_true_one_by_one_part_in_ten_to_the_fifty(
    epsilon: float,
) -> None:
    exact = exact_exponential(epsilon)
    shortfall = 1 - exponential(epsilon) / exact
    assert Fraction(99, 100 * 10**50) < shortfall < Fraction(101, 100 * 10**50)


@given(EPSILONS, CELLS, CELLS)
@example(1e-6, 1, 2**40 - 1)
@example(1e4, 2**41, 1)
def test_the_threshold_keeps_epsilon(epsilon: float, inside: int, outside: int) -> None:
    threshold = threshold_for(epsilon, inside=inside, outside=outside)
    assert 0 < threshold < WORDS
    ratio = ratio_of(threshold, inside=inside, outside=outside)
    assert ratio <= exact_exponential(epsilon)
    assert epsilon_of(ratio) <= epsilon


@given(EPSILONS, CELLS, CELLS)
def test_one_more_word_inside_would_break_epsilon(
    epsilon: float, inside: int, outside: int
) -> None:
    threshold = threshold_for(epsilon, inside=inside, outside=outside) + 1
    # At the largest threshold a further word would leave nothing outside.
    if threshold < WORDS:
        ratio = ratio_of(threshold, inside=inside, outside=outside)
        assert ratio > exact_exponential(epsilon)


@given(st.fractions(min_value=1, max_value=10**40, max_denominator=2**64))
@example(Fraction(2**63 + 1, 2**63 - 1))
@example(Fraction(2**64 - 1) ** 100)
def test_the_stated_epsilon_is_the_smallest_float_with_no_reading_below_the_logarithm(
    ratio: Fraction,
) -> None:
    stated = epsilon_of(ratio)
    exact = Fraction(0) if ratio == 1 else exact_logarithm(ratio)
    assert _least_reading(stated) >= exact
    assert _least_reading(math.nextafter(stated, -math.inf)) < exact or stated == exact == 0


def _least_reading(number: float) -> Fraction:
    return min(Fraction(number), Fraction(repr(number)))


def test_nothing_is_lost_where_nothing_is_promised() -> None:
    assert epsilon_of(Fraction(1)) == 0.0


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 1e4])
def test_the_callers_decimal_context_changes_nothing(epsilon: float) -> None:
    calm = threshold_for(epsilon, inside=3, outside=5)
    ratio = ratio_of(calm, inside=3, outside=5)
    stated = epsilon_of(ratio)
    with hostile_decimals():
        assert threshold_for(epsilon, inside=3, outside=5) == calm
        assert epsilon_of(ratio) == stated


def test_known_values() -> None:
    series = sum(Fraction(1, math.factorial(place)) for place in range(60))
    assert threshold_for(1.0, inside=1, outside=1) == math.floor(WORDS * series / (series + 1))
    assert threshold_for(1e4, inside=1, outside=1) == WORDS - 1
    assert epsilon_of(Fraction(WORDS - 1)) == pytest.approx(64 * math.log(2), rel=1e-15)
