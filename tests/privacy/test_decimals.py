from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm.privacy.promise_numbers import (
    decimal,
    float_at_least,
    float_at_most,
    root_at_least,
    root_at_most,
)

POSITIVE = st.floats(0.0, 1e12)
FRACTIONS = st.fractions(0, 10**12)


@pytest.mark.parametrize("text", ["0.1", "0.3", "1e-300", "5e-324", "123456.789", "1e12"])
def test_a_float_names_the_decimal_that_was_written(text: str) -> None:
    assert decimal(float(text)) == Fraction(text)


@given(POSITIVE, POSITIVE)
@settings(deadline=None)
def test_equation_13_floats_name_decimals_in_their_own_order(one: float, other: float) -> None:
    assert (one < other) == (decimal(one) < decimal(other))


@given(POSITIVE)
@settings(deadline=None)
def test_equation_13_neighbouring_floats_name_decimals_in_order(number: float) -> None:
    assert decimal(number) < decimal(math.nextafter(number, math.inf))


@given(POSITIVE)
@settings(deadline=None)
def test_equation_14_the_next_float_names_more_than_the_binary_value(number: float) -> None:
    assert decimal(math.nextafter(number, math.inf)) > Fraction(number)


@given(FRACTIONS)
@settings(deadline=None)
def test_rounding_up_and_down_enclose_the_value_in_neighbouring_floats(value: Fraction) -> None:
    above, below = float_at_least(value), float_at_most(value)
    assert decimal(below) <= value <= decimal(above)
    assert above in (below, math.nextafter(below, math.inf))


@given(FRACTIONS)
@settings(deadline=None)
def test_roots_enclose_the_exact_root_in_neighbouring_floats(square: Fraction) -> None:
    above, below = root_at_least(square), root_at_most(square)
    assert decimal(below) ** 2 <= square <= decimal(above) ** 2
    assert above in (below, math.nextafter(below, math.inf))


@given(st.floats(0.0, 1e6))
@settings(deadline=None)
def test_the_root_of_a_square_is_the_number_itself(number: float) -> None:
    assert root_at_least(decimal(number) ** 2) == number
    assert root_at_most(decimal(number) ** 2) == number
