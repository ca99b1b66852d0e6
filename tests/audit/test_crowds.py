from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import RandomSource, simulation
from supm.audit import check_crowd, check_long_calls, check_positions, entry, kinds
from supm.audit.crowds import _likelier_half
from supm.mechanisms import GeneralizedRandomizedResponse, HadamardResponse, LocalHashing, Reports
from supm.mechanisms.randomizers.laplace import Laplace


@pytest.mark.parametrize("name", kinds())
def test_all_that_is_shipped_passes(name: str) -> None:
    assert check_crowd(entry(name).mechanism, simulation(1)).passed


def test_a_selection_of_the_largest_alphabet_is_held() -> None:
    hashing = LocalHashing.for_epsilon(size=1 << 40, epsilon=1.0)
    found = check_crowd(hashing, simulation(1), draws=6400)
    assert found.passed
    assert found.detail.startswith("6400 owners of 100 inputs")


def test_to_refuse_a_type_is_not_a_defect() -> None:
    class Picky(GeneralizedRandomizedResponse):
        def randomize(self, values: object, source: RandomSource) -> Reports:
            if not isinstance(values, np.ndarray) or values.dtype != np.int64:
                message = "only int64"
                raise TypeError(message)
            return super().randomize(values, source)

    assert check_crowd(Picky.for_epsilon(size=5, epsilon=1.0), simulation(1)).passed


def test_no_more_than_a_few_p_values_are_small() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0)
    found = [check_crowd(coin, simulation(seed), draws=2000).statistic for seed in range(100)]
    assert sum(value < 0.05 for value in found if value is not None) <= 15


class OnePlaceTold(GeneralizedRandomizedResponse):
    """One place of a call is not randomised."""

    place: int

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        told = super().draw(symbols, source)
        if len(told) > 1:
            told[self.place] = symbols[self.place]
        return told


@pytest.mark.parametrize("place", [0, 1, 499, -1])
def test_one_place_that_is_not_randomised_is_found(place: int) -> None:
    leaky = OnePlaceTold.for_epsilon(size=4, epsilon=1.0)
    object.__setattr__(leaky, "place", place)
    found = check_positions(leaky, simulation(1), rows=1000)
    assert not found.passed
    assert f"(place {place % 1000})" in found.detail


@pytest.mark.parametrize(
    "honest",
    [
        GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=0.1),
        GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=20.0),
        HadamardResponse.for_epsilon(size=6, epsilon=1.0),
        Laplace.for_epsilon(low=0, high=1, epsilon=1.0),
    ],
    ids=lambda honest: type(honest).__name__,
)
def test_honest_mechanisms_are_rarely_accused(
    honest: GeneralizedRandomizedResponse | HadamardResponse | Laplace,
) -> None:
    found = [
        check_positions(honest, simulation(seed), calls=20, rows=500, error=0.05).passed
        for seed in range(20)
    ]
    assert found.count(False) <= 3


def test_the_likelier_half_is_the_likeliest_cells() -> None:
    likely, share = _likelier_half(np.array([0.1, 0.4, 0.2, 0.3]))
    assert likely.tolist() == [False, True, False, True]
    assert share == pytest.approx(0.7)


@pytest.mark.parametrize("name", kinds())
def test_long_calls_of_all_that_is_shipped_pass(name: str) -> None:
    assert check_long_calls(entry(name).mechanism, simulation(1), rows=2050).passed
