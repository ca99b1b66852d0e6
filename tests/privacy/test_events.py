"""Events against brute precision and against Google's accountant."""

from __future__ import annotations

import importlib
import math
import sys
from fractions import Fraction
from typing import Any

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import ParameterError
from supm.privacy import (
    ComposedEvent,
    Event,
    GaussianDP,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    NoGuarantee,
    NonPrivateEvent,
    PureDP,
    PureEvent,
    PureLDP,
    RandomizedResponseEvent,
    accountant_relation,
    events,
)
from supm.privacy.promise_numbers import EPSILON, decimal

mpmath: Any = importlib.import_module("mpmath")
REPLACE, ADD, ANY = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE, Neighbours.ANY_RECORDS
# The accountant rounds each privacy loss up to a multiple of this.
STEP = 1e-4


def accountant(event: Event, neighbours: Neighbours) -> Any:
    made = PLDAccountant(accountant_relation(neighbours), value_discretization_interval=STEP)
    return made.compose(event.to_dp_accounting(neighbours))


def response(size: int, epsilon: float) -> RandomizedResponseEvent:
    keep = 1.0 / (1.0 + (size - 1) * math.exp(-epsilon))
    return RandomizedResponseEvent(size=size, keep=keep)


@pytest.mark.parametrize("size", [2, 3, 5, 100])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_randomized_response_agrees_with_the_accountant(size: int, epsilon: float) -> None:
    event = response(size, epsilon)
    assert event.epsilon == pytest.approx(epsilon, rel=1e-12)
    theirs = accountant(event, ANY).get_epsilon(0.0)
    assert event.epsilon - 1e-9 <= theirs <= event.epsilon + STEP


@pytest.mark.parametrize("epsilon", [0.1, 0.7])
def test_equation_9_ten_responses_agree_with_the_accountant(epsilon: float) -> None:
    """The accountant forgets a count of randomized responses, so the parts go in one by one."""
    event = ComposedEvent([response(4, epsilon)] * 10)
    ours = event.guarantee(REPLACE)
    assert isinstance(ours, PureDP)
    theirs = accountant(event, REPLACE).get_epsilon(0.0)
    assert ours.epsilon - 1e-9 <= theirs <= ours.epsilon + 10 * STEP


