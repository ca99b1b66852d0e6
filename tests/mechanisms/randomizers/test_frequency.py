"""What every frequency randomizer keeps: unbiased shares, exact variance, additive tallies.

Expectations and variances are sums over the exact channel, in fractions: no sample and no tolerance
(docs/proofs/frequency-estimation.md, Theorems 1 and 2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from supm._random import simulation
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    LocalHashing,
    Reports,
    SubsetSelection,
    SupportRandomizer,
    Tally,
    UnaryEncoding,
)

Maker = Callable[..., SupportRandomizer]

MAKERS: dict[str, Maker] = {
    "response": GeneralizedRandomizedResponse.for_epsilon,
    "symmetric": UnaryEncoding.symmetric,
    "optimised": UnaryEncoding.optimised,
    "subset": SubsetSelection.for_epsilon,
    "hashing": LocalHashing.for_epsilon,
    "Hadamard": HadamardResponse.for_epsilon,
}
every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
every_epsilon = pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 1e4])


def every_report(mechanism: SupportRandomizer) -> Reports:
    """List one report of each outcome, written down without the mechanism's own sampler."""
    rows: NDArray[Any]
    if isinstance(mechanism, UnaryEncoding):
        rows = np.arange(mechanism.outcomes, dtype=np.uint8)[:, None]
    elif isinstance(mechanism, SubsetSelection):
        sets = itertools.combinations(range(mechanism.size), mechanism.width)
        rows = np.array(sorted(sets, key=lambda chosen: chosen[::-1]))
    elif isinstance(mechanism, LocalHashing):
        prime, buckets = mechanism.prime, mechanism.buckets
        rows = np.array([*itertools.product(range(1, prime), range(prime), range(buckets))])
    else:
        rows = np.arange(mechanism.outcomes)
    return Reports(symbols=rows, simulation=True)


def supports(mechanism: SupportRandomizer) -> list[list[int]]:
    """Say, for each outcome and symbol, whether one such report counts for the symbol."""
    reports = every_report(mechanism).symbols
    single = [Reports(symbols=reports[k : k + 1], simulation=True) for k in range(len(reports))]
    return [mechanism.tally(report).counts.tolist() for report in single]


def chances(mechanism: SupportRandomizer) -> list[list[Fraction]]:
    """Say how likely a report of the row's symbol counts for the column's, from the channel."""
    counted = supports(mechanism)
    return [
        [
            sum((chance for chance, count in zip(row, column, strict=True) if count), Fraction(0))
            for column in zip(*counted, strict=True)
        ]
        for row in mechanism.exact_channel()
    ]


@every_maker
@every_epsilon
@pytest.mark.parametrize("size", [2, 4, 5])
def test_the_estimator_is_unbiased_exactly(make: Maker, size: int, epsilon: float) -> None:
    mechanism = make(size=size, epsilon=epsilon)
    own, other = mechanism.hit, mechanism.miss
    expected = [[own if a == b else other for b in range(size)] for a in range(size)]
    assert chances(mechanism) == expected
    assert own > other > 0


@every_maker
def test_outcomes_are_numbered_as_the_channel_lists_them(make: Maker) -> None:
    mechanism = make(size=5, epsilon=0.5)
    np.testing.assert_array_equal(
        mechanism.outcome(every_report(mechanism)), np.arange(mechanism.outcomes)
    )


@every_maker
@every_epsilon
def test_the_estimate_of_one_report_is_the_formula(make: Maker, epsilon: float) -> None:
    mechanism = make(size=5, epsilon=epsilon)
    own, other = mechanism.hit, mechanism.miss
    for count in ([1, 0, 0, 1, 0], [0, 0, 0, 0, 0]):
        tally = Tally(counts=np.array(count), reports=1, simulation=True)
        exact = [float((each - other) / (own - other)) for each in count]
        np.testing.assert_allclose(mechanism.estimate(tally).values, exact, rtol=1e-9)


