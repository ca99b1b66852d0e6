"""What summed discrete Gaussians promise: figures, rounding and refusals.

The law behind it is checked in tests/numerical/test_noise_discrete_gaussian.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from supm._errors import ParameterError
from supm.mechanisms import sigma_for, summed_mu
from supm.mechanisms.noise import summed_gaussian
from supm.mechanisms.noise.summed_gaussian import LARGEST_MU, LEAST_SIGMA


@pytest.mark.parametrize("sensitivity", [1.0, math.sqrt(2) * 2**16, 2.0**36])
@pytest.mark.parametrize("sigma", [7, 1000, 2**37, 2**45])
@pytest.mark.parametrize("holders", [1, 3, 2**20])
def test_mu_is_the_formula_rounded_up(sensitivity: float, sigma: int, holders: int) -> None:
    exact = (Fraction(sensitivity) * (1 + Fraction(1, 10**9))) ** 2 / (holders * sigma**2 - 16)
    if exact > 100:
        with pytest.raises(ParameterError, match="so that mu is at most 10"):
            summed_mu(sensitivity=sensitivity, sigma=sigma, holders=holders)
        return
    mu = summed_mu(sensitivity=sensitivity, sigma=sigma, holders=holders)
    assert Fraction(mu) ** 2 >= exact
    assert Fraction(repr(mu)) ** 2 >= exact
    assert mu == pytest.approx(math.sqrt(exact), rel=1e-14)


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.1, 0.25, 1.0, 3.7, 10.0])
@pytest.mark.parametrize("sensitivity", [1.0, 12.5, 2.0**16, 2.0**30])
@pytest.mark.parametrize("holders", [1, 2, 7, 1000])
def test_sigma_is_the_least_that_keeps_mu(mu: float, sensitivity: float, holders: int) -> None:
    if sensitivity / mu / math.sqrt(holders) > 2**45:
        with pytest.raises(ParameterError, match=r"mu must be at least .* A coarser grid"):
            sigma_for(mu=mu, sensitivity=sensitivity, holders=holders)
        return
    sigma = sigma_for(mu=mu, sensitivity=sensitivity, holders=holders)
    assert summed_mu(sensitivity=sensitivity, sigma=sigma, holders=holders) <= mu
    if sigma > LEAST_SIGMA:
        try:
            less = summed_mu(sensitivity=sensitivity, sigma=sigma - 1, holders=holders)
        except ParameterError:
            less = math.inf
        assert less > mu


def test_too_little_noise_names_the_least_that_is_enough() -> None:
    with pytest.raises(ParameterError, match="sigma must be at least 11, so that mu") as caught:
        summed_mu(sensitivity=100.0, sigma=10, holders=1)
    assert "got 10" in str(caught.value)
    assert summed_mu(sensitivity=100.0, sigma=11, holders=1) <= LARGEST_MU


def test_more_holders_need_less_noise_each() -> None:
    assert sigma_for(mu=1.0, sensitivity=1e6, holders=100) == pytest.approx(1e5, rel=1e-4)
    assert sigma_for(mu=1.0, sensitivity=1e6, holders=1) == pytest.approx(1e6, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("sensitivity", summed_gaussian._SENSITIVITY),
        ("sigma", summed_gaussian._SIGMA),
        ("holders", summed_gaussian._HOLDERS),
    ],
)
def test_bad_numbers_are_refused(name: str, declared: Any) -> None:
    good: dict[str, Any] = {"sensitivity": 10.0, "sigma": 100, "holders": 3}
    for bad in declared.violations():
        with pytest.raises(ParameterError, match=name):
            summed_mu(**{**good, name: bad})


@pytest.mark.parametrize("bad", summed_gaussian._MU.violations())
def test_a_bad_mu_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="mu"):
        sigma_for(mu=bad, sensitivity=10.0, holders=3)
