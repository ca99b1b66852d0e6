from __future__ import annotations

import math
import threading
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import BudgetError, ParameterError
from supm.privacy import (
    ApproximateDP,
    Budget,
    GaussianDP,
    Guarantee,
    Neighbours,
    NoGuarantee,
    PureDP,
    PureLDP,
    Spending,
    sequential,
)
from supm.privacy.promise_numbers import decimal

REPLACE, ADD, ANY = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE, Neighbours.ANY_RECORDS
EPSILONS = st.floats(0.0, 10.0)


def approximate(epsilon: float, delta: float, neighbours: Neighbours = REPLACE) -> ApproximateDP:
    return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=neighbours)


def gaussian(mu: float, neighbours: Neighbours = REPLACE) -> GaussianDP:
    return GaussianDP(mu=mu, neighbours=neighbours)


def pure(epsilon: float, neighbours: Neighbours = REPLACE) -> PureDP:
    return PureDP(epsilon=epsilon, neighbours=neighbours)


def spend_all(budget: Budget, guarantees: list[Any]) -> list[Any]:
    """Spend what is allowed, and return it."""
    accepted = []
    for one in guarantees:
        allowed = budget.would_allow(one)
        try:
            budget.spend(one, purpose="test")
        except BudgetError:
            assert not allowed
        else:
            assert allowed
            accepted.append(one)
    return accepted


@pytest.mark.parametrize(("part", "times"), [(0.1, 10), (0.01, 100), (0.05, 20), (0.001, 1000)])
def test_equal_decimal_parts_use_a_budget_up_exactly(part: float, times: int) -> None:
    budget = Budget(PureLDP(1.0))
    assert len(spend_all(budget, [PureLDP(part)] * (times + 3))) == times
    assert budget.spent == PureLDP(1.0)
    assert budget.remaining() == PureLDP(0.0)


@given(st.lists(EPSILONS, max_size=30), EPSILONS)
@settings(deadline=None)
def test_equation_15_the_true_sum_never_exceeds_the_limit(parts: list[float], limit: float) -> None:
    accepted = spend_all(Budget(PureLDP(limit)), [PureLDP(part) for part in parts])
    assert sum((decimal(one.epsilon) for one in accepted), Fraction(0)) <= decimal(limit)
    # Read in binary, each float is within half a unit of its decimal.
    binary = sum((Fraction(one.epsilon) for one in accepted), Fraction(0))
    assert binary <= Fraction(limit) * (1 + Fraction(1, 2**51)) + Fraction(1, 2**1000)


@given(st.lists(EPSILONS, max_size=12), EPSILONS)
@settings(deadline=None)
def test_nothing_that_fits_is_refused(parts: list[float], limit: float) -> None:
    budget = Budget(PureLDP(limit))
    used = Fraction(0)
    for part in parts:
        fits = used + decimal(part) <= decimal(limit)
        assert budget.would_allow(PureLDP(part)) == fits
        used += decimal(part) if fits else 0
        spend_all(budget, [PureLDP(part)])


@given(st.lists(st.tuples(EPSILONS, st.floats(0.0, 0.01)), max_size=15))
@settings(deadline=None)
def test_both_numbers_of_an_approximate_limit_hold(parts: list[tuple[float, float]]) -> None:
    budget = Budget(approximate(8.0, 0.02))
    accepted = spend_all(budget, [approximate(*part) for part in parts])
    assert sum((decimal(one.epsilon) for one in accepted), Fraction(0)) <= 8
    assert sum((decimal(one.delta) for one in accepted), Fraction(0)) <= Fraction("0.02")


@given(st.lists(st.floats(0.0, 0.5), max_size=15))
@settings(deadline=None)
def test_equation_7_gaussian_releases_are_held_to_an_approximate_limit(mus: list[float]) -> None:
    limit = approximate(2.0, 1e-6)
    accepted = spend_all(Budget(limit), [gaussian(mu) for mu in mus])
    assert not accepted or sequential(*accepted) <= limit
    largest = GaussianDP.for_approximate(epsilon=2.0, delta=1e-6, neighbours=REPLACE).mu
    assert math.hypot(*(one.mu for one in accepted)) <= largest * (1 + 1e-9)


LIMITS_AND_PARTS: list[tuple[Guarantee, Guarantee]] = [
    (PureLDP(1.0), PureLDP(0.3)),
    (PureLDP(1.0), approximate(0.3, 0.0, ANY)),
    (pure(1.0), pure(0.1)),
    (pure(1.0), PureLDP(0.3)),
    (pure(1.0), pure(0.1, ADD)),
    (approximate(1.0, 1e-6), approximate(0.3, 1e-7)),
    (approximate(1.0, 1e-6), approximate(0.3, 1e-6)),
    (approximate(1.0, 1e-6), pure(0.3)),
    (approximate(1.0, 1e-6), PureLDP(0.3)),
    (approximate(1.0, 1e-6), pure(0.3, ADD)),
    (approximate(1.0, 1e-6), gaussian(0.1)),
    (approximate(1.0, 1e-6), gaussian(0.1, ANY)),
    (gaussian(1.0), gaussian(0.3)),
    (gaussian(1.0), gaussian(0.3, ANY)),
    (gaussian(1.0), pure(0.0)),
    (approximate(1.0, 0.0), gaussian(0.0)),
]