@pytest.mark.parametrize("scale", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_laplace_agrees_with_the_accountant(scale: float, neighbours: Neighbours) -> None:
    event = LaplaceEvent(scale)
    assert event.epsilon == 1.0 / scale
    theirs = accountant(event, neighbours).get_epsilon(1e-9)
    assert theirs == pytest.approx(event.epsilon, abs=2 * STEP)


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("sigmas", [(1.0,), (2.0, 3.0), (4.0,) * 8])
def test_equation_7_gaussian_releases_agree_with_the_accountant(
    neighbours: Neighbours, sigmas: tuple[float, ...]
) -> None:
    event = ComposedEvent([GaussianEvent(sigma) for sigma in sigmas])
    ours = event.guarantee(neighbours)
    assert isinstance(ours, GaussianDP)
    theirs = accountant(event, neighbours)
    for delta in (1e-9, 1e-6, 1e-3):
        epsilon = ours.to_approximate(delta).epsilon
        assert theirs.get_epsilon(delta) == pytest.approx(epsilon, abs=len(sigmas) * STEP)


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_a_pure_event_is_the_worst_mechanism_of_its_epsilon(
    neighbours: Neighbours, epsilon: float
) -> None:
    made = accountant(PureEvent(epsilon), neighbours)
    assert made.get_epsilon(0.0) == pytest.approx(epsilon, abs=STEP + 1e-9)
    half = epsilon / 2
    worst = (math.exp(epsilon) - math.exp(half)) / (1 + math.exp(epsilon))
    assert worst - 1e-12 <= made.get_delta(half) <= worst + STEP
    for size in (2, 3, 10):
        other = accountant(response(size, epsilon), REPLACE)
        assert other.get_delta(half) <= made.get_delta(half) + 1e-9


@pytest.mark.parametrize("neighbours", [REPLACE, ANY])
def test_events_of_all_kinds_can_be_accounted_for_together(neighbours: Neighbours) -> None:
    parts = [response(3, 0.5), LaplaceEvent(2.0), PureEvent(0.25), GaussianEvent(5.0)]
    event = ComposedEvent([ComposedEvent(parts), GaussianEvent(5.0)])
    theirs = accountant(event, neighbours).get_epsilon(1e-6)
    gauss = GaussianDP(mu=math.sqrt(2) / 5, neighbours=neighbours).to_approximate(1e-6).epsilon
    assert gauss < theirs < gauss + 1.25
    with pytest.raises(ParameterError, match="to_approximate"):
        event.guarantee(neighbours)


def test_nothing_private_is_infinite_and_nothing_revealed_is_zero() -> None:
    for neighbours in Neighbours:
        assert accountant(NonPrivateEvent("sent"), neighbours).get_epsilon(0.1) == math.inf
        assert accountant(PureEvent(0.0), neighbours).get_epsilon(0.0) == 0.0
    uniform = RandomizedResponseEvent(size=3, keep=Fraction(1, 3))
    assert uniform.guarantee(ANY) == PureLDP(0.0)
    assert accountant(uniform, ANY).get_epsilon(0.0) == 0.0


def test_an_epsilon_beyond_the_accountant_is_infinite_there_and_never_too_small() -> None:
    assert accountant(PureEvent(1e4), ANY).get_epsilon(0.0) == math.inf


@given(st.integers(2, 2**40), st.integers(1, 2**64 - 1))
@settings(deadline=None)
def test_the_epsilon_of_a_response_is_exact_and_rounded_up(size: int, threshold: int) -> None:
    keep = Fraction(threshold, 2**64)
    if keep < Fraction(1, size):
        keep = 1 - keep
    event = RandomizedResponseEvent(size=size, keep=keep)
    ratio = keep * (size - 1) / (1 - keep)
    with mpmath.workdps(60):
        truth = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        claimed = mpmath.mpf(event.epsilon)
        assert claimed >= truth
        assert claimed <= truth * (1 + mpmath.mpf(2) ** -48)
    assert event.guarantee(ANY) == PureLDP(event.epsilon)


@given(st.floats(1e-6, 1e12))
@settings(deadline=None)
def test_noise_over_sensitivity_is_inverted_and_rounded_up(ratio: float) -> None:
    promise = GaussianEvent(ratio).guarantee(REPLACE)
    assert decimal(promise.mu) * decimal(ratio) >= 1
    assert decimal(LaplaceEvent(ratio).epsilon) * decimal(ratio) >= 1
    assert promise.mu == pytest.approx(1.0 / ratio, rel=1e-15)


def test_a_promise_carries_the_relation_that_was_asked_for() -> None:
    assert LaplaceEvent(2.0).guarantee(ANY) == PureLDP(0.5)
    assert LaplaceEvent(2.0).guarantee(ADD) == PureDP(epsilon=0.5, neighbours=ADD)
    assert PureEvent(0.5).guarantee(REPLACE) == PureDP(epsilon=0.5, neighbours=REPLACE)
    assert GaussianEvent(4.0).guarantee(ADD) == GaussianDP(mu=0.25, neighbours=ADD)
    assert NonPrivateEvent("sent").guarantee(ADD) == NoGuarantee("sent")


def test_a_response_does_not_hide_that_it_was_sent() -> None:
    event = RandomizedResponseEvent(size=2, keep=0.75)
    for ask in (event.guarantee, event.to_dp_accounting):
        with pytest.raises(ParameterError, match="not that one was sent"):
            ask(ADD)


@pytest.mark.parametrize("bad", events._SIZE.violations())
def test_a_bad_size_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="size"):
        RandomizedResponseEvent(size=bad, keep=0.9)


@pytest.mark.parametrize(
    "bad", [*events._KEEP.violations(), 0.0, 0.1, 0.24999, 1, 1.0, Fraction(1, 5), Fraction(6, 5)]
)
def test_a_probability_that_is_no_probability_or_favours_lies_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="keep"):
        RandomizedResponseEvent(size=4, keep=bad)


@pytest.mark.parametrize("bad", [*events._SCALE.violations(), 0.0, -1.0])
def test_a_bad_amount_of_noise_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="scale_over_sensitivity"):
        LaplaceEvent(bad)
    with pytest.raises(ParameterError, match="sigma_over_sensitivity"):
        GaussianEvent(bad)


@pytest.mark.parametrize("bad", EPSILON.violations())
def test_a_bad_epsilon_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        PureEvent(bad)


@pytest.mark.parametrize("bad", [[], (), None, PureEvent(1.0), [PureEvent(1.0), 1.0], "events"])
def test_a_composed_event_needs_events(bad: Any) -> None:
    with pytest.raises(ParameterError, match="events"):
        ComposedEvent(bad)


def test_a_non_private_event_needs_a_reason() -> None:
    with pytest.raises(ParameterError, match="reason"):
        NonPrivateEvent("")


@pytest.mark.parametrize(
    "event",
    [
        RandomizedResponseEvent(size=2, keep=0.75),
        LaplaceEvent(1.0),
        GaussianEvent(1.0),
        PureEvent(1.0),
        PureEvent(0.0),
        ComposedEvent([PureEvent(1.0)]),
        NonPrivateEvent("sent"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_is_a_value_that_asks_for_a_relation(event: Any) -> None:
    assert hash(event) == hash(event)
    for ask in (event.guarantee, event.to_dp_accounting):
        with pytest.raises(ParameterError, match="neighbours"):
            ask("replace-one")
    assert isinstance(event.to_dp_accounting(REPLACE), dp_accounting.DpEvent)


def test_without_the_accountant_the_refusal_names_the_extra(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(ImportError, match=r"pip install 'supm\[accounting\]'"):
        PureEvent(1.0).to_dp_accounting(ANY)
    assert PureEvent(1.0).guarantee(ANY) == PureLDP(1.0)
