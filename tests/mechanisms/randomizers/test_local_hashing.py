"""Local hashing: exact arithmetic of the hash, the exact chance of a collision, strange reports."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm._validation import Integers
from supm.mechanisms import LocalHashing, Reports
from supm.mechanisms.randomizers.local_hashing import _multiply_modulo, prime_from
from supm.mechanisms.thresholds import WORDS, words_inside

ALARM = 1e-11


def hashing(size: int, buckets: int, epsilon: float = 1.0) -> LocalHashing:
    return LocalHashing.with_buckets(size=size, buckets=buckets, epsilon=epsilon)


def buckets_of(mechanism: LocalHashing, rows: NDArray[Any], symbols: list[int]) -> list[int]:
    """Hash with Python's whole numbers, which do not overflow."""
    pairs = zip(rows.tolist(), symbols, strict=True)
    return [(a * v + b) % mechanism.prime % mechanism.buckets for (a, b, _), v in pairs]


@pytest.mark.parametrize("modulus", [2, 7, 2**31 + 11, 2**32 - 5, 2**32 + 15, 2**40 + 15])
def test_products_never_leave_64_bits(modulus: int) -> None:
    ends = [0, 1, modulus // 2, modulus - 2, modulus - 1]
    drawn = simulation(1).below(modulus, 200).tolist()
    left, right = [*ends, *ends[::-1], *drawn], [*ends, *ends, *drawn[::-1]]
    product = _multiply_modulo(
        np.array(left, dtype=np.uint64), np.array(right, dtype=np.uint64), modulus
    )
    assert product.tolist() == [a * b % modulus for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("size", [2, 3, 6, 10, 13])
def test_the_chance_of_a_collision_is_counted_over_all_hash_functions(size: int) -> None:
    prime = prime_from(size)
    for buckets in range(2, prime + 1):
        mechanism = hashing(size, buckets)
        for one, other in [*permutations(range(size), 2)][:6]:
            shared = Counter(
                (a * one + b) % prime % buckets == (a * other + b) % prime % buckets
                for a in range(1, prime)
                for b in range(prime)
            )
            assert mechanism._collision == Fraction(shared[True], shared.total())


def test_as_many_buckets_as_residues_never_collide() -> None:
    mechanism = hashing(7, 7)
    assert mechanism._collision == 0
    assert mechanism.miss == (1 - mechanism.hit) / 6


@pytest.mark.parametrize(("size", "epsilon"), [(1000, 1.0), (10**6, 2.0), (2**40, 4.0)])
def test_the_variance_of_a_rare_symbol_is_near_that_of_the_papers(
    size: int, epsilon: float
) -> None:
    variance = LocalHashing.for_epsilon(size=size, epsilon=epsilon).variance(0.0)
    odds = math.exp(epsilon)
    assert variance == pytest.approx(4 * odds / (odds - 1) ** 2, rel=0.02)


@given(size=st.integers(2, 2**40), epsilon=st.floats(0.01, 8))
def test_there_are_about_as_many_buckets_as_the_odds_and_one(size: int, epsilon: float) -> None:
    mechanism = LocalHashing.for_epsilon(size=size, epsilon=epsilon)
    ideal = min(math.exp(epsilon) + 1, mechanism.prime)
    assert abs(mechanism.buckets - ideal) <= 1
    assert size <= mechanism.prime < 2 * size


@pytest.mark.parametrize("size", [100, 2**31 + 5, 2**32, 2**40])
def test_the_true_bucket_is_reported_as_often_as_stated(size: int) -> None:
    mechanism, owners = LocalHashing.for_epsilon(size=size, epsilon=1.5), 20_000
    values = [0, size - 1, size // 2, 7] * (owners // 4)
    tracemalloc.start()
    rows = mechanism.randomize(values, secure()).symbols
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Six arrays of one word per owner: nothing grows with the alphabet.
    assert peak < 3 * 2**20
    true = sum(
        int(told) == bucket
        for told, bucket in zip(rows[:, 2], buckets_of(mechanism, rows, values), strict=True)
    )
    assert stats.binomtest(true, owners, float(mechanism.hit)).pvalue > ALARM


@pytest.mark.parametrize("size", [100, 2**40])
def test_a_false_bucket_is_any_other_alike(size: int) -> None:
    mechanism, owners = hashing(size, 5), 20_000
    rows = mechanism.randomize([size - 1] * owners, secure()).symbols
    steps = (rows[:, 2].astype(np.int64) - buckets_of(mechanism, rows, [size - 1] * owners)) % 5
    chance = [float(mechanism.hit)] + [float(1 - mechanism.hit) / 4] * 4
    assert stats.chisquare(np.bincount(steps), np.array(chance) * owners).pvalue > ALARM


@pytest.mark.parametrize("size", [100, 2**40])
def test_the_hash_function_is_drawn_afresh_and_does_not_depend_on_the_symbol(size: int) -> None:
    mechanism, owners = LocalHashing.for_epsilon(size=size, epsilon=1.0), 20_000
    rows = mechanism.randomize([0, size - 1] * (owners // 2), secure()).symbols
    prime = mechanism.prime
    for half in (rows[::2], rows[1::2]):
        for column, low, high in ((0, 1, prime), (1, 0, prime)):
            tenth = (half[:, column].astype(np.int64) - low) * 10 // (high - low)
            edges = -(-(high - low) * np.arange(11) // 10)
            expected = len(half) * np.diff(edges) / (high - low)
            assert stats.chisquare(np.bincount(tenth, minlength=10), expected).pvalue > ALARM
            assert int(half[:, column].min()) >= low


def test_a_tally_counts_the_symbols_that_hash_into_the_reported_bucket() -> None:
    mechanism = hashing(12, 3)
    rows = mechanism.randomize([0, 5, 11] * 20, simulation(1)).symbols
    expected = [
        sum(
            bucket == told
            for bucket, told in zip(
                buckets_of(mechanism, rows, [symbol] * 60), rows[:, 2].tolist(), strict=True
            )
        )
        for symbol in range(12)
    ]
    assert mechanism.tally(Reports(symbols=rows, simulation=True)).counts.tolist() == expected


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ([0, 0, 0], "factors 1"),
        ([13, 0, 0], "symbols 0 … 12"),
        ([1, 13, 0], "symbols 0 … 12"),
        ([1, 0, 3], "buckets 0"),
        ([1, 0, -1], "symbols 0 … 12"),
        ([-1, 0, 0], "symbols 0 … 12"),
    ],
)
def test_a_report_with_a_number_out_of_range_is_refused(row: list[int], complaint: str) -> None:
    reports = Reports(symbols=np.array([[1, 0, 0], row]), simulation=True)
    with pytest.raises(ParameterError, match=complaint):
        hashing(12, 3).tally(reports)
    with pytest.raises(ParameterError, match=complaint):
        hashing(12, 3).outcome(reports)


@pytest.mark.parametrize("bad", [*Integers("buckets", 2, 13).violations(), 14])
def test_an_impossible_number_of_buckets_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="buckets must be a whole number"):
        hashing(12, bad)
    with pytest.raises(ParameterError, match="buckets must be a whole number"):
        LocalHashing(size=12, buckets=bad, keep_words=WORDS - 1)


@pytest.mark.parametrize("words", words_inside("keep_words", inside=1, outside=2).violations())
def test_impossible_words_are_refused_by_their_name(words: Any) -> None:
    with pytest.raises(ParameterError, match="keep_words must be a whole number"):
        LocalHashing(size=12, buckets=3, keep_words=words)


def test_the_largest_hash_is_as_wide_as_its_prime() -> None:
    mechanism, owners = hashing(2**40, 2**40 + 15, 28.0), 5000
    rows = mechanism.randomize([2**40 - 1] * owners, secure()).symbols
    true = rows[:, 2] == np.array(buckets_of(mechanism, rows, [2**40 - 1] * owners))
    assert stats.binomtest(int(true.sum()), owners, float(mechanism.hit)).pvalue > ALARM
    assert stats.kstest(rows[~true, 2] / mechanism.buckets, "uniform").pvalue > ALARM
