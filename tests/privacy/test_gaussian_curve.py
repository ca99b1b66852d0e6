"""The curve against 350 digits, numerical integration, published values and dp-accounting."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from typing import Any

import dp_accounting
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from supm.privacy import promise_numbers as curve
from supm.privacy.promise_numbers import decimal

mpmath: Any = importlib.import_module("mpmath")

MUS = [1e-8, 3e-6, 1e-3, 0.03, 0.3, 0.999999, 1.0, 1.5, 4.0, 20.0, 100.0]
EPSILONS = [0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0, 300.0, 1e4]
DELTAS = [1e-300, 1e-100, 1e-12, 1e-6, 1e-3, 0.1, 0.5]


def exact_log_delta(epsilon: float, mu: float) -> Any:
    """The definition of the curve, by brute precision."""
    with mpmath.workdps(350):
        e, m = (mpmath.mpf(x.numerator) / x.denominator for x in map(decimal, (epsilon, mu)))
        first = mpmath.erfc((e / m - m / 2) / mpmath.sqrt(2))
        second = mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / mpmath.sqrt(2))
        return mpmath.log((first - second) / 2)


def slack(log_delta: float) -> float:
    return curve._ABSOLUTE_SLACK + curve._RELATIVE_SLACK * abs(log_delta)


def points() -> list[tuple[float, float]]:
    # Along each mu, the epsilons where delta goes from about 0.5 to about 1e-300, and the corners.
    along = [(mu * (mu / 2 + t), mu) for mu in MUS for t in (-mu / 2, 0.0, 0.5, 5.0, 20.0, 37.0)]
    return [(max(e, 0.0), mu) for e, mu in along if e <= 1e12]


@pytest.mark.parametrize(("epsilon", "mu"), points())
def test_equations_4_to_6_hold_to_a_quarter_of_the_slack(epsilon: float, mu: float) -> None:
    truth = exact_log_delta(epsilon, mu)
    error = float(abs(curve._log_delta(epsilon, mu) - truth))
    assert error < slack(float(truth)) / 4


@given(st.floats(-8, 2), st.floats(0, 38))
@settings(max_examples=150, deadline=None)
def test_equation_4_delta_is_rounded_up_and_hardly(log_mu: float, t: float) -> None:
    mu = 10.0**log_mu
    epsilon = mu * (mu / 2 + t)
    truth = exact_log_delta(epsilon, mu)
    claimed = mpmath.log(mpmath.mpf(curve.delta_above(epsilon, mu)))
    assert claimed >= truth
    # Below 1e-307 floats are too coarse for a relative claim.
    assert claimed - truth < 1e-11 or truth < -707


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
def test_equation_1_the_curve_is_the_integrated_hockey_stick(mu: float, epsilon: float) -> None:
    def excess(x: float) -> float:
        return max(float(norm.pdf(x, loc=mu) - math.exp(epsilon) * norm.pdf(x)), 0.0)

    start = epsilon / mu + mu / 2
    area, error = quad(excess, start, start + 40.0, epsabs=1e-14, epsrel=1e-12, limit=400)
    assert curve.delta_above(epsilon, mu) == pytest.approx(area, rel=1e-8, abs=2 * error)


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    [(0.005, 298.6), (0.025, 80.9), (0.05, 44.8), (0.25, 10.9), (0.5, 5.89), (1.0, 3.19)],
)
def test_the_noise_of_the_analytic_mechanism_is_as_tabulated(epsilon: float, sigma: float) -> None:
    digits = len(str(sigma).split(".")[1])
    assert round(1.0 / curve.mu_below(epsilon, 1e-4), digits) == sigma


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 5.0])
def test_epsilon_agrees_with_the_analytic_accountant(mu: float, delta: float) -> None:
    theirs = dp_accounting.get_epsilon_gaussian(1.0 / mu, delta)
    assert curve.epsilon_above(delta, mu) == pytest.approx(theirs, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu", MUS)
def test_the_claimed_epsilon_is_enough_and_a_little_less_is_not(mu: float, delta: float) -> None:
    epsilon = curve.epsilon_above(delta, mu)
    most = mpmath.log(exact_number(delta))
    assert exact_log_delta(epsilon, mu) <= most
    if epsilon > 0.0:
        # A relative step moves log delta by (epsilon / mu)^2 times the step or so.
        less = epsilon * (1.0 - 1e-9)
        assert exact_log_delta(less, mu) > most


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_claimed_mu_is_allowed_and_a_little_more_is_not(epsilon: float, delta: float) -> None:
    mu = curve.mu_below(epsilon, delta)
    most = mpmath.log(exact_number(delta))
    assert exact_log_delta(epsilon, mu) <= most
    assert exact_log_delta(epsilon, mu * (1.0 + 1e-9)) > most


@given(st.floats(1e-6, 1e4), st.floats(-300, -0.302))
@settings(max_examples=50, deadline=None)
def test_what_the_inverses_return_passes_the_curve(epsilon: float, log_delta: float) -> None:
    delta = 10.0**log_delta
    mu = curve.mu_below(epsilon, delta)
    assert curve.delta_above(epsilon, mu) <= delta
    assert curve.delta_above(curve.epsilon_above(delta, mu), mu) <= delta


@given(st.floats(0, 1e3), st.floats(0, 1e3), st.floats(1e-8, 100), st.floats(1e-8, 100))
@settings(deadline=None)
def test_delta_falls_with_epsilon_and_rises_with_mu(
    epsilon: float, more: float, mu: float, more_mu: float
) -> None:
    slackened = curve.delta_above(epsilon, mu) * (1 + 1e-11)
    assert curve.delta_above(epsilon + more, mu) <= slackened
    assert curve.delta_above(epsilon, mu + more_mu) * (1 + 1e-11) >= curve.delta_above(epsilon, mu)


def test_no_noise_difference_means_no_delta_and_no_epsilon() -> None:
    assert curve.delta_above(0.0, 0.0) == 0.0
    assert curve.epsilon_above(1e-9, 0.0) == 0.0


@pytest.mark.parametrize("mu", [5e-324, 1e-300, 1e-120, 1e-9, 1e6])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1.0, 1e12])
def test_the_ends_of_the_range_give_a_positive_number(epsilon: float, mu: float) -> None:
    assert 0.0 < curve.delta_above(epsilon, mu) <= 1.0


@pytest.mark.parametrize("delta", [5e-324, 1e-310, 1e-300, math.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("mu", [1e-8, 1.0, 1e6])
def test_the_ends_of_the_range_give_a_finite_epsilon(mu: float, delta: float) -> None:
    assert 0.0 <= curve.epsilon_above(delta, mu) <= 1e12


@pytest.mark.parametrize("delta", [5e-324, 0.5, math.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("epsilon", [0.0, 1e12])
def test_the_ends_of_the_range_give_an_admissible_mu(epsilon: float, delta: float) -> None:
    assert 0.0 <= curve.mu_below(epsilon, delta) <= 1e6


def exact_number(delta: float) -> Any:
    named: Fraction = decimal(delta)
    with mpmath.workdps(350):
        return mpmath.mpf(named.numerator) / named.denominator