@every_maker
@every_epsilon
@pytest.mark.parametrize("size", [2, 5])
def test_the_variance_is_that_of_the_channel(make: Maker, size: int, epsilon: float) -> None:
    mechanism = make(size=size, epsilon=epsilon)
    chance = chances(mechanism)
    own, other = chance[0][0], chance[1][0]
    # An estimate from one report is (support - other) / (own - other), with support 0 or 1.
    held, free = (p * (1 - p) / (own - other) ** 2 for p in (own, other))
    for share in (Fraction(0), Fraction(1, size), Fraction(1)):
        exact = share * held + (1 - share) * free
        assert mechanism.variance(float(share)) == pytest.approx(float(exact), rel=1e-12)
        assert mechanism.variance(float(share), 1000) == pytest.approx(
            float(exact / 1000), rel=1e-12
        )


@every_maker
def test_shares_of_a_crowd_come_back_within_their_standard_errors(make: Maker) -> None:
    mechanism, owners = make(size=6, epsilon=1.0), 60_000
    shares = np.array([0.5, 0.25, 0.15, 0.1, 0.0, 0.0])
    crowd = np.repeat(np.arange(6), (shares * owners).astype(int))
    estimate = mechanism.estimate(mechanism.tally(mechanism.randomize(crowd, simulation(2))))
    assert np.abs((estimate.values - shares) / estimate.standard_error).max() < 5
    exact = [math.sqrt(mechanism.variance(share, owners)) for share in shares]
    np.testing.assert_allclose(estimate.standard_error, exact, rtol=0.05)
    assert estimate.simulation


@every_maker
def test_the_standard_error_is_the_square_root_of_the_variance(make: Maker) -> None:
    mechanism = make(size=4, epsilon=1.0)
    tally = Tally(counts=np.array([0, 30, 50, 100]), reports=100, simulation=False)
    estimate = mechanism.estimate(tally)
    within = np.clip(estimate.values, 0, 1)
    expected = [math.sqrt(mechanism.variance(share, 100)) for share in within]
    np.testing.assert_allclose(estimate.standard_error, expected, rtol=1e-12)
    assert not estimate.simulation


@given(
    make=st.sampled_from([*MAKERS.values()]), size=st.integers(2, 300), epsilon=st.floats(1e-6, 1e4)
)
def test_epsilon_is_kept_for_any_size(make: Maker, size: int, epsilon: float) -> None:
    mechanism = make(size=size, epsilon=epsilon)
    assert 0 < mechanism.epsilon <= epsilon
    assert 0 < mechanism.miss < mechanism.hit < 1
    assert math.isfinite(mechanism.variance(1 / size))


@given(
    make=st.sampled_from([*MAKERS.values()]),
    crowd=st.lists(st.integers(0, 8), min_size=2, max_size=40),
    seed=st.integers(0, 2**32),
    data=st.data(),
)
def test_tallies_add_up_in_any_order(
    make: Maker, crowd: list[int], seed: int, data: st.DataObject
) -> None:
    mechanism = make(size=9, epsilon=1.0)
    rows = mechanism.randomize(crowd, simulation(seed)).symbols
    cut = data.draw(st.integers(1, len(crowd) - 1))
    order = data.draw(st.permutations(range(len(crowd))))
    whole = mechanism.tally(Reports(symbols=rows, simulation=True))
    parts = [Reports(symbols=part, simulation=True) for part in np.split(rows[order], [cut])]
    merged = mechanism.tally(parts[0]) + mechanism.tally(parts[1])
    np.testing.assert_array_equal(merged.counts, whole.counts)
    assert merged.reports == whole.reports == len(crowd)


