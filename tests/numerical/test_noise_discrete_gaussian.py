"""Lemmas and theorems of docs/proofs/discrete-gaussian.md, with many digits and small widths.

At the widths that are allowed the discrete law differs from the normal one after a hundred digits.
So the lemmas are checked where the difference is large enough to be seen: at widths 1 and 2.
"""

from __future__ import annotations

import importlib
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm.mechanisms import DiscreteGaussian, summed_mu
from supm.privacy import GaussianDP, Neighbours

# It ships no types; what crosses its border is a number.
mpmath: Any = importlib.import_module("mpmath")
DIGITS = 60


def weight(distance: Any, variance: Any) -> Any:
    return mpmath.exp(-(mpmath.mpf(distance) ** 2) / (2 * variance))


def rho(variance: Any) -> Any:
    """Return the bound of (2)."""
    return mpmath.mpf("2.0001") * mpmath.exp(-2 * mpmath.pi**2 * variance)


def law(variance: Any, reach: int) -> list[Any]:
    weights = [weight(n, variance) for n in range(-reach, reach + 1)]
    return [each / mpmath.fsum(weights) for each in weights]


@pytest.mark.parametrize("variance", [0.5, 1, 2, 4])
@pytest.mark.parametrize("x", [0, 0.125, 0.25, 0.5, 7.3])
def test_sums_of_weights_ripple_as_little_as_equation_2_says(variance: float, x: float) -> None:
    with mpmath.workdps(DIGITS):
        total = mpmath.fsum(weight(m - mpmath.mpf(x), variance) for m in range(-80, 90))
        ripple = total / mpmath.sqrt(2 * mpmath.pi * variance) - 1
        assert abs(ripple) <= rho(variance)
        if x == 0:
            assert ripple > rho(variance) * mpmath.mpf("0.999")


