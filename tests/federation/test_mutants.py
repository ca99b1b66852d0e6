"""What a reader broke without any test noticing: each is noticed here."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import gamma, norm

from supm import ParameterError, RandomSource, simulation
from supm._errors import FederationError
from supm.engines import carry_in_process
from supm.federation import (
    Circle,
    Components,
    Coordinator,
    Discriminant,
    FederatedStudy,
    Margin,
    Participant,
    Protocol,
    RoundQuestion,
    Rows,
    VectorEncoding,
    margin_noise,
)
from supm.federation.discriminant_sums import histogram_mu
from supm.federation.rows import GRID
from supm.federation.secure_sum.keys import SHARE_BYTES, open_secret, split_secret
from supm.federation.study import _rounded_up
from supm.learning.margins import MarginFit, fit_margins
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


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the solver was asked for, call by call."""
    asked: list[dict[str, Any]] = []

    def spied(*given: Any, **wishes: Any) -> Any:
        asked.append(wishes)
        return fit_margins(*given, **wishes)

    monkeypatch.setattr(margin_noise, "fit_margins", spied)
    return asked


@pytest.mark.parametrize(("epsilon", "rows"), [(1.0, 40), (1e-3, 2)])
def test_the_solver_is_asked_for_half_of_what_is_granted(
    solver: list[dict[str, Any]], epsilon: float, rows: int
) -> None:
    # Theorem 4 grants the gradient twice: once to the solver, once to what measures it.
    protocol = Margin.for_budget(circle=Circle(parties=1), **BUDGET | {"epsilon": epsilon})
    table = ENCODING.rows(np.full((rows, 3), 0.2), np.arange(rows) % 3)
    protocol.tell(table, protocol.ask([]), simulation(1))
    own, numbers = protocol.noise._own(protocol.bounds, rows), 3 * 4
    usual = protocol.noise.deviation(numbers) * math.sqrt(numbers) / rows
    assert solver[0]["tolerance"] == pytest.approx(max(1e-10, 1e-13 * usual))
    assert solver[0]["tolerance"] == protocol.noise._gradient(own, 4)


def test_coefficients_are_cut_to_the_public_box(monkeypatch: pytest.MonkeyPatch) -> None:
    huge = replace(_fit(), coefficients=np.full((3, 4), 1e12))
    monkeypatch.setattr(margin_noise, "fit_margins", lambda *_, **__: huge)
    protocol = Margin.for_budget(circle=Circle(parties=1), **BUDGET)
    table = ENCODING.rows(np.full((9, 3), 0.2), np.arange(9) % 3)
    told = protocol.tell(table, protocol.ask([]), simulation(1))
    assert np.abs(told[:-1]).max() < 1.001 * 2**52


def _fit() -> MarginFit:
    return fit_margins(np.eye(3), np.arange(3), loss="softmax", classes=3, strength=1.0)


def test_how_far_a_tilt_may_be_from_its_law() -> None:
    bounds = LossBounds(loss="softmax", classes=4, intercept=True)
    shared: dict[str, Any] = {"bounds": bounds, "size": 9, "regularisation": 0.01, "extra": 0.0}
    normal = ObjectivePerturbation(law="gaussian", scale=3.0, **shared)
    # Theorem 4: 64 steps of 2^-40 scales in each number.
    assert normal.departure(25) == pytest.approx(64 * 3.0 * 2.0**-40 * 10)
    long = ObjectivePerturbation(law="gamma", scale=3.0, **shared)
    assert long.departure(25) == pytest.approx(1e-6 * 3.0 * 100)


@pytest.mark.parametrize("numbers", [1, 2, 8, 100, 1000])
def test_lengths_of_gamma_noise_lie_as_close_as_is_granted(numbers: int) -> None:
    # Where normals are 2^-52 of probability apart, lengths are as far apart as this.
    centre = numbers - 1 / 3
    steps = np.linspace(-8.2, 8.2, 20_001)
    root = np.maximum(1 + steps / np.sqrt(9 * centre), 0.0)
    apart = 3 * centre * root**2 / np.sqrt(9 * centre) * 2.0**-52 / norm.pdf(steps)
    far = centre * root[apart > 1e-6 * numbers] ** 3
    high, low = far[far > numbers], far[far < numbers]
    chance = gamma.sf(high.min(), numbers) + (gamma.cdf(low.max(), numbers) if low.size else 0.0)
    assert chance < 1e-8


