"""The public grid: rounding that keeps the expectation, and refusals that show no value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from supm._errors import ParameterError, RecordError
from supm._random import simulation
from supm.mechanisms.randomizers import numeric
from supm.mechanisms.randomizers.numeric import STEPS, PublicGrid

# A value that must never be seen in a message, and the pieces of it that a message could hold.
SECRET = 41.271828
TRACES = ("41.27", "271828")

BAD_VALUES: list[Any] = [
    [SECRET, math.nan],
    [SECRET, math.inf],
    [SECRET, -math.inf],
    [SECRET, 1e9],
    [SECRET, math.nextafter(50.0, math.inf)],
    [SECRET, math.nextafter(-50.0, -math.inf)],
    [str(SECRET)],
    [SECRET, "1"],
    [True, False],
    [SECRET, None],
    [SECRET + 1j],
    [[SECRET], [SECRET]],
    [[SECRET], [SECRET, SECRET]],
    SECRET,
    [],
    np.array([SECRET], dtype=object),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([SECRET, 10.0**300], dtype=np.longdouble) * 10.0**300,
    None,
    {"value": SECRET},
]


def grid_of(steps: int = 8) -> PublicGrid:
    return PublicGrid(low=-50, high=50, steps=steps)


@pytest.mark.parametrize("values", BAD_VALUES)
def test_a_value_that_is_no_number_of_the_range_is_refused_and_not_shown(values: Any) -> None:
    with pytest.raises(RecordError) as refusal:
        grid_of().check(values)
    assert not any(trace in str(refusal.value) for trace in TRACES)
    # With a cause or a context shown, a traceback would print the inner message.
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float16", "float32", "longdouble"])
def test_any_real_type_of_number_is_read(dtype: str) -> None:
    checked = grid_of().check(np.array([0, 1, 50], dtype=dtype))
    assert checked.dtype == np.float64
    assert checked.tolist() == [0, 1, 50]


@pytest.mark.parametrize("bad", numeric._LOW.violations())
def test_bad_bounds_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="low must be"):
        PublicGrid(low=bad, high=1, steps=4)
    with pytest.raises(ParameterError, match="high must be"):
        PublicGrid(low=0, high=bad, steps=4)


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (1, 0), (0.0, -0.0), (0, 5e-324), (1e100, -1e100)]
)
def test_bounds_must_be_in_order_and_apart(low: float, high: float) -> None:
    with pytest.raises(ParameterError, match="high must be above low"):
        PublicGrid(low=low, high=high, steps=4)


@pytest.mark.parametrize("bad", STEPS.violations())
def test_bad_steps_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="steps must be"):
        PublicGrid(low=0, high=1, steps=bad)


@given(
    st.floats(-1e100, 1e100),
    st.floats(-1e100, 1e100),
    st.integers(1, 1 << 20),
    st.floats(0, 1),
    st.integers(0, 1 << 30),
)
def test_a_value_goes_to_a_neighbouring_point_and_bounds_stay(
    first: float, second: float, steps: int, share: float, seed: int
) -> None:
    low, high = sorted((first, second))
    if high - low < 1e-100:
        return
    grid = PublicGrid(low=low, high=high, steps=steps)
    value = min(max(low + share * (high - low), low), high)
    indices = grid.locate(grid.check([low, value, high]), simulation(seed))
    assert indices[0] == 0
    assert indices[2] == steps
    position = float(grid.position(np.array([value]))[0])
    assert math.floor(position) <= indices[1] <= math.ceil(position)


@pytest.mark.parametrize("fraction", [0.001, 0.25, 0.5, 0.75, 0.999])
def test_the_chance_to_go_up_is_the_fraction_of_the_step(fraction: float) -> None:
    grid = PublicGrid(low=10, high=18, steps=4)
    values = grid.place(np.full(200_000, 2 + fraction))
    indices = grid.locate(values, simulation(1))
    ups = int((indices == 3).sum())
    assert ups + int((indices == 2).sum()) == len(values)
    assert stats.binomtest(ups, len(values), fraction).pvalue > 1e-7


def test_points_go_where_they_are() -> None:
    grid = PublicGrid(low=-3, high=5, steps=64)
    assert grid.locate(grid.points(), simulation(1)).tolist() == list(range(65))


def test_points_of_an_awkward_grid_are_within_rounding_of_a_whole_position() -> None:
    grid = PublicGrid(low=0.1, high=0.7, steps=1000)
    np.testing.assert_allclose(grid.position(grid.points()), np.arange(1001), atol=1e-11)


def test_every_value_draws_one_word_wherever_it_lies() -> None:
    grid = grid_of(4)
    on, between = simulation(3), simulation(3)
    grid.locate(np.array([-50.0, 0.0, 50.0]), on)
    grid.locate(np.array([-49.0, 0.3, 7.0]), between)
    assert on.words(1) == between.words(1)


def test_no_grid_point_lies_beyond_the_bounds_however_unequal_they_are() -> None:
    grid = PublicGrid(low=-1e6, high=3e-9, steps=1)
    points = grid.points()
    assert points[-1] == grid.high
    assert grid.check(points).tolist() == points.tolist()
