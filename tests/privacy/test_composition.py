from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import ParameterError
from supm.privacy import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    Neighbours,
    NoGuarantee,
    PureDP,
    PureLDP,
    parallel,
    sequential,
)
from supm.privacy.promise_numbers import decimal

REPLACE = Neighbours.REPLACE_ONE
EPSILONS = st.floats(0.0, 1e6)
DELTAS = st.floats(0.0, 0.1)
FACTORS = st.one_of(
    st.builds(PureDP, epsilon=EPSILONS, neighbours=st.just(REPLACE)),
    st.builds(ApproximateDP, epsilon=EPSILONS, delta=DELTAS, neighbours=st.just(REPLACE)),
)
LOCALS = st.builds(PureLDP, EPSILONS)
GAUSSIANS = st.builds(GaussianDP, mu=st.floats(0.0, 100.0), neighbours=st.just(REPLACE))
FAMILIES = st.sampled_from([FACTORS, LOCALS, GAUSSIANS])
PAIRS = FAMILIES.flatmap(lambda family: st.tuples(family, family))
TRIPLES = FAMILIES.flatmap(lambda family: st.tuples(family, family, family))
COMPOSITIONS = pytest.mark.parametrize("compose", [sequential, parallel])


def gaussian(mu: float) -> GaussianDP:
    return GaussianDP(mu=mu, neighbours=REPLACE)


def approximate(epsilon: float, delta: float) -> ApproximateDP:
    return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=REPLACE)


def figures(guarantee: Guarantee) -> list[float]:
    return [v for v in guarantee.to_form().values() if isinstance(v, float)]


def test_equation_9_ten_tenths_are_one() -> None:
    assert sequential(*[PureLDP(0.1)] * 10) == PureLDP(1.0)
    assert sequential(PureLDP(0.1), PureLDP(0.2)) == PureLDP(0.3)


@given(st.lists(EPSILONS, min_size=1, max_size=30))
@settings(deadline=None)
def test_equation_9_a_composed_epsilon_is_the_exact_sum_rounded_up_once(parts: list[float]) -> None:
    total = sequential(*map(PureLDP, parts))
    assert isinstance(total, PureLDP)
    exact = sum(map(decimal, parts), Fraction(0))
    assert decimal(math.nextafter(total.epsilon, -1.0)) < exact <= decimal(total.epsilon)


@given(st.lists(st.tuples(EPSILONS, st.floats(0.0, 0.02)), min_size=1, max_size=20))
@settings(deadline=None)
def test_equation_8_epsilons_and_deltas_add_up(parts: list[tuple[float, float]]) -> None:
    total = sequential(*(approximate(*part) for part in parts))
    assert isinstance(total, ApproximateDP)
    exact = [sum(map(decimal, column), Fraction(0)) for column in zip(*parts, strict=True)]
    assert [decimal(total.epsilon) >= exact[0], decimal(total.delta) >= exact[1]] == [True, True]
    assert total.delta == pytest.approx(float(exact[1]), rel=1e-15)


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=30))
@settings(deadline=None)
def test_equation_7_squares_of_mu_add_up_exactly(parts: list[float]) -> None:
    total = sequential(*map(gaussian, parts))
    assert isinstance(total, GaussianDP)
    exact = sum((decimal(mu) ** 2 for mu in parts), Fraction(0))
    assert decimal(math.nextafter(total.mu, 0.0)) ** 2 <= exact <= decimal(total.mu) ** 2
    assert total.mu == pytest.approx(math.hypot(*parts), rel=1e-14)


def test_equation_7_pythagoras() -> None:
    assert sequential(gaussian(0.3), gaussian(0.4)) == gaussian(0.5)


@COMPOSITIONS
@given(pair=PAIRS)
@settings(deadline=None)
def test_composition_does_not_depend_on_the_order(compose: Any, pair: tuple[Any, Any]) -> None:
    assert compose(*pair) == compose(*reversed(pair))


@COMPOSITIONS
@given(triple=TRIPLES)
@settings(deadline=None)
def test_grouping_changes_at_most_the_rounding(compose: Any, triple: tuple[Any, Any, Any]) -> None:
    one, two, three = triple
    at_once = compose(one, two, three)
    for grouped in (compose(compose(one, two), three), compose(one, compose(two, three))):
        assert type(grouped) is type(at_once)
        assert at_once <= grouped
        assert figures(grouped) == pytest.approx(figures(at_once), rel=1e-15, abs=1e-320)