@pytest.mark.parametrize(("limit", "part"), LIMITS_AND_PARTS)
def test_what_remains_may_be_spent_and_then_nothing_remains(
    limit: Guarantee, part: Guarantee
) -> None:
    budget = Budget(limit)
    assert budget.remaining() == limit
    budget.spend(part, purpose="first")
    rest = budget.remaining()
    assert any(isinstance(v, float) for v in rest.to_form().values())
    budget.spend(rest, purpose="all the rest")
    left = [v for v in budget.remaining().to_form().values() if isinstance(v, float)]
    # A Gaussian rest is a root, rounded down, so a root of a rounding may remain of it.
    assert left == pytest.approx([0.0] * len(left), abs=1e-7)


@pytest.mark.parametrize(
    ("part", "rest"),
    [(PureLDP(0.3), PureLDP(0.7)), (pure(0.3), pure(0.7)), (pure(0.3, ADD), pure(0.2, ADD))],
)
def test_what_remains_of_a_pure_limit_is_exact(part: Guarantee, rest: Guarantee) -> None:
    budget = Budget(pure(1.0))
    budget.spend(part, purpose="first")
    assert budget.remaining() == rest


@pytest.mark.parametrize("mu", [0.1, 0.21, 0.2367, 1e-9])
def test_what_remains_of_gaussian_noise_may_be_spent(mu: float) -> None:
    budget = Budget(approximate(1.0, 1e-6))
    budget.spend(gaussian(mu), purpose="first")
    rest = budget.remaining()
    assert budget.would_allow(rest)
    assert isinstance(rest, GaussianDP)
    assert not budget.would_allow(gaussian(rest.mu * (1 + 1e-6) + 1e-6))


def test_a_refusal_says_what_was_asked_what_is_left_and_what_to_do() -> None:
    budget = Budget(PureLDP(1.0))
    budget.spend(PureLDP(0.7), purpose="reduction")
    message = (
        r"^Spending PureLDP\(epsilon=0\.5\) for 'training' would break the limit "
        r"PureLDP\(epsilon=1\.0\), of which PureLDP\(epsilon=0\.3\) is left; nothing was spent: "
        r"ask for at most that, or for a larger limit\.$"
    )
    with pytest.raises(BudgetError, match=message):
        budget.spend(PureLDP(0.5), purpose="training")
    assert budget.history == (Spending(guarantee=PureLDP(0.7), purpose="reduction"),)
    assert budget.spent == PureLDP(0.7)


@pytest.mark.parametrize(
    "bad",
    [NoGuarantee("sent in clear"), pure(0.1), approximate(0.1, 1e-9, ANY), gaussian(0.1, ANY)],
)
def test_what_a_local_limit_does_not_cover_is_refused(bad: Guarantee) -> None:
    budget = Budget(PureLDP(1.0))
    assert not budget.would_allow(bad)
    with pytest.raises(BudgetError):
        budget.spend(bad, purpose="test")
    assert budget.spent is None
    assert budget.history == ()


def test_a_limit_of_no_guarantee_refuses_nothing_and_records() -> None:
    limit = NoGuarantee("everybody trusts the server")
    budget = Budget(limit)
    spendings: list[Guarantee] = [PureLDP(5.0), NoGuarantee("sent in clear")]
    for one, purpose in zip(spendings, ["first", "second"], strict=True):
        budget.spend(one, purpose=purpose)
        assert budget.spent == one
    assert budget.remaining() == limit
    assert [one.purpose for one in budget.history] == ["first", "second"]


def test_what_cannot_be_composed_is_refused_and_changes_nothing() -> None:
    budget = Budget(approximate(1.0, 1e-6))
    budget.spend(gaussian(0.1), purpose="first")
    for other in (pure(0.1), gaussian(0.1, ANY)):
        with pytest.raises(ParameterError):
            budget.would_allow(other)
        with pytest.raises(ParameterError):
            budget.spend(other, purpose="second")
    assert budget.spent == gaussian(0.1)
    assert len(budget.history) == 1


@pytest.mark.parametrize("bad", ["", " ", None, 3])
def test_a_spending_needs_a_purpose(bad: Any) -> None:
    budget = Budget(PureLDP(1.0))
    with pytest.raises(ParameterError, match="purpose"):
        budget.spend(PureLDP(0.1), purpose=bad)
    assert budget.spent is None


@pytest.mark.parametrize("bad", [1.0, None, "1"])
def test_a_budget_and_a_spending_are_promises_not_numbers(bad: Any) -> None:
    with pytest.raises(ParameterError, match="guarantee"):
        Budget(bad)
    with pytest.raises(ParameterError, match="guarantee"):
        Budget(PureLDP(1.0)).spend(bad, purpose="test")


def test_racing_threads_never_over_spend() -> None:
    budget = Budget(PureLDP(1.0))
    barrier = threading.Barrier(8)
    accepted: list[float] = []

    def race() -> None:
        barrier.wait()
        for _ in range(50):
            try:
                budget.spend(PureLDP(0.01), purpose="race")
            except BudgetError:
                continue
            accepted.append(0.01)

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == len(budget.history) == 100
    assert budget.spent == PureLDP(1.0)


def test_a_budget_prints_its_limit_and_what_was_spent() -> None:
    budget = Budget(PureLDP(1.0))
    assert repr(budget) == "Budget(limit=PureLDP(epsilon=1.0), spent=None)"
    assert budget.limit == PureLDP(1.0)
