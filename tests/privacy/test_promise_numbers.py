"""The order of promises: "a <= b" reads "a promises at least as much as b"."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm.privacy import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    Neighbours,
    NoGuarantee,
    PureDP,
    PureLDP,
)

REPLACE, ADD, ANY = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE, Neighbours.ANY_RECORDS
# Few values, so that equal and comparable pairs come up often.
EPSILONS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 4.0])
DELTAS = st.sampled_from([0.0, 1e-12, 1e-6, 0.1])
MUS = st.sampled_from([0.0, 0.1, 0.5, 1.0])
GUARANTEES = st.one_of(
    st.builds(PureLDP, EPSILONS),
    st.builds(PureDP, epsilon=EPSILONS, neighbours=st.sampled_from([REPLACE, ADD])),
    st.builds(
        ApproximateDP, epsilon=EPSILONS, delta=DELTAS, neighbours=st.sampled_from(Neighbours)
    ),
    st.builds(GaussianDP, mu=MUS, neighbours=st.sampled_from(Neighbours)),
    st.builds(NoGuarantee, st.sampled_from(["one", "two"])),
)


def pure(epsilon: float, neighbours: Neighbours = REPLACE) -> PureDP:
    return PureDP(epsilon=epsilon, neighbours=neighbours)


def approximate(epsilon: float, delta: float, neighbours: Neighbours = REPLACE) -> ApproximateDP:
    return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=neighbours)


def gaussian(mu: float, neighbours: Neighbours = REPLACE) -> GaussianDP:
    return GaussianDP(mu=mu, neighbours=neighbours)


@given(GUARANTEES)
@settings(deadline=None)
def test_the_order_is_reflexive(one: Guarantee) -> None:
    assert one <= one  # noqa: PLR0124  reflexivity compares a value with itself
    assert not one < one  # noqa: PLR0124  the same


@given(GUARANTEES, GUARANTEES)
@settings(deadline=None)
def test_the_order_is_antisymmetric_but_for_two_spellings_of_one_promise(
    one: Guarantee, other: Guarantee
) -> None:
    if one <= other <= one:
        assert one == other or one._numbers() == other._numbers()
    assert (one < other) == (one <= other and not other <= one)


@given(GUARANTEES, GUARANTEES, GUARANTEES)
@settings(max_examples=1000, deadline=None)
def test_the_order_is_transitive(one: Guarantee, two: Guarantee, three: Guarantee) -> None:
    if one <= two <= three:
        assert one <= three


def test_the_order_is_transitive_on_all_triples_of_a_grid() -> None:
    grid: list[Guarantee] = [NoGuarantee("because")]
    for where in Neighbours:
        grid += [approximate(e, d, where) for e, d in product([0.0, 0.5, 1.0], [0.0, 1e-6, 0.2])]
        grid += [gaussian(mu, where) for mu in (0.0, 0.1, 0.5)]
    grid += [PureLDP(0.5), pure(0.5), pure(0.5, ADD), pure(1.0), pure(1.0, ADD)]
    below = {(i, j) for i, j in product(range(len(grid)), repeat=2) if grid[i] <= grid[j]}
    chains = ((i, k) for i, j in below for k in range(len(grid)) if (j, k) in below)
    assert set(chains) <= below


@given(GUARANTEES)
@settings(deadline=None)
def test_no_guarantee_is_the_greatest_element(one: Guarantee) -> None:
    nothing = NoGuarantee("because")
    assert one <= nothing
    assert nothing >= one
    assert isinstance(one, NoGuarantee) or not nothing <= one


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        (PureLDP(1.0), PureLDP(2.0)),
        (pure(1.0), approximate(1.0, 1e-6)),
        (approximate(1.0, 1e-6), approximate(1.0, 1e-5)),
        (gaussian(0.5), gaussian(0.6)),
        (gaussian(1.0), approximate(4.89, 1e-6)),
        (pure(0.0), gaussian(0.1)),
    ],
)
def test_the_smaller_number_promises_more(stronger: Guarantee, weaker: Guarantee) -> None:
    assert stronger < weaker
    assert weaker > stronger
    assert not weaker <= stronger


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (approximate(1.0, 1e-6), approximate(2.0, 1e-9)),
        (gaussian(1.0), approximate(4.88, 1e-6)),
        (gaussian(1e-9), pure(100.0)),
        (gaussian(0.01), approximate(100.0, 0.0)),
        (pure(0.001), gaussian(1.0)),
        (pure(1.0, ADD), PureLDP(1.0)),
        (pure(1.0, ADD), pure(1.0)),
        (approximate(0.1, 1e-9, ADD), approximate(10.0, 0.1)),
        (gaussian(0.1, ADD), gaussian(10.0)),
    ],
)
def test_what_cannot_be_compared_is_false_both_ways(one: Guarantee, other: Guarantee) -> None:
    assert not one <= other
    assert not other <= one
    assert not one < other
    assert not one > other


def test_one_promise_in_two_spellings_is_below_itself_both_ways() -> None:
    assert pure(1.0) <= approximate(1.0, 0.0) <= pure(1.0)
    assert pure(0.0) <= gaussian(0.0) <= pure(0.0)
    assert PureLDP(1.0) <= approximate(1.0, 0.0, ANY) <= PureLDP(1.0)


def test_equation_11_local_privacy_implies_privacy_of_the_table_of_reports() -> None:
    assert PureLDP(1.0) <= pure(1.0)
    assert approximate(1.0, 1e-6, ANY) <= approximate(1.0, 1e-6)
    assert gaussian(0.5, ANY) <= gaussian(0.5)
    assert not pure(1.0) <= PureLDP(1.0)
    assert not PureLDP(1.0) <= pure(1.0, ADD)


def test_equation_12_adding_and_removing_implies_replacing_at_twice_the_price() -> None:
    assert pure(0.1, ADD) <= pure(0.2)
    assert not pure(0.1, ADD) <= pure(0.19999999999999998)
    assert not pure(0.2) <= pure(0.2, ADD)
    assert pure(1e12, ADD) <= NoGuarantee("because")
    assert not pure(1e12, ADD) <= pure(1e12)


def test_a_promise_is_not_compared_with_a_number() -> None:
    with pytest.raises(TypeError):
        assert PureLDP(1.0) <= 1.0
    with pytest.raises(TypeError):
        assert PureLDP(1.0) < 1.0
