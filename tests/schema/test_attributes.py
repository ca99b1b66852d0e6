from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import SchemaError
from supm.schema import Attribute, Categorical, Continuous, Ordinal

NAMES: list[Any] = ["", "  ", None, 3, "x" * 201, "\ud800", b"age", ["age"]]
BOUNDS: list[Any] = [float("nan"), float("inf"), -float("inf"), "0", None, True, 10**400, 1j, [0]]
VALUES: list[Any] = [
    "abc",
    None,
    {"a", "b"},
    (),
    ("a",),
    ("a", "a"),
    (1, 1.0),
    (1, True),
    (0, False),
    (0.0, -0.0),
    ("a", None),
    ("a", float("nan")),
    (1.0, float("inf")),
    ("a", ("b",)),
    ("a", "\udfff"),
    (1, 2**53),
    ("a", b"b"),
]


def _all_kinds(name: Any, **fields: Any) -> list[Callable[[], Attribute]]:
    return [
        lambda: Continuous(name, low=0, high=1, **fields),
        lambda: Ordinal(name, values=("a", "b"), **fields),
        lambda: Categorical(name, values=("a", "b"), **fields),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_not_short_unicode_text_is_refused(name: Any) -> None:
    for make in _all_kinds(name):
        with pytest.raises(SchemaError, match="name must be"):
            make()


@pytest.mark.parametrize("missing", ["drop", None, True, "", 0])
def test_a_rule_for_missing_values_that_does_not_exist_is_refused(missing: Any) -> None:
    for make in _all_kinds("a", missing=missing):
        with pytest.raises(SchemaError, match="attribute 'a': missing must be"):
            make()


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_that_is_not_a_finite_number_is_refused(bound: Any) -> None:
    with pytest.raises(SchemaError, match="attribute 'age': low must be a finite number"):
        Continuous("age", low=bound, high=1)
    with pytest.raises(SchemaError, match="attribute 'age': high must be a finite number"):
        Continuous("age", low=0, high=bound)


def test_swapped_bounds_are_refused_and_the_error_asks_about_it() -> None:
    with pytest.raises(SchemaError, match="got low 120 and high 0; are they swapped"):
        Continuous("age", low=120, high=0)


def test_a_continuous_attribute_of_one_value_is_refused_with_the_advice_to_leave_it_out() -> None:
    with pytest.raises(SchemaError, match=r"both are 5; .* leave it out"):
        Continuous("age", low=5, high=5.0)


def test_bounds_whose_distance_overflows_are_refused() -> None:
    with pytest.raises(SchemaError, match="high must lie less than"):
        Continuous("x", low=-1e308, high=1e308)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("kind", [Ordinal, Categorical])
def test_values_that_are_not_two_distinct_plain_ones_are_refused(
    kind: type[Ordinal | Categorical], values: Any
) -> None:
    with pytest.raises(SchemaError, match=r"attribute 'a': values"):
        kind("a", values=values)


@pytest.mark.parametrize("kind", [Ordinal, Categorical])
def test_an_attribute_of_one_value_is_refused_with_the_advice_to_leave_it_out(
    kind: type[Ordinal | Categorical],
) -> None:
    with pytest.raises(SchemaError, match=r"at least two; .* leave it out"):
        kind("a", values=("only",))


def test_attributes_are_frozen_and_hold_plain_python_values() -> None:
    given_values = cast("Any", [np.int64(1), np.str_("b"), np.float64(2.5), np.bool_(False)])
    attribute = Categorical("a", values=given_values)
    assert attribute.values == (1, "b", 2.5, False)
    assert [type(value) for value in attribute.values] == [int, str, float, bool]
    with pytest.raises(AttributeError):
        attribute.name = "b"  # type: ignore[misc]
    bounds = Continuous("a", low=np.float32(0.5), high=Fraction(3, 2))  # type: ignore[arg-type]
    assert (bounds.low, bounds.high) == (0.5, 1.5)
    assert type(bounds.low) is float


def test_a_negative_zero_is_written_as_zero() -> None:
    assert repr(Continuous("a", low=-0.0, high=1).low) == "0.0"
    assert repr(Ordinal("a", values=(-0.0, 1)).values) == "(0.0, 1)"


def test_an_ordinal_and_a_categorical_of_the_same_values_are_not_equal() -> None:
    pair: list[Attribute] = [Ordinal("a", values=(1, 2)), Categorical("a", values=(1, 2))]
    assert pair[0] != pair[1]


def test_attributes_and_their_errors_travel_between_processes() -> None:
    attribute = Ordinal("a", values=(1, 2), missing="class")
    assert pickle.loads(pickle.dumps(attribute)) == attribute  # noqa: S301  made in this test
    with pytest.raises(SchemaError) as caught:
        Continuous("age", low=5, high=5)
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  made in this test
    assert str(copy) == str(caught.value)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_finite_numbers_are_clipped_to_the_bounds_and_otherwise_unchanged(
    numbers: list[float],
) -> None:
    read = Continuous("x", low=-1.5, high=2.5).read(np.array(numbers))
    assert read.tolist() == [min(max(number, -1.5), 2.5) for number in numbers]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", 1, 2.5, False]), min_size=1))
def test_positions_lead_back_to_the_values(column: list[Any]) -> None:
    attribute = Categorical("x", values=(False, "a", 1, 2.5))
    assert [attribute.values[place] for place in attribute.read(column)] == column
