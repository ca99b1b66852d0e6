"""Classifiers of several parties: the promise follows from the noise, and the noise is drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from supm import simulation
from supm._errors import MessageError, ParameterError
from supm.federation.margin import Margin, MarginOutcome, reduced
from supm.federation.margin_noise import STEPS, MarginNoise
from supm.federation.protocol import Circle, RoundQuestion, run_pooled
from supm.federation.rows import Rows, VectorEncoding
from supm.learning.margins import LOSSES, Loss, fit_margins
from supm.mechanisms.noise import LossBounds, ObjectivePerturbation
from supm.privacy import ApproximateDP, GaussianDP

Floats = NDArray[np.float64]
WIDTH = 6


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


def encoding(classes: int) -> VectorEncoding:
    return VectorEncoding(width=WIDTH, classes=classes)


def table(seed: int, size: int, classes: int) -> Rows:
    labels = simulation(seed).below(classes, size).astype(np.int64)
    centres = np.eye(WIDTH)[:classes] - 0.3
    vectors = centres[labels] + 0.3 * normals(seed + 100, size, WIDTH)
    return encoding(classes).rows(vectors, labels)


def made(loss: Loss = "softmax", **changed: object) -> Margin:
    usual = {
        "encoding": encoding(2 if loss == "logistic" else 3),
        "epsilon": 2.0,
        "delta": 1e-5,
        "circle": Circle(parties=3, colluders=0),
        "components": 3,
        "loss": loss,
    }
    return Margin.for_budget(**usual | changed)  # type: ignore[arg-type]


def test_a_curvature_that_is_always_there_beats_the_rule_that_switches() -> None:
    """The example of docs/proofs/objective-perturbation.md: mean length of a tilt of 20 over n."""
    size, regularisation, epsilon, bounds = 10_000, 0.01, 0.025, LossBounds(loss="huber", classes=2)
    chaudhuri = 20 * bounds.reach / (epsilon - 2 * math.log1p(1 / 100)) / size
    rule, tight = (
        20 * ObjectivePerturbation.for_epsilon(
            bounds=bounds, size=size, regularisation=regularisation, epsilon=epsilon, mode=mode
        ).scale / size
        for mode in ("cms", "tight")
    )  # fmt: skip
    noise = MarginNoise.gamma(bounds=bounds, epsilon=epsilon, regularisation=regularisation)
    ours = 20 * noise.scale / size
    assert [round(x, 2) for x in (chaudhuri, rule, tight, ours)] == [0.78, 0.32, 0.27, 0.19]
    # The curvature is more than n lambda, so that the minimum moves less, too.
    assert noise.curvature > 2 * size * regularisation
    # However much is left elsewhere, the rule's is at most a sixth shorter.
    for records in (10**2, 10**5, 10**8):
        other = ObjectivePerturbation.for_epsilon(
            bounds=bounds, size=records, regularisation=regularisation, epsilon=epsilon
        )
        assert 0.84 * noise.scale < other.scale * (1 + 1e-6)


def epsilon_of(protocol: Margin) -> float:
    return float(protocol.guarantee.to_form()["epsilon"])


def accuracy(outcome: MarginOutcome, rows: Rows) -> float:
    return float((outcome.predict(rows.unit) == rows.labels).mean())


@pytest.mark.parametrize("components", [None, 4])
@pytest.mark.parametrize("loss", LOSSES)
def test_parties_learn_together(loss: Loss, components: int | None) -> None:
    protocol = made(loss, components=components)
    classes = protocol.encoding.classes
    tables = [table(seed, 2000, classes) for seed in (1, 2, 3)]
    outcome = run_pooled(protocol, tables, "abc", simulation(1))
    assert accuracy(outcome, table(9, 1000, classes)) > 0.85
    assert outcome.coefficients.shape[1] == (components or WIDTH) + 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("components", [None, 2])
def test_budgets_are_kept_and_used(loss: Loss, epsilon: float, components: int | None) -> None:
    protocol = made(loss, epsilon=epsilon, components=components)
    promise = protocol.guarantee
    assert isinstance(promise, ApproximateDP)
    assert 0.9999 * epsilon < promise.epsilon <= epsilon
    assert promise.delta <= 1e-5
    assert len(protocol.parts) == protocol.rounds == (1 if components is None else 2)
    for part in protocol.parts:
        assert part.guarantee <= ApproximateDP(
            epsilon=epsilon, delta=1e-5, neighbours=promise.neighbours
        )


def test_the_promise_is_that_of_the_noise_that_is_drawn() -> None:
    protocol = made()
    for name, factor in (("scale", 0.5), ("curvature", 0.5), ("tolerance", 20.0)):
        value = getattr(protocol.noise, name) * factor
        weaker = replace(protocol, noise=replace(protocol.noise, **{name: value}))
        assert epsilon_of(weaker) > 1.01 * epsilon_of(protocol)
    spread = Margin.from_form(protocol.to_form() | {"spread": (protocol.spread or 0) // 2})
    assert epsilon_of(spread) > 1.01 * epsilon_of(protocol)


def test_the_less_noisy_law_is_chosen_from_public_numbers() -> None:
    few = made("logistic", encoding=VectorEncoding(width=1, classes=2), components=None)
    assert few.noise.law == "gamma"
    # Gamma noise is drawn in floats, so it is told with the delta that covers what they leave out.
    assert few.guarantee.to_form()["delta"] == 1e-5
    many = made("softmax", encoding=VectorEncoding(width=200, classes=10), components=None)
    assert many.noise.law == "gaussian"
    with pytest.raises(ParameterError, match=r"delta must be .* A pure epsilon is not to be had"):
        made(delta=0.0)
    assert made("logistic", encoding=few.encoding, components=None, delta=1e-9).noise.law == (
        "gaussian"
    )
    with pytest.raises(MessageError, match="at least 2e-08 with gamma noise"):
        Margin.from_form(few.to_form() | {"delta": 1e-9})


def test_what_floats_leave_unsaid_of_gamma_noise_is_in_delta_beside_components() -> None:
    noise = MarginNoise.gamma(bounds=made().bounds, epsilon=1.0, regularisation=1e-3)
    told = noise.guarantee(made().bounds, 1e-5, 0.2)
    alone = noise.guarantee(made().bounds, 1e-5)
    assert isinstance(told, ApproximateDP)
    assert isinstance(alone, ApproximateDP)
    before = GaussianDP(mu=0.2, neighbours=alone.neighbours).to_approximate(1e-5 - 2e-8)
    assert told.epsilon == pytest.approx(alone.epsilon + before.epsilon, rel=1e-9)
    assert 1e-5 - 2e-8 < told.delta < 1e-5


@pytest.mark.parametrize("law", ["gaussian", "gamma"])
def test_what_a_party_tells_is_the_minimum_of_its_tilted_objective(law: str) -> None:
    protocol, rows = made(components=None), table(1, 300, 3)
    noise = MarginNoise.gamma(bounds=protocol.bounds, epsilon=2.0, regularisation=1e-3)
    if law == "gaussian":
        noise, _ = MarginNoise.gaussian(
            bounds=protocol.bounds, epsilon=2.0, delta=1e-5, regularisation=1e-3, share=0.0
        )
    vectors = reduced(rows.unit, None)
    told = noise.tell(vectors, rows.labels, protocol.bounds, simulation(4)) / (STEPS * 300)
    own = noise._own(protocol.bounds, 300)
    exact = fit_margins(
        vectors,
        rows.labels,
        loss="softmax",
        classes=3,
        strength=own.strength,
        tilt=own.draw(WIDTH + 1, simulation(4).child("tilt")),
    )
    assert own.law == law
    # The last noise is there, and small beside what the tilt does.
    most = 0.02 if law == "gaussian" else 0.1
    assert 0 < np.abs(told - exact.coefficients.ravel()).max() < most
    plain = fit_margins(vectors, rows.labels, loss="softmax", classes=3, strength=own.strength)
    assert np.abs(exact.coefficients - plain.coefficients).max() > 0.05


@pytest.mark.parametrize("law", ["gaussian", "gamma"])
def test_how_near_the_minimum_is_is_hidden_by_noise_of_the_stated_width(law: str) -> None:
    bounds = made().bounds
    noise = MarginNoise.gamma(bounds=bounds, epsilon=2.0, regularisation=1e-3)
    if law == "gaussian":
        shared = {"bounds": bounds, "epsilon": 2.0, "delta": 1e-5, "share": 0.0}
        noise, _ = MarginNoise.gaussian(**shared, regularisation=1e-3)  # type: ignore[arg-type]
    rows, found = table(1, 100, 3), []
    vectors, own = reduced(rows.unit, None), noise._own(bounds, 100)
    for seed in range(8):
        told = noise.tell(vectors, rows.labels, bounds, simulation(seed))
        tilt = own.draw(WIDTH + 1, simulation(seed).child("tilt"))
        exact = fit_margins(
            vectors, rows.labels, loss="softmax", classes=3, strength=own.strength, tilt=tilt
        )
        found.append(told - exact.coefficients.ravel() * STEPS * 100)
    numbers = 3 * (WIDTH + 1)
    off = (100 * 2e-10 + own.departure(WIDTH + 1)) / own.strength
    apart = 2 * (STEPS * off + 2 * math.sqrt(numbers))
    wanted = apart / noise.tolerance
    if law == "gamma":
        wanted *= math.sqrt(2 * numbers)
    assert float(np.std(found)) == pytest.approx(wanted, rel=0.3)


def test_a_small_party_regularises_more_so_that_one_promise_holds_for_all() -> None:
    protocol = made()
    for size in (1, 10, 1000, 10**6):
        own = protocol.noise._own(protocol.bounds, size)
        assert size * own.strength >= protocol.noise.curvature
        assert own.log_determinant <= protocol.bounds.log_determinant(protocol.noise.curvature)
    assert own.extra == 0.0


def test_the_average_is_weighted_by_sizes() -> None:
    protocol = made(epsilon=50.0, components=None)
    tables = [table(1, 1, 3), table(2, 40, 3), table(3, 1500, 3)]
    outcome = run_pooled(protocol, tables, "abc", simulation(1))
    question = protocol.ask([])
    told = [
        protocol.tell(rows, question, simulation(1).child(name).child("round 0"))
        for name, rows in zip("abc", tables, strict=True)
    ]
    parts = [each[:-1] / (STEPS * rows.size) for each, rows in zip(told, tables, strict=True)]
    weighted = sum(part * rows.size for part, rows in zip(parts, tables, strict=True)) / 1541
    np.testing.assert_allclose(outcome.coefficients.ravel(), weighted, rtol=1e-9)
    assert [int(each[-1]) for each in told] == [1, 40, 1500]
    assert accuracy(outcome, table(9, 500, 3)) > 0.85


def test_one_party_alone_and_a_class_without_records_are_fine() -> None:
    rows = table(1, 2000, 2)
    wide = Rows(values=rows.values, labels=rows.labels, classes=3)
    protocol = made(circle=Circle(parties=1))
    outcome = run_pooled(protocol, [wide], ["only"], simulation(1))
    assert set(outcome.predict(rows.unit).tolist()) == {0, 1}


def test_a_server_that_gives_long_components_gets_rows_of_norm_one() -> None:
    vectors = normals(1, 50, WIDTH)
    for components in (None, 1e6 * normals(2, 3, WIDTH), np.zeros((3, WIDTH))):
        lengths = np.linalg.norm(reduced(vectors, components), axis=1)
        assert lengths.max() <= 1 + 1e-12
        products = reduced(vectors, components) @ reduced(vectors, components).T
        assert products.min() >= -1e-12


def test_forms_are_read_back_and_others_refused() -> None:
    for components in (None, 2):
        protocol = made(components=components)
        assert Margin.from_form(protocol.to_form()) == protocol
    form = protocol.to_form()
    assert "epsilon" not in form
    for wrong in (
        {},
        form | {"x": 1},
        form | {"noise": form["noise"] | {"law": "x"}},
        form | {"spread": None},
    ):
        with pytest.raises(MessageError):
            Margin.from_form(wrong)


def test_outcomes_are_read_back_and_others_refused() -> None:
    protocol = made()
    outcome = run_pooled(protocol, [table(s, 50, 3) for s in (1, 2, 3)], "abc", simulation(1))
    again = MarginOutcome.from_form(outcome.to_form())
    vectors = normals(1, 5, WIDTH)
    np.testing.assert_array_equal(again.decision(vectors), outcome.decision(vectors))
    np.testing.assert_allclose(again.probabilities(vectors).sum(axis=1), 1.0)
    form = outcome.to_form()
    broken: list[dict[str, object]] = [{"loss": "x"}, {"classes": 1.5}, {"coefficients": [[1.0]]}]
    broken.append({"components": [[1.0] * WIDTH]})
    for wrong in ({}, *(form | each for each in broken)):
        with pytest.raises(MessageError):
            MarginOutcome.from_form(wrong)


def test_the_hinge_has_no_probabilities() -> None:
    outcome = MarginOutcome(
        loss="huber", classes=2, components=None, coefficients=np.array([[1.0, 0.0]])
    )
    with pytest.raises(ParameterError, match="'softmax' or 'logistic'"):
        outcome.probabilities(np.zeros((1, 1)))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most the width of the rows, 6"):
        made(components=7)
    with pytest.raises(ParameterError, match="2 for the logistic loss"):
        made("logistic", encoding=encoding(3))
    with pytest.raises(MessageError, match=r"delta must be a number in \[1e-24, 0.5\]"):
        Margin.from_form(made().to_form() | {"delta": 1e-30})
    protocol, rows = made(), table(1, 5, 3)
    bad = np.full(3 * WIDTH, math.nan)
    for question in (
        RoundQuestion(number=2, length=3),
        RoundQuestion(number=1, length=protocol._length, given=bad),
        RoundQuestion(number=1, length=protocol._length),
        RoundQuestion(number=-1, length=protocol._length),
    ):
        with pytest.raises(MessageError, match="one of the protocol's rounds"):
            protocol.tell(rows, question, simulation(1))
    with pytest.raises(ParameterError, match="rows must be a whole number"):
        protocol.tell(
            encoding(3).rows(np.empty((0, WIDTH)), np.empty(0, dtype=np.int64)),
            protocol.ask([]),
            simulation(1),
        )


@pytest.mark.parametrize("entry", [1.797e308, 1e200, 2.5, np.inf, np.nan])
def test_components_that_could_overflow_are_refused_for_all_rows_alike(entry: float) -> None:
    # Were they taken, whether a fit fails would tell where a row lies.
    encoding = VectorEncoding(width=4, classes=2)
    protocol = Margin.for_budget(
        encoding=encoding, epsilon=1.0, delta=1e-5, circle=Circle(parties=1), components=2
    )
    far, near = (encoding.rows(np.full((5, 4), place), np.arange(5) % 2) for place in (0.4, 0.01))
    total = protocol.tell(far, protocol.ask([]), simulation(1))
    asked = protocol.ask([total])
    given = asked.given.copy()
    given[0] = entry
    crafted = replace(asked, given=given)
    for rows in (far, near):
        with pytest.raises(MessageError):
            protocol.tell(rows, crafted, simulation(1))


def test_what_is_told_has_noise_beyond_the_tilt() -> None:
    # The same tilt, another rest: what hides how near the minimum is must be there.
    encoding = VectorEncoding(width=2, classes=2)
    protocol = Margin.for_budget(
        encoding=encoding, epsilon=1.0, delta=1e-5, circle=Circle(parties=1), loss="logistic"
    )
    rows = encoding.rows(np.array([[0.5, 0.1], [-0.5, 0.2]] * 50), np.array([0, 1] * 50))

    class Same:
        """Give the tilt always the same stream, and the rest one of its own."""

        def __init__(self, seed: int) -> None:
            self.simulation, self._seed = True, seed

        def child(self, label: str) -> Any:
            return simulation(1 if label == "tilt" else self._seed)

    told = [protocol.tell(rows, protocol.ask([]), Same(seed)) for seed in (2, 3)]  # type: ignore[arg-type]  # all that is used of it
    assert (told[0][:-1] != told[1][:-1]).all()
