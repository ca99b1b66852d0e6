"""The modulus of the hash functions is prime, and the smallest that will do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm.mechanisms.randomizers.local_hashing import prime_from

# Carmichael numbers and the least strong pseudoprimes to the first one to nine prime bases.
LIARS = [561, 1105, 6601, 2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383]


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def test_small_numbers_agree_with_trial_division() -> None:
    expected, following = [], 2
    for number in range(3000):
        while following < number or not is_prime(following):
            following += 1
        expected.append(following)
    assert [prime_from(number) for number in range(3000)] == expected


@given(st.integers(2, 2**40))
def test_the_prime_is_not_below_and_has_no_small_divisor(number: int) -> None:
    prime = prime_from(number)
    # Bertrand: there is a prime between a number and its double.
    assert number <= prime < 2 * number
    assert all(prime % divisor for divisor in range(2, min(prime, 1000)))


@pytest.mark.parametrize("composite", LIARS)
def test_a_composite_that_fools_simpler_tests_is_passed_over(composite: int) -> None:
    assert prime_from(composite) > composite


@pytest.mark.parametrize(
    ("number", "prime"),
    [(2**20, 2**20 + 7), (2**31, 2**31 + 11), (2**32, 2**32 + 15), (2**40, 2**40 + 15)],
)
def test_the_next_prime_after_a_power_of_two(number: int, prime: int) -> None:
    assert prime_from(number) == prime
    assert prime_from(prime) == prime


def test_the_largest_modulus_has_no_divisor() -> None:
    assert is_prime(prime_from(2**40))


def test_what_is_below_two_gives_two() -> None:
    assert [prime_from(number) for number in (-5, 0, 1, 2)] == [2, 2, 2, 2]