@pytest.mark.parametrize(("t", "holders"), [*product([1, 2, 4], [2, 3, 5])])
def test_a_sum_of_discrete_gaussians_is_one_as_closely_as_lemma_1_says(
    t: int, holders: int
) -> None:
    reach = 40
    with mpmath.workdps(DIGITS):
        one = total = law(mpmath.mpf(t), reach)
        for _ in range(holders - 1):
            total = convolved(total, one)
        whole = law(mpmath.mpf(holders * t), (len(total) - 1) // 2)
        middle = len(total) // 2
        differences = [
            abs(mpmath.log(total[middle + n] / whole[middle + n])) for n in range(-12, 13)
        ]
        ripple = rho(mpmath.mpf(t) / 2)
        bound = (holders - 1) * mpmath.log((1 + ripple) / (1 - ripple))
        assert max(differences) <= bound
        # For two holders the bound is nearly reached.
        assert holders > 2 or max(differences) > bound / 5


def convolved(first: list[Any], second: list[Any]) -> list[Any]:
    """Return the law of a sum, out to where neither list is cut."""
    size = len(first) + len(second) - 1
    return [
        mpmath.fsum(
            first[i] * second[n - i]
            for i in range(max(0, n - len(second) + 1), min(n, len(first) - 1) + 1)
        )
        for n in range(size)
    ]


@pytest.mark.parametrize(("variance", "rounding"), [(3, 1), (2, 0.5), (6, 2)])
def test_a_rounded_normal_is_discrete_as_closely_as_lemma_2_says(
    variance: float, rounding: float
) -> None:
    with mpmath.workdps(20):
        v, s = mpmath.mpf(variance), mpmath.mpf(rounding)
        exact = law(v, 40)
        bound = mpmath.log((1 + rho(s)) / (1 - rho(s)))
        for n in (0, 2):
            found = mpmath.quad(lambda x, n=n: rounded(n, x, v, s), [-10, -5, 0, 5, 12])
            assert abs(mpmath.log(found / exact[40 + n])) <= bound


def rounded(n: int, x: Any, variance: Any, rounding: Any) -> Any:
    """Return the density of x times the probability that x is rounded to n."""
    spread = variance - rounding
    density = weight(x, spread) / mpmath.sqrt(2 * mpmath.pi * spread)
    near = int(mpmath.nint(x))
    weights = [weight(m - x, rounding) for m in range(near - 16, near + 17)]
    return density * weight(n - x, rounding) / mpmath.fsum(weights)


def curve(epsilon: Any, mu: Any) -> Any:
    """Return delta as (4) of docs/proofs/gaussian-composition.md has it."""
    high, low = (mpmath.ncdf(sign * mu / 2 - epsilon / mu) for sign in (1, -1))
    return high - mpmath.exp(epsilon) * low


SLACK_CASES = [
    (m, epsilon)
    for m in ("1e-17", "1e-6", "0.1", "1", "9.99")
    for epsilon in ("0", "1e-20", "1e-3", "1", "30", "300")
    # Beyond this delta is below 10^-500.
    if float(epsilon) <= 50 * float(m)
]


@pytest.mark.parametrize(("m", "epsilon"), SLACK_CASES)
def test_the_slack_on_mu_covers_the_factor(m: str, epsilon: str) -> None:
    """Equation 8, at an eta that is 10^80 times what (4) allows."""
    with mpmath.workdps(1500):
        mu, e, eta = mpmath.mpf(m), mpmath.mpf(epsilon), mpmath.mpf("1e-36")
        assert mpmath.exp(eta) * curve(e - 2 * eta, mu) <= curve(e, mu * (1 + mpmath.mpf("1e-9")))


def summed_law(sigma: int, holders: int) -> NDArray[np.float64]:
    one = DiscreteGaussian(sigma).probability(np.arange(-16 * sigma, 16 * sigma + 1))
    total = one
    for _ in range(holders - 1):
        total = np.convolve(total, one)
    return total


def exact_delta(total: NDArray[np.float64], shift: int, epsilon: float) -> float:
    first = np.concatenate((total, np.zeros(shift)))
    second = np.concatenate((np.zeros(shift), total))
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@pytest.mark.parametrize("sigma", [6, 8, 20])
@pytest.mark.parametrize("holders", [1, 2, 3])
@pytest.mark.parametrize("shift", [1, 5, 8, 30])
def test_the_exact_curve_of_a_sum_is_below_the_promise(
    sigma: int, holders: int, shift: int
) -> None:
    mu = summed_mu(sensitivity=float(shift), sigma=sigma, holders=holders)
    promised = GaussianDP(mu=mu, neighbours=Neighbours.REPLACE_ONE)
    total = summed_law(sigma, holders)
    for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0):
        delta = exact_delta(total, shift, epsilon)
        if delta > 1e-12:
            assert delta <= promised.delta_at(epsilon)


@pytest.mark.parametrize("shift", [1, 8])
def test_the_promise_gives_little_away(shift: int) -> None:
    """At width 20 the rounding costs 2 % of the variance, and no more."""
    promised = GaussianDP(
        mu=summed_mu(sensitivity=float(shift), sigma=20, holders=1),
        neighbours=Neighbours.REPLACE_ONE,
    )
    exact = exact_delta(summed_law(20, 1), shift, 0.0)
    assert 0.97 * promised.delta_at(0.0) < exact <= promised.delta_at(0.0)


def test_the_exact_curve_in_two_dimensions_is_below_the_promise() -> None:
    """A change of (6, 8) is 10 long, and is worth as much as any other of this length."""
    one = DiscreteGaussian(8).probability(np.arange(-80, 81))
    first = np.outer(np.pad(one, (0, 6)), np.pad(one, (0, 8)))
    second = np.outer(np.pad(one, (6, 0)), np.pad(one, (8, 0)))
    promised = GaussianDP(
        mu=summed_mu(sensitivity=10.0, sigma=8, holders=1), neighbours=Neighbours.REPLACE_ONE
    )
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        delta = float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())
        assert 0.3 * promised.delta_at(epsilon) < delta <= promised.delta_at(epsilon)
