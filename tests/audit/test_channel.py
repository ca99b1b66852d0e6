from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from supm._random import simulation
from supm.audit import (
    check_channel,
    check_epsilon,
    check_inputs,
    check_outcomes,
    check_rows_sum_to_one,
    check_standard_error,
    check_stated_epsilon,
    density_epsilon,
    entry,
    exact_epsilon,
    kinds,
)
from supm.audit.subjects import Readable
from supm.mechanisms import FiniteChannel, GeneralizedRandomizedResponse
from supm.mechanisms.randomizers.laplace import Laplace

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


class Stated(GeneralizedRandomizedResponse):
    """Randomized response whose channel is what a test says it is."""

    channel_rows: list[list[Fraction]]

    def exact_channel(self) -> list[list[Fraction]]:
        return self.channel_rows


def stated(rows: list[list[Fraction]]) -> Stated:
    mechanism = Stated.for_epsilon(size=2, epsilon=1.0)
    object.__setattr__(mechanism, "channel_rows", rows)
    return mechanism


@given(st.lists(st.integers(1, 1 << 64), min_size=2, max_size=6))
def test_the_exact_epsilon_is_that_of_the_worst_pair(weights: list[int]) -> None:
    total = sum(weights)
    shifted = [weights[place:] + weights[:place] for place in range(len(weights))]
    channel = [[Fraction(weight, total) for weight in row] for row in shifted]
    assert exact_epsilon(channel) == pytest.approx(math.log(max(weights) / min(weights)))


def test_an_outcome_that_is_impossible_for_all_inputs_does_not_count() -> None:
    assert exact_epsilon([[HALF, HALF, Fraction(0)]] * 2) == 0.0


def test_zero_against_non_zero_is_infinite() -> None:
    found = check_epsilon(stated([[Fraction(1), Fraction(0)], [HALF, HALF]]))
    assert not found.passed
    assert found.statistic == math.inf


def test_a_claim_one_float_below_the_exact_epsilon_is_broken() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=1.0)
    assert check_epsilon(coin).passed
    assert not check_epsilon(coin, claimed=math.nextafter(coin.epsilon, 0.0)).passed


def test_a_claim_above_the_exact_epsilon_is_loose_and_not_broken() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=1.0)
    found = check_epsilon(coin, claimed=1.1)
    assert found.passed
    assert found.loose
    assert not check_epsilon(coin, claimed=1.0 + 1e-12).loose


def test_rows_that_do_not_sum_to_one_exactly_are_found() -> None:
    off = Fraction(1, 1 << 64)
    assert check_rows_sum_to_one(stated([[HALF, HALF], [HALF, HALF]])).passed
    assert not check_rows_sum_to_one(stated([[HALF, HALF], [HALF, HALF - off]])).passed


@pytest.mark.parametrize(
    "rows",
    [
        [[HALF, HALF]],
        [[HALF, HALF], [Fraction(1)]],
        [[THIRD, THIRD, THIRD], [THIRD, THIRD, THIRD]],
        [[Fraction(3, 2), -HALF], [HALF, HALF]],
    ],
)
def test_a_channel_of_the_wrong_shape_or_range_is_found(rows: list[list[Fraction]]) -> None:
    assert not check_inputs(stated(rows)).passed


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


ALL = [entry(name).mechanism for name in kinds()]


@pytest.mark.parametrize("mechanism", ALL, ids=kinds())
def test_all_that_is_shipped_agrees_with_itself(mechanism: FiniteChannel) -> None:
    if isinstance(mechanism, FiniteChannel):
        assert check_channel(mechanism).passed
        assert check_outcomes(mechanism, simulation(1)).passed
    if isinstance(mechanism, Readable):
        assert check_standard_error(mechanism, simulation(1)).passed


def test_a_channel_of_another_shape_is_broken() -> None:
    class Short(GeneralizedRandomizedResponse):
        def channel(self) -> NDArray[np.float64]:
            return super().channel()[1:]

    found = check_channel(Short.for_epsilon(size=3, epsilon=1.0))
    assert not found.passed
    assert found.detail == "channel has shape (2, 3), exact_channel (3, 3)"


def test_a_channel_that_is_not_a_number_is_broken() -> None:
    class Unknown(GeneralizedRandomizedResponse):
        def channel(self) -> NDArray[np.float64]:
            return super().channel() * np.nan

    assert not check_channel(Unknown.for_epsilon(size=3, epsilon=1.0)).passed
