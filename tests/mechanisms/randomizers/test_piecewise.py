"""The piecewise mechanism against its paper, in the limit. Proof: docs/proofs/piecewise.md."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from supm.mechanisms.randomizers import piecewise
from supm.mechanisms.randomizers.duchi import Duchi
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.randomizer import Reports
from supm.mechanisms.randomizers.window import SlidingWindow, WindowShapes

STEPS = 1 << 17
epsilons = pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 5.0])


def fine(epsilon: float) -> Piecewise:
    return Piecewise.for_epsilon(low=-1, high=1, epsilon=epsilon, steps=STEPS)


@epsilons
def test_the_window_and_its_chance_near_those_of_the_paper(epsilon: float) -> None:
    mechanism = fine(epsilon)
    root = math.exp(epsilon / 2)
    farthest = (root + 1) / (root - 1)
    assert mechanism.window / mechanism.steps == pytest.approx(1 / root, rel=1e-4)
    share = mechanism.window / mechanism.outcomes
    assert share == pytest.approx((farthest - 1) / (2 * farthest), rel=1e-4)
    assert mechanism.threshold / 2**64 == pytest.approx(root / (root + 1), rel=1e-4)


@epsilons
def test_reports_reach_as_far_as_in_the_paper(epsilon: float) -> None:
    mechanism = fine(epsilon)
    root = math.exp(epsilon / 2)
    farthest = (root + 1) / (root - 1)
    ends = Reports(symbols=np.array([0, mechanism.outcomes - 1]), simulation=True)
    np.testing.assert_allclose(mechanism.decode(ends), [-farthest, farthest], rtol=1e-3)


@epsilons
@pytest.mark.parametrize("value", [-1.0, -0.4, 0.0, 0.9, 1.0])
def test_the_window_starts_where_the_paper_puts_it(epsilon: float, value: float) -> None:
    mechanism = fine(epsilon)
    root = math.exp(epsilon / 2)
    farthest = (root + 1) / (root - 1)
    left = (farthest + 1) / 2 * value - (farthest - 1) / 2
    start = round((value + 1) / 2 * STEPS)
    edges = Reports(symbols=np.array([start, start + mechanism.window - 1]), simulation=True)
    np.testing.assert_allclose(
        mechanism.decode(edges), [left, left + farthest - 1], rtol=1e-3, atol=1e-3
    )


@epsilons
@pytest.mark.parametrize("value", [-1.0, -0.4, 0.0, 0.9, 1.0])
def test_the_variance_nears_the_formula_of_the_paper(epsilon: float, value: float) -> None:
    root = math.exp(epsilon / 2)
    limit = value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    assert fine(epsilon).variance(value) == pytest.approx(limit, rel=2e-4)


def test_one_step_makes_it_duchis_mechanism() -> None:
    one_step = Piecewise.for_epsilon(low=-2, high=7, epsilon=1.5, steps=1)
    duchi = Duchi.for_epsilon(low=-2, high=7, epsilon=1.5)
    assert one_step.exact_channel() == duchi.exact_channel()
    assert one_step.variance(3.3) == duchi.variance(3.3)


def worst(mechanism: Piecewise) -> float:
    places = np.r_[np.linspace(0, 1, 21), mechanism.steps / 2, mechanism.steps / 2 + 0.5]
    return max(mechanism.variance(value) for value in mechanism.grid.place(places))


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 4.0, 8.0, 12.0, 30.0, 1e4])
def test_the_optimised_window_is_the_best_of_all(epsilon: float) -> None:
    best = Piecewise.optimised(low=0, high=1, epsilon=epsilon, steps=60)
    windows = [Piecewise.with_window(best.grid, width, epsilon) for width in range(1, 61)]
    assert worst(best) == pytest.approx(min(map(worst, windows)), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "gain"), [(1.0, 0.97), (4.0, 0.68), (10.0, 0.24)])
def test_the_optimised_window_gains_what_the_documentation_says(
    epsilon: float, gain: float
) -> None:
    of: list[Callable[..., Piecewise]] = [Piecewise.optimised, Piecewise.for_epsilon]
    ours, paper = (worst(make(low=-1, high=1, epsilon=epsilon)) for make in of)
    assert ours / paper == pytest.approx(gain, abs=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_grid_costs_little_at_the_default_steps(epsilon: float) -> None:
    default = Piecewise.for_epsilon(low=-1, high=1, epsilon=epsilon)
    assert default.variance(0.3) == pytest.approx(fine(epsilon).variance(0.3), rel=0.02)


@pytest.mark.parametrize("steps", [1, 2, 3, 20])
@pytest.mark.parametrize("epsilon", [0.1, 3.0, 9.0, 30.0])
def test_the_largest_variance_is_where_the_proof_puts_it(steps: int, epsilon: float) -> None:
    stated = piecewise._worst_spread(WindowShapes(steps=steps, epsilon=epsilon))
    for width in {1, steps // 2 + 1, steps}:
        window = SlidingWindow.for_epsilon(steps=steps, width=width, epsilon=epsilon)
        everywhere = max(window.spread(place) for place in np.linspace(0, steps, 40 * steps + 1))
        assert stated[width - 1] == pytest.approx(everywhere, rel=1e-3)
