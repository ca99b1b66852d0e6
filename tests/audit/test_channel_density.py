from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from supm.audit import check_stated_epsilon, density_epsilon
from supm.mechanisms.randomizers.laplace import Laplace


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 50.0, 600.0])
@pytest.mark.parametrize("steps", [1, 16, 1024])
def test_the_stated_probabilities_give_the_epsilon_that_was_asked_for(
    epsilon: float, steps: int
) -> None:
    meter = Laplace.for_epsilon(low=-1, high=1, steps=steps, epsilon=epsilon)
    found = check_stated_epsilon(meter)
    assert found.passed
    assert not found.loose
    assert density_epsilon(meter) == pytest.approx(epsilon, rel=1e-6)


def test_what_floats_cannot_show_is_not_called_loose() -> None:
    found = check_stated_epsilon(Laplace.for_epsilon(low=0, high=1, epsilon=1e4))
    assert found.passed
    assert not found.loose


def test_claims_above_and_below_are_told_apart() -> None:
    meter = Laplace.for_epsilon(low=0, high=1, epsilon=1.0)
    assert check_stated_epsilon(meter, claimed=1.1).loose
    assert not check_stated_epsilon(meter, claimed=1 - 1e-6).passed


def test_a_report_that_only_some_inputs_can_make_breaks_any_claim() -> None:
    class Cut(Laplace):
        """The report is cut at a distance from the own point, which gives the point away."""

        def probability(self, index: int, symbols: ArrayLike) -> NDArray[np.float64]:
            far = np.abs(np.asarray(symbols) - index) > 2 * self.scale
            return np.where(far, 0.0, super().probability(index, symbols))

    cut = Cut.for_epsilon(low=0, high=1, steps=64, epsilon=1.0)
    assert density_epsilon(cut) > 600
    assert not check_stated_epsilon(cut).passed
    assert math.isfinite(density_epsilon(cut))
