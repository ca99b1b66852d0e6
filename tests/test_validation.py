"""Declared constraints: what they accept, what they refuse, and how they say so."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers, Reals, suggestion

SHARE = Reals("share", -0.5, 0.75, "A share is a part of the whole.")
SIZE = Integers("size", 2, 1 << 40)
COUNT = Integers("count", 0, 10)


@pytest.mark.parametrize("declaration", [SHARE, EPSILON, SIZE, COUNT], ids=lambda d: d.name)
def test_every_listed_violation_is_refused_by_name(declaration: Reals | Integers) -> None:
    for value in declaration.violations():
        with pytest.raises(ParameterError, match=f"^{declaration.name} must be a "):
            declaration.check(value)


@given(st.floats(-0.5, 0.75))
def test_a_real_number_inside_comes_back_as_it_was(value: float) -> None:
    assert SHARE.check(value) == value


@given(st.integers(2, 1 << 40))
def test_a_whole_number_inside_comes_back_as_it_was(value: int) -> None:
    assert SIZE.check(value) == value


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), Fraction(1, 2)])
def test_reals_of_other_kinds_become_floats(value: Any) -> None:
    checked = SHARE.check(value)
    assert type(checked) is float
    assert checked == 0.5


@pytest.mark.parametrize("value", [np.int8(5), np.uint64(5), np.int64(5)])
def test_whole_numbers_of_other_kinds_become_ints(value: Any) -> None:
    checked = SIZE.check(value)
    assert type(checked) is int
    assert checked == 5


def test_both_ends_are_inside() -> None:
    assert [SHARE.check(SHARE.low), SHARE.check(SHARE.high)] == [-0.5, 0.75]
    assert [SIZE.check(SIZE.low), SIZE.check(SIZE.high)] == [2, 1 << 40]


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), Fraction(10**400, 3)], ids=["large", "negative", "ratio"]
)
def test_a_number_too_large_for_a_float_is_refused_like_any_other(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^share must be a number in \[-0.5, 0.75\], got "):
        SHARE.check(value)


@pytest.mark.parametrize("value", [np.True_, np.array(3), np.array([3]), b"3", object])
def test_what_only_looks_like_a_number_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError):
        SIZE.check(value)
    with pytest.raises(ParameterError):
        SHARE.check(value)


def test_an_interval_that_starts_at_zero_can_say_so() -> None:
    with pytest.raises(ParameterError, match=r"^count must be a whole number in \[0, 10\], got -1"):
        COUNT.check(-1)


def test_large_powers_of_two_are_written_as_powers() -> None:
    with pytest.raises(ParameterError, match=r"in \[2, 2\^40\], got 1\.$"):
        SIZE.check(1)


def test_the_hint_ends_the_message() -> None:
    with pytest.raises(ParameterError, match=r"got 2\. A share is a part of the whole\.$"):
        SHARE.check(2)


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1", None])
def test_an_epsilon_that_promises_nothing_is_refused_with_the_way_out(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"NoGuarantee\(reason\)"):
        EPSILON.check(value)


@pytest.mark.parametrize("value", [1e-6, 1, 1e4])
def test_the_whole_stated_range_of_epsilon_is_accepted(value: float) -> None:
    assert EPSILON.check(value) == value


def test_a_wrong_name_is_compared_without_regard_to_case() -> None:
    assert suggestion("Y", ["x", "y"]) == "Did you mean 'y'?"
    assert suggestion("zzz", "abcdefg") == "There are 'a', 'b', 'c', 'd', 'e' and 2 more."
    assert suggestion("zzz", "a") == "There is 'a'."
