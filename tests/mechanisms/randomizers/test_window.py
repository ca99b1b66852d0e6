"""The sliding window: its channel, its sampler and its moments, against the definition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from supm._errors import ParameterError
from supm._random import simulation
from supm._validation import Integers
from supm.mechanisms.randomizers.window import SlidingWindow, WindowShapes
from supm.mechanisms.thresholds import WORDS

SHAPES = [(1, 1), (2, 1), (2, 2), (6, 1), (6, 2), (6, 5), (7, 7), (9, 4)]


def written_out(window: SlidingWindow) -> list[list[Fraction]]:
    """The channel by its definition: cell j is likely for input i if i <= j < i + width."""
    inside = Fraction(window.threshold, WORDS) / window.width
    outside = (1 - Fraction(window.threshold, WORDS)) / window.steps
    return [
        [inside if held <= cell < held + window.width else outside for cell in range(window.cells)]
        for held in range(window.steps + 1)
    ]


@pytest.mark.parametrize(("steps", "width"), SHAPES)
def test_the_channel_is_the_definition(steps: int, width: int) -> None:
    window = SlidingWindow.for_epsilon(steps=steps, width=width, epsilon=1.3)
    exact = written_out(window)
    assert window.exact_channel() == exact
    np.testing.assert_array_equal(
        window.channel(), [[float(cell) for cell in row] for row in exact]
    )


@pytest.mark.parametrize(("steps", "width"), SHAPES)
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 40.0])
def test_the_mean_and_the_variance_are_those_of_the_channel(
    steps: int, width: int, epsilon: float
) -> None:
    window = SlidingWindow.for_epsilon(steps=steps, width=width, epsilon=epsilon)
    middle = Fraction(window.cells - 1, 2)
    for held, row in enumerate(written_out(window)):
        readings = [Fraction(steps, 2) + (cell - middle) / window.slope for cell in range(len(row))]
        mean = sum(chance * reading for chance, reading in zip(row, readings, strict=True))
        assert mean == held
        square = sum(chance * (x - held) ** 2 for chance, x in zip(row, readings, strict=True))
        assert window.spread(float(held)) == pytest.approx(float(square), rel=1e-12)
        told = window.positions(np.arange(window.cells))
        np.testing.assert_allclose(told, [float(x) for x in readings], rtol=1e-12, atol=1e-12)


def test_between_points_the_variance_is_that_of_the_mixture() -> None:
    window = SlidingWindow.for_epsilon(steps=5, width=2, epsilon=1.0)
    readings = window.positions(np.arange(window.cells))
    row = 0.7 * window.channel()[3] + 0.3 * window.channel()[4]
    assert row @ readings == pytest.approx(3.3, rel=1e-12)
    assert window.spread(3.3) == pytest.approx(row @ (readings - 3.3) ** 2, rel=1e-12)


def test_no_input_draws_no_cell() -> None:
    window = SlidingWindow.for_epsilon(steps=5, width=2, epsilon=1.0)
    assert window.draw(np.empty(0, dtype=np.int64), simulation(1)).size == 0


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 30.0])
def test_the_shapes_of_all_widths_are_those_of_each(epsilon: float) -> None:
    shapes = WindowShapes(steps=7, epsilon=epsilon)
    for width in range(1, 8):
        window = SlidingWindow.for_epsilon(steps=7, width=width, epsilon=epsilon)
        assert shapes.slope[width - 1] == pytest.approx(float(window.slope), rel=1e-9)
        assert shapes.lost[width - 1] == pytest.approx(float(1 - window.slope), rel=1e-3)
        assert shapes.fixed[width - 1] == pytest.approx(window.spread(3.5 - 0.5) - _rest(window))


def _rest(window: SlidingWindow) -> float:
    """What the variance of input 3 of 0 … 7 adds to the part that all inputs share."""
    return 0.25 * float((1 - window.slope) / window.slope)


@pytest.mark.parametrize("bad", Integers("window", 1, 6).violations())
def test_a_window_wider_than_the_grid_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="window must be"):
        SlidingWindow(steps=6, width=bad, threshold=WORDS - 1)


@pytest.mark.parametrize("bad", [0, WORDS // 4, WORDS, -1, 0.5, True, None])
def test_a_threshold_that_says_nothing_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="threshold must be"):
        SlidingWindow(steps=6, width=2, threshold=bad)


def test_a_channel_too_large_to_be_listed_is_refused() -> None:
    window = SlidingWindow.for_epsilon(steps=1 << 20, width=1, epsilon=1.0)
    with pytest.raises(ParameterError, match="channel must be"):
        window.channel()
