"""Shares: any t open the secret, fewer fit every secret, and wrong ones are refused."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from supm._errors import FederationError, ParameterError
from supm._random import simulation
from supm.federation.secure_sum import shamir
from supm.federation.secure_sum.shamir import PRIME, SHARE_BYTES, open_secret, split_secret

SECRET = bytes(range(200, 232))
secrets = st.binary(min_size=32, max_size=32)


def test_the_modulus_is_prime_and_above_every_secret() -> None:
    odd, twos = PRIME - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41):  # Miller and Rabin
        powers = [pow(base, odd << k, PRIME) for k in range(twos)]
        assert powers[0] == 1 or PRIME - 1 in powers
    assert 2**256 < PRIME < 2 ** (8 * SHARE_BYTES)


@given(secrets, st.integers(1, 6), st.integers(0, 2**60))
def test_any_threshold_of_them_open_the_secret(secret: bytes, threshold: int, seed: int) -> None:
    shares = split_secret(secret, range(6), threshold, simulation(seed))
    for some in combinations(range(6), threshold):
        assert open_secret({n: shares[n] for n in some}, threshold) == secret
    assert open_secret(shares, threshold) == secret


@pytest.mark.parametrize("secret", [bytes(32), b"\xff" * 32], ids=["least", "greatest"])
def test_extreme_secrets_survive(secret: bytes) -> None:
    assert open_secret(split_secret(secret, [0, 4, 9], 3, simulation(1)), 3) == secret


def test_too_few_shares_are_refused() -> None:
    shares = split_secret(SECRET, range(5), 4, simulation(1))
    with pytest.raises(FederationError, match="needs 4 shares to be opened, got 3"):
        open_secret({n: shares[n] for n in range(3)}, 4)


def test_too_few_shares_fit_every_secret() -> None:
    """For each candidate there is a last share that completes the others: they exclude nothing."""
    shares = split_secret(SECRET, range(5), 4, simulation(1))
    known = {n + 1: int.from_bytes(shares[n], "little") for n in range(3)}
    for candidate in (bytes(32), b"\xff" * 32, SECRET):
        points = {0: int.from_bytes(candidate, "little"), **known}
        last = shamir._interpolated(points, 4).to_bytes(SHARE_BYTES, "little")
        completed = {**{n: shares[n] for n in range(3)}, 3: last}
        assert open_secret(completed, 4) == candidate


def test_a_single_share_is_uniform_whatever_the_secret() -> None:
    """Its top byte below the 257th bit, over many splits; the share at 1 of a line."""
    source = simulation(5)
    for secret in (bytes(32), b"\xff" * 32):
        shares = [split_secret(secret, [0, 1], 2, source)[0] for _ in range(4000)]
        heights = [int.from_bytes(share, "little") / PRIME for share in shares]
        assert stats.kstest(heights, "uniform").pvalue > 1e-6


def test_the_coefficients_are_rejected_not_folded_at_the_prime() -> None:
    class Words:
        def __init__(self) -> None:
            self.given = [2**320 - 1, (PRIME - 1) << 63, PRIME << 63, 5 << 63]

        def words(self, count: int) -> Any:
            number = self.given.pop(0)
            return np.frombuffer(number.to_bytes(8 * count, "little"), dtype="<u8")

    assert shamir._below_prime(2, Words()) == [PRIME - 1, 5]  # type: ignore[arg-type]


def test_a_share_beyond_the_threshold_must_agree_with_the_others() -> None:
    shares = split_secret(SECRET, range(4), 3, simulation(1))
    wrong = {**shares, 3: shares[2]}
    with pytest.raises(FederationError, match="not of one secret"):
        open_secret(wrong, 3)


def test_shares_that_open_no_secret_of_32_bytes_are_refused() -> None:
    large = (PRIME - 1).to_bytes(SHARE_BYTES, "little")
    with pytest.raises(FederationError, match="not of one secret"):
        open_secret({0: large}, 1)


@pytest.mark.parametrize(
    "share", [b"", bytes(32), bytes(34), b"\xff" * 33, PRIME.to_bytes(33, "little")]
)
def test_what_is_no_share_is_refused(share: bytes) -> None:
    with pytest.raises(FederationError, match="no number below the prime"):
        open_secret({0: share}, 1)


@pytest.mark.parametrize(
    ("secret", "holders", "threshold"),
    [
        (SECRET[:31], [0, 1], 1),
        (SECRET, [0, 0], 1),
        (SECRET, [0, -1], 1),
        (SECRET, [0, 1], 3),
        (SECRET, [0, 1], 0),
    ],
)
def test_what_cannot_be_split_is_refused(secret: bytes, holders: list[int], threshold: int) -> None:
    with pytest.raises(ParameterError):
        split_secret(secret, holders, threshold, simulation(1))
