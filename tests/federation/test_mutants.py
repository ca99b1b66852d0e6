"""What a reader broke without any test noticing: each is noticed here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm.federation import Circle, Discriminant, Margin, VectorEncoding, _margin_noise
from supm.federation.calibration import histogram_mu
from supm.federation.rows import GRID
from supm.federation.secure_sum.shamir import SHARE_BYTES, open_secret, split_secret
from supm.federation.study import _rounded_up
from supm.mechanisms import LossBounds, sigma_for
from supm.mechanisms.noise.objective import ObjectivePerturbation

ENCODING = VectorEncoding(width=3, classes=3)
BUDGET: dict[str, Any] = {"encoding": ENCODING, "epsilon": 1.0, "delta": 1e-5}


def test_those_who_may_be_lost_are_not_counted_on() -> None:
    assert Circle(parties=7, colluders=1, dropouts=2).holders == 4
    safe = Discriminant.for_budget(circle=Circle(parties=7, colluders=1, dropouts=2), **BUDGET)
    fewer = Discriminant.for_budget(circle=Circle(parties=7, colluders=1), **BUDGET)
    assert safe.noise.sums / fewer.noise.sums == pytest.approx(math.sqrt(6 / 4), rel=1e-3)


def test_a_record_that_moves_touches_two_cells_of_the_histogram() -> None:
    # Replacing a record takes one from a cell and gives one to another: the square root of two.
    assert histogram_mu(10 * GRID, 1) == pytest.approx(math.sqrt(2) / 10, rel=1e-6)
    assert histogram_mu(10 * GRID, 1) >= math.sqrt(2) / 10


def test_each_class_of_a_histogram_has_noise_of_its_own() -> None:
    protocol = Discriminant.for_budget(circle=Circle(parties=1), **BUDGET)
    empty = ENCODING.rows(np.zeros((3, 3)), np.array([0, 1, 2]))
    total = protocol.tell(empty, protocol.ask([]), simulation(1))
    question = protocol.ask([total])
    told = protocol.tell(empty, question, simulation(2))
    cells = told[: question.length // 3 * 3].reshape(-1)[: 3 * protocol.bins**protocol.directions]
    first, second, third = cells.reshape(3, -1)
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)
    assert np.abs(np.corrcoef(first, second)[0, 1]) < 0.5


def test_each_output_has_a_tilt_of_its_own() -> None:
    bounds = LossBounds(loss="softmax", classes=4, intercept=True)
    for law in ("gamma", "gaussian"):
        noise = ObjectivePerturbation(
            bounds=bounds, size=100, regularisation=0.01, extra=0.0, law=law, scale=1.0
        )
        drawn = noise.draw(50, simulation(1))
        assert np.abs(np.corrcoef(drawn) - np.eye(4)).max() < 0.7


def test_each_problem_against_the_rest_has_a_jacobian() -> None:
    one, ten = (LossBounds(loss="huber", classes=classes) for classes in (2, 10))
    assert ten.log_determinant(50.0) == pytest.approx(10 * one.log_determinant(50.0))


def test_components_cost_beside_gamma_noise_too() -> None:
    protocol = Margin.for_budget(circle=Circle(parties=1), components=2, **BUDGET)
    alone = protocol.noise.guarantee(protocol.bounds, 1e-5)
    beside = protocol.noise.guarantee(protocol.bounds, 1e-5, 0.5)
    assert beside.epsilon > alone.epsilon  # type: ignore[attr-defined]  # both have one
    pure = type(protocol.noise).gamma(bounds=protocol.bounds, epsilon=1.0, regularisation=0.01)
    with_components = pure.guarantee(protocol.bounds, 1e-5, 0.5)
    assert with_components.epsilon > 1.5  # type: ignore[attr-defined]  # it has one


def test_a_share_is_not_the_secret() -> None:
    secret = bytes(range(32))
    shares = split_secret(secret, [0, 1, 2], 2, simulation(1))
    assert all(secret not in share and len(share) == SHARE_BYTES for share in shares.values())
    assert open_secret({0: shares[0], 2: shares[2]}, 2) == secret


@pytest.mark.parametrize(
    ("told", "shown"), [(0.99999938, 1.0), (1.0, 1.0), (0.1234561, 0.123457), (12.34561, 12.3457)]
)
def test_a_promise_is_rounded_up(told: float, shown: float) -> None:
    assert _rounded_up(told) == shown


def test_the_solver_is_asked_for_less_than_what_is_granted() -> None:
    # Theorem 4 grants a gradient of 2e-10: half of it to the solver, half to measuring it.
    assert _margin_noise._GRADIENT == 1e-10
    assert _margin_noise._DOUBT >= 2 * _margin_noise._GRADIENT


def test_the_last_noise_covers_both_sides_of_the_minimum() -> None:
    protocol = Margin.for_budget(circle=Circle(parties=1), **BUDGET)
    bounds, size, width = protocol.bounds, 5000, 4
    noise, _ = _margin_noise.MarginNoise.gaussian(
        bounds=bounds, epsilon=1.0, delta=1e-5, regularisation=1e-3, share=0.4
    )
    own = noise._own(bounds, size)
    numbers = bounds.outputs * width
    off = (size * 2e-10 + own.departure(width)) / own.strength
    apart = 2 * (_margin_noise.STEPS * off + 2 * math.sqrt(numbers))
    wanted = sigma_for(mu=noise.tolerance, sensitivity=apart, holders=1)
    drawn = np.concatenate([noise._rest(own, width, simulation(seed)) for seed in range(400)])
    assert drawn.std() == pytest.approx(wanted, rel=0.06)
