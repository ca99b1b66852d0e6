"""Averages over draws equal those over a list of all draws."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from supm.owner.draws import mean_over_draws, reachable_products

SIZES = [(2, 2, 4), (2,), (3, 3, 3), (2, 3, 4, 5, 5), (7, 2, 2, 9, 2, 9), (4, 6, 3, 2, 2, 12)]


def figure(product: int) -> float:
    """Return something that is no straight line, so that only the right weights give its mean."""
    return 1.0 / (product + 3.0)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_mean_is_that_over_a_list_of_all_draws(sizes: tuple[int, ...]) -> None:
    for sampled in range(1, len(sizes) + 1):
        draws = list(combinations(sizes, sampled))
        mean = sum(figure(math.prod(draw)) for draw in draws) / len(draws)
        assert mean_over_draws(sizes, (), sampled, figure) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
def test_what_is_drawn_for_certain_is_in_every_draw(sizes: tuple[int, ...]) -> None:
    places = range(len(sizes))
    for sampled in range(1, len(sizes) + 1):
        draws = list(combinations(places, sampled))
        for certain in range(min(sampled, 3) + 1):
            for told in combinations(places, certain):
                over = [draw for draw in draws if set(told) <= set(draw)]
                each = [figure(math.prod(sizes[place] for place in draw)) for draw in over]
                known = [sizes[place] for place in told]
                found = mean_over_draws(sizes, known, sampled, figure)
                assert found == pytest.approx(sum(each) / len(each), rel=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_products_are_those_of_all_draws(sizes: tuple[int, ...]) -> None:
    for sampled in range(1, len(sizes) + 1):
        products = {math.prod(draw) for draw in combinations(sizes, sampled)}
        assert reachable_products(sizes, sampled) == sorted(products)


def test_many_attributes_of_few_sizes_take_no_list() -> None:
    sizes = [2] * 500 + [3] * 500
    assert reachable_products(sizes, 12) == sorted(2**two * 3 ** (12 - two) for two in range(13))
    assert mean_over_draws(sizes, (), 1, float) == pytest.approx(2.5)
    # The mean of a product over draws of two: (E[x]^2 n - E[x^2]) / (n - 1).
    assert mean_over_draws(sizes, (), 2, float) == pytest.approx((6.25 * 1000 - 6.5) / 999)
