"""A permutation is uniform among all orders, and a tie of keys is drawn again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from supm import ParameterError, RandomSource, secure, simulation


@pytest.mark.parametrize("source", [secure(), simulation(5)], ids=["secure", "simulation"])
def test_all_orders_of_four_are_equally_likely(source: RandomSource) -> None:
    orders = {order: place for place, order in enumerate(itertools.permutations(range(4)))}
    found = [orders[tuple(source.permutation(4).tolist())] for _ in range(24_000)]
    assert chisquare(np.bincount(found, minlength=24)).pvalue > 1e-11


def test_a_long_permutation_holds_every_number_once_and_is_not_sorted() -> None:
    order = simulation(1).permutation(100_000)
    assert np.array_equal(np.sort(order), np.arange(100_000))
    assert abs(float(np.corrcoef(order, np.arange(100_000))[0, 1])) < 0.02


def test_a_tie_of_keys_is_drawn_again() -> None:
    class Tied(RandomSource):
        """Gives equal keys first, and keys in falling order after that."""

        calls = 0

        def words(self, count: int) -> NDArray[np.uint64]:
            """Return the script."""
            Tied.calls += 1
            falling = np.arange(count, 0, -1, dtype=np.uint64)
            return np.zeros(count, dtype=np.uint64) if Tied.calls == 1 else falling

    assert Tied(bytes(32)).permutation(3).tolist() == [2, 1, 0]
    assert Tied.calls == 2


def test_none_and_one_have_one_order_and_a_negative_number_has_none() -> None:
    assert simulation(1).permutation(0).tolist() == []
    assert simulation(1).permutation(1).tolist() == [0]
    with pytest.raises(ParameterError, match="count must be"):
        simulation(1).permutation(-1)
