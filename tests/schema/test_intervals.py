from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from supm._errors import SchemaError
from supm.schema import Categorical, Continuous, CutPoints, EqualWidth, Ordinal

RANGES = [
    (0.0, 1.0),
    (-1.0, 1.0),
    (-120.5, -3.25),
    (0.1, 0.7),
    (0.0, 1e308),
    (-8e307, 9e307),
    (1e308, 1.7e308),
    (0.0, 1e-300),
    (0.0, 64 * 5e-324),
    (1.0, 1.0 + 2**-40),
    (1e15, 1e15 + 10),
]
bounds = st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))


def _edge_cases(low: float, high: float, cuts: tuple[float, ...]) -> list[float]:
    edges = [low, *cuts, high]
    near = [(math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf)) for edge in edges]
    return [*edges, *itertools.chain.from_iterable(near)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("classes", [2, 3, 4, 7, 32])
def test_equal_widths_agree_with_the_same_cut_points_at_and_around_every_edge(
    low: float, high: float, classes: int
) -> None:
    attribute = Continuous("x", low=low, high=high)
    equal = EqualWidth(attribute, classes=classes)
    cut = CutPoints(attribute, cuts=equal.cuts)
    xs = _edge_cases(low, high, equal.cuts)
    encoded = equal.encode(xs)
    assert encoded.tolist() == cut.encode(xs).tolist()
    assert encoded[: classes + 1].tolist() == [0, *range(classes - 1), classes - 1]
    assert equal.size == cut.size == classes
    assert equal.labels == cut.labels
    assert len(set(equal.labels)) == classes


@settings(deadline=None)
@given(bounds, st.integers(2, 40), st.lists(st.floats(-2e300, 2e300), max_size=20))
def test_equal_widths_agree_with_the_same_cut_points_everywhere(
    pair: tuple[float, float], classes: int, others: list[float]
) -> None:
    low, high = pair
    assume(low < high)
    attribute = Continuous("x", low=low, high=high)
    try:
        equal = EqualWidth(attribute, classes=classes)
    except SchemaError:
        assume(False)
    xs = [*_edge_cases(low, high, equal.cuts), *others]
    assert equal.encode(xs).tolist() == CutPoints(attribute, cuts=equal.cuts).encode(xs).tolist()


@settings(deadline=None)
@given(bounds, st.integers(2, 40), st.fractions(0, 1))
def test_equal_widths_follow_the_exact_formula_except_where_an_edge_was_rounded(
    pair: tuple[float, float], classes: int, share: Fraction
) -> None:
    low, high = pair
    # Next to 0 the steps between numbers are as wide as the range itself.
    assume(low < high and high - low > max(1e-300, 1e-6 * max(abs(low), abs(high))))
    x = float(Fraction(low) + (Fraction(high) - Fraction(low)) * share)
    scaled = (Fraction(x) - Fraction(low)) * classes / (Fraction(high) - Fraction(low))
    exact = min(max(math.ceil(scaled), 1), classes)
    ours = int(EqualWidth(Continuous("x", low=low, high=high), classes=classes).encode([x])[0]) + 1
    on_an_edge = abs(scaled - round(scaled)) < 1e-8
    assert ours == exact or (on_an_edge and abs(ours - exact) == 1)


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("classes", [2, 5, 32])
def test_the_number_of_a_class_lies_in_that_class_and_is_the_middle(
    low: float, high: float, classes: int
) -> None:
    attribute = Continuous("x", low=low, high=high)
    equal = EqualWidth(attribute, classes=classes)
    assert equal.encode(equal.representatives).tolist() == list(range(classes))
    middles = CutPoints(attribute, cuts=equal.cuts).representatives
    assert np.allclose(equal.representatives, middles, rtol=1e-12, atol=5e-324)


def test_equal_widths_stand_for_the_values_that_the_paper_prints() -> None:
    printed = [10 + (2 * place - 1) * 40 / 10 for place in range(1, 6)]
    assert (
        EqualWidth(Continuous("x", low=10, high=50), classes=5).representatives.tolist() == printed
    )


@pytest.mark.parametrize(("low", "high"), [(0.0, 5e-324), (1.0, math.nextafter(1.0, 2.0))])
def test_a_range_without_room_for_the_classes_is_refused(low: float, high: float) -> None:
    with pytest.raises(SchemaError, match="attribute 'x': its range is too narrow for 4 classes"):
        EqualWidth(Continuous("x", low=low, high=high), classes=4)


CUTS: list[Any] = [
    (),
    (0.0,),
    (1.0,),
    (-0.5,),
    (0.5, 0.5),
    (0.6, 0.5),
    (float("nan"),),
    (0.5, float("inf")),
    ("0.5",),
    "0.5",
    (None,),
    (True,),
    (10**400,),
    0.5,
    None,
    {0.5},
    np.array([[0.5]]),
]


@pytest.mark.parametrize("cuts", CUTS)
def test_cut_points_that_do_not_rise_between_the_bounds_are_refused(cuts: Any) -> None:
    with pytest.raises(SchemaError, match="attribute 'x': cuts"):
        CutPoints(Continuous("x", low=0, high=1), cuts=cuts)


def test_cut_points_may_come_as_a_list_or_an_array() -> None:
    attribute = Continuous("x", low=0, high=1)
    from_list = CutPoints(attribute, cuts=[0.25, 0.5])  # type: ignore[arg-type]
    from_array = CutPoints(attribute, cuts=np.array([0.25, 0.5]))  # type: ignore[arg-type]
    assert from_list == from_array == CutPoints(attribute, cuts=(0.25, 0.5))
    assert hash(from_list) == hash(from_array)


@pytest.mark.parametrize(
    "attribute", [Ordinal("x", values=(0, 1)), Categorical("x", values=(0, 1)), "x", None]
)
def test_intervals_need_a_continuous_attribute(attribute: Any) -> None:
    with pytest.raises(SchemaError, match="needs an attribute of kind Continuous"):
        EqualWidth(attribute, classes=2)
    with pytest.raises(SchemaError, match="needs an attribute of kind Continuous"):
        CutPoints(attribute, cuts=(0.5,))


def test_missing_numbers_are_the_last_class_with_the_number_in_the_middle() -> None:
    attribute = Continuous("x", low=0, high=10, missing="class")
    for discretizer in (EqualWidth(attribute, classes=2), CutPoints(attribute, cuts=(5,))):
        assert discretizer.size == 3
        assert discretizer.encode([1, None, 9, float("nan")]).tolist() == [0, 2, 1, 2]
        assert discretizer.labels == ("[0, 5]", "(5, 10]", "missing")
        assert discretizer.representatives.tolist() == [2.5, 7.5, 5.0]


def test_labels_have_as_many_digits_as_keep_the_edges_apart() -> None:
    thirds = EqualWidth(Continuous("x", low=0, high=1), classes=3)
    assert thirds.labels == ("[0, 0.333333]", "(0.333333, 0.666667]", "(0.666667, 1]")
    narrow = EqualWidth(Continuous("x", low=1e15, high=1e15 + 2), classes=2)
    assert narrow.labels[0] == "[1000000000000000, 1000000000000001]"