def test_each_round_has_randomness_of_its_own() -> None:
    asked: list[str] = []

    def draw(label: str) -> RandomSource:
        asked.append(label)
        return simulation(1).child(label)

    protocol = Discriminant.for_budget(circle=Circle(parties=1), **BUDGET)
    table = ENCODING.rows(np.full((9, 3), 0.2), np.arange(9) % 3)
    study = FederatedStudy(name="rounds", protocol=protocol, delta=1e-5)
    server = Coordinator(protocol, study.to_json(), simulation=True)
    party = Participant(table, lambda _: protocol, lambda *_: None, draw, lambda _: None)
    carry_in_process(server, [party])
    assert {"round 0", "round 1"} <= set(asked)


def test_too_many_rows_for_exact_sums_are_refused() -> None:
    protocol = Discriminant.for_budget(circle=Circle(parties=1), **BUDGET)

    class Many(Rows):
        @property
        def size(self) -> int:
            return 1 << 40

    table = ENCODING.rows(np.full((9, 3), 0.2), np.arange(9) % 3)
    many = Many(values=table.values, labels=table.labels, classes=3)
    with pytest.raises(ParameterError, match="rows must be"):
        protocol.tell(many, protocol.ask([]), simulation(1))


@pytest.mark.parametrize("kind", ["discriminant", "components", "margin"])
def test_a_party_that_tells_another_number_of_rows_ends_the_run(kind: str) -> None:
    circle = Circle(parties=2, colluders=0)
    made: dict[str, Protocol] = {
        "discriminant": Discriminant.for_budget(circle=circle, **BUDGET),
        "components": Components.for_budget(circle=circle, components=2, **BUDGET),
        "margin": Margin.for_budget(circle=circle, **BUDGET),
    }
    honest = made[kind]
    lying = Lying(honest)
    table = ENCODING.rows(np.full((9, 3), 0.2), np.arange(9) % 3)
    server = Coordinator(honest, "a study", simulation=True)
    people = [
        Participant(table, partial(pick, told), lambda *_: None, simulation(n).child, raising)
        for n, told in enumerate((honest, lying))
    ]
    with pytest.raises(FederationError, match="not as many as the parties declared"):
        carry_in_process(server, people)
    assert server.outcome is None


class Lying:
    """A protocol whose party says that it has no rows."""

    def __init__(self, honest: Protocol) -> None:
        self._honest = honest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._honest, name)

    def tell(self, rows: Rows, question: RoundQuestion, source: RandomSource) -> NDArray[np.int64]:
        told = self._honest.tell(rows, question, source)
        told[-2 if self._honest.kind == "discriminant" else -1] = 0
        return told


def pick(protocol: Any, _text: str) -> Any:
    return protocol


def raising(problem: Exception) -> None:
    raise problem


def test_the_last_noise_covers_both_sides_of_the_minimum() -> None:
    protocol = Margin.for_budget(circle=Circle(parties=1), **BUDGET)
    bounds, size, width = protocol.bounds, 5000, 4
    noise, _ = margin_noise.MarginNoise.gaussian(
        bounds=bounds, epsilon=1.0, delta=1e-5, regularisation=1e-3, share=0.4
    )
    own = noise._own(bounds, size)
    numbers = bounds.outputs * width
    assert noise._gradient(own, width) == 1e-10
    off = (size * 2e-10 + own.departure(width)) / own.strength
    apart = 2 * (margin_noise.STEPS * off + 2 * math.sqrt(numbers))
    wanted = sigma_for(mu=noise.tolerance, sensitivity=apart, holders=1)
    drawn = np.concatenate([noise._rest(own, width, simulation(seed)) for seed in range(400)])
    assert drawn.std() == pytest.approx(wanted, rel=0.06)