@COMPOSITIONS
@given(triple=TRIPLES)
@settings(deadline=None)
def test_composition_is_monotone(compose: Any, triple: tuple[Any, Any, Any]) -> None:
    one, two, three = triple
    if one <= two:
        assert compose(one, three) <= compose(two, three)


@COMPOSITIONS
@given(pair=PAIRS)
@settings(deadline=None)
def test_together_they_promise_no_more_than_each(compose: Any, pair: tuple[Any, Any]) -> None:
    one, other = pair
    assert one <= compose(one, other)
    assert other <= compose(one, other)


@COMPOSITIONS
@given(one=st.one_of(FACTORS, LOCALS, GAUSSIANS))
@settings(deadline=None)
def test_composing_one_promise_changes_nothing(compose: Any, one: Guarantee) -> None:
    assert compose(one) == one


@given(PAIRS)
@settings(deadline=None)
def test_equation_10_the_parallel_promise_is_the_least_upper_bound(pair: tuple[Any, Any]) -> None:
    one, other = pair
    both = parallel(one, other)
    if one <= other:
        assert both <= other <= both
    assert [max(column) for column in zip(figures(one), figures(other), strict=False)][:1] == (
        figures(both)[:1]
    )


def test_equation_10_of_incomparable_promises_the_greatest_numbers_are_taken() -> None:
    one, other = approximate(1.0, 1e-6), approximate(2.0, 1e-9)
    assert parallel(one, other) == approximate(2.0, 1e-6)
    pure = PureDP(epsilon=3.0, neighbours=REPLACE)
    assert parallel(pure, one) == approximate(3.0, 1e-6)
    assert parallel(gaussian(1.0), gaussian(2.0)) == gaussian(2.0)


def test_kinds_are_kept_where_all_parts_are_of_one_kind() -> None:
    pure = PureDP(epsilon=1.0, neighbours=Neighbours.ADD_REMOVE)
    assert sequential(pure, pure) == PureDP(epsilon=2.0, neighbours=Neighbours.ADD_REMOVE)
    local = ApproximateDP(epsilon=1.0, delta=0.1, neighbours=Neighbours.ANY_RECORDS)
    expected = ApproximateDP(epsilon=2.0, delta=0.1, neighbours=Neighbours.ANY_RECORDS)
    assert sequential(PureLDP(1.0), local) == expected


@COMPOSITIONS
def test_gaussian_with_others_is_refused_with_a_hint(compose: Any) -> None:
    pure = PureDP(epsilon=1.0, neighbours=REPLACE)
    with pytest.raises(ParameterError, match=r"PureDP with GaussianDP.*to_approximate\(delta\)"):
        compose(pure, gaussian(1.0))
    assert compose(pure, gaussian(1.0).to_approximate(1e-6)).delta == 1e-6


@COMPOSITIONS
def test_different_relations_are_refused(compose: Any) -> None:
    with pytest.raises(ParameterError, match="neighbours must be the same in all promises"):
        compose(PureLDP(1.0), PureDP(epsilon=1.0, neighbours=REPLACE))


@COMPOSITIONS
def test_with_no_guarantee_nothing_is_promised_for_all_the_reasons(compose: Any) -> None:
    first, second = NoGuarantee("sent in clear"), NoGuarantee("seeded")
    assert compose(first, PureLDP(1.0), second, first) == NoGuarantee("sent in clear; seeded")
    assert compose(gaussian(1.0), first, PureLDP(1.0)) == first


def test_deltas_that_add_up_to_one_leave_no_promise() -> None:
    assert isinstance(sequential(approximate(1.0, 0.5), approximate(1.0, 0.5)), NoGuarantee)
    assert isinstance(sequential(PureLDP(1e12), PureLDP(1e12)), NoGuarantee)
    assert isinstance(sequential(gaussian(1e6), gaussian(1e6)), NoGuarantee)


@COMPOSITIONS
@pytest.mark.parametrize("bad", [1.0, "pure", None])
def test_something_else_is_refused(compose: Any, bad: Any) -> None:
    with pytest.raises(ParameterError, match="guarantee must be a promise"):
        compose(PureLDP(1.0), bad)
    with pytest.raises(ParameterError, match="at least one promise"):
        compose()
