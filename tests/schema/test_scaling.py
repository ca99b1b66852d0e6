"""Numbers on [-1, 1] and back."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from supm.schema import Continuous

LARGEST = sys.float_info.max
BOUNDS = [
    (0.0, 100.0),
    (-3.0, 5.0),
    (0.0, LARGEST),
    (-LARGEST, 0.0),
    (-LARGEST / 2.1, LARGEST / 2.1),
    (-LARGEST, -LARGEST / 2),
    (1e-308, 2e-308),
    (-5e-324, 5e-324),
    (1.0, math.nextafter(1.0, 2.0)),
    (1e16, 1e16 + 2.0),
]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_the_bounds_become_the_ends_of_the_scale_and_come_back(low: float, high: float) -> None:
    attribute = Continuous("x", low=low, high=high)
    ends = np.array([low, high])
    assert attribute.scaled(ends).tolist() == [-1.0, 1.0]
    assert attribute.unscaled(np.array([-1.0, 1.0])).tolist() == [low, high]


@given(
    low=st.floats(-1e300, 1e300),
    width=st.floats(1e-3, 1e300),
    share=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4),
)
def test_what_is_scaled_comes_back(low: float, width: float, share: list[float]) -> None:
    high = low + width
    assume(high > low)
    attribute = Continuous("x", low=low, high=high)
    values = np.clip(low + np.array(share) * (high - low), low, high)
    scaled = attribute.scaled(values)
    assert ((scaled >= -1.0) & (scaled <= 1.0)).all()
    slack = 1e-12 * max(abs(low), abs(high), high - low)
    np.testing.assert_allclose(attribute.unscaled(scaled), values, rtol=0, atol=slack)


def test_what_lies_beyond_is_held_at_the_ends() -> None:
    age = Continuous("age", low=20, high=60)
    assert age.scaled(np.array([0.0, 40.0, 99.0])).tolist() == [-1.0, 0.0, 1.0]
    assert age.unscaled(np.array([-7.0, 0.5, 7.0])).tolist() == [20.0, 50.0, 60.0]