@every_maker
@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_chunks_of_any_length_leave_the_distribution_as_it_is(
    make: Maker, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism, crowd = make(size=4, epsilon=2.0), np.array([0, 3, 1, 1, 2, 0, 3])
    monkeypatch.setattr(type(mechanism), "_chunk", chunk)
    rows = np.array(
        [
            mechanism.tally(_row(mechanism, crowd, seed, k)).counts
            for seed in range(300)
            for k in (0, 6)
        ]
    )
    told = rows.reshape(300, 2, 4).mean(axis=0)
    hit, miss = float(mechanism.hit), float(mechanism.miss)
    expected = np.array([[hit, miss, miss, miss], [miss, miss, miss, hit]])
    assert np.abs(told - expected).max() < 6 * math.sqrt(0.25 / 300)


def _row(mechanism: SupportRandomizer, crowd: NDArray[Any], seed: int, row: int) -> Reports:
    rows = mechanism.randomize(crowd, simulation(seed)).symbols
    assert len(rows) == len(crowd)
    return Reports(symbols=rows[row : row + 1], simulation=True)


@every_maker
def test_owners_in_different_chunks_get_different_noise(make: Maker) -> None:
    mechanism = make(size=50, epsilon=0.5)
    chunk = mechanism._chunk
    for owners in (chunk - 1, chunk, chunk + 1, 2 * chunk + 1):
        rows = mechanism.randomize(np.zeros(owners, dtype=np.int64), simulation(4)).symbols
        assert len(rows) == owners
    assert not np.array_equal(rows[:chunk], rows[chunk : 2 * chunk])
    assert mechanism.tally(Reports(symbols=rows, simulation=True)).reports == 2 * chunk + 1


SPELLINGS: dict[str, Callable[[list[int]], Any]] = {
    "list": list,
    "tuple": tuple,
    "uint8": lambda values: np.array(values, dtype=np.uint8),
    "int8": lambda values: np.array(values, dtype=np.int8),
    "uint64": lambda values: np.array(values, dtype=np.uint64),
    "big-endian": lambda values: np.array(values, dtype=">i8"),
    "every other": lambda values: np.repeat(np.array(values), 2)[::2],
    "backwards": lambda values: np.array(values[::-1])[::-1],
    "read-only": lambda values: _read_only(np.array(values)),
}


def _read_only(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values.setflags(write=False)
    return values


@every_maker
@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_values_may_be_spelled_in_many_ways(make: Maker, spell: Callable[..., Any]) -> None:
    mechanism, values = make(size=7, epsilon=1.0), [0, 6, 3, 3, 1]
    given_values = spell(values)
    told = mechanism.randomize(given_values, simulation(1)).symbols
    expected = mechanism.randomize(np.array(values), simulation(1)).symbols
    np.testing.assert_array_equal(told, expected)
    assert list(given_values) == values


@every_maker
@pytest.mark.parametrize("dtype", [">i8", "<i4", ">u2", "u8", "i2"])
def test_reports_may_come_in_any_whole_number_type(make: Maker, dtype: str) -> None:
    mechanism = make(size=7, epsilon=1.0)
    reports = mechanism.randomize([0, 1, 6, 3], simulation(1))
    other = Reports(symbols=_read_only(reports.symbols.astype(dtype)), simulation=True)
    np.testing.assert_array_equal(mechanism.tally(other).counts, mechanism.tally(reports).counts)
    np.testing.assert_array_equal(mechanism.outcome(other), mechanism.outcome(reports))


@every_maker
def test_reports_need_not_be_contiguous(make: Maker) -> None:
    mechanism = make(size=7, epsilon=1.0)
    rows = mechanism.randomize([0, 1, 6, 3], simulation(1)).symbols
    spread = Reports(symbols=np.asfortranarray(np.repeat(rows, 2, axis=0))[::2], simulation=True)
    np.testing.assert_array_equal(
        mechanism.tally(spread).counts,
        mechanism.tally(Reports(symbols=rows, simulation=True)).counts,
    )


@every_maker
def test_numbers_of_numpy_make_the_same_mechanism(make: Maker) -> None:
    mechanism = make(size=np.array([5], np.int64)[0], epsilon=np.float64(1.0))
    assert mechanism == make(size=5, epsilon=1.0)
    assert {type(value) for value in vars(mechanism).values()} == {int}
    again = type(mechanism)(**{name: np.uint64(value) for name, value in vars(mechanism).items()})
    assert again == mechanism
    assert again.epsilon == mechanism.epsilon
    assert {type(value) for value in vars(again).values()} == {int}
