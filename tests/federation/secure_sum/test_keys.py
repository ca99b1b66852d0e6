"""Keys are bound to what they are for, streams are AES-CTR, envelopes open for one reader only."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from supm._errors import FederationError, ParameterError
from supm._random import simulation
from supm.federation.secure_sum import keys as shamir
from supm.federation.secure_sum.keys import (
    PRIME,
    SHARE_BYTES,
    Binding,
    agree,
    check_public,
    commit,
    mask_binding,
    new_secret,
    open_envelope,
    open_secret,
    own_mask_key,
    public_of,
    seal_envelope,
    seed_commitment,
    split_secret,
    stream,
)
from supm.federation.secure_sum.party import PartyMemory
from supm.federation.secure_sum.wire import Roster, roster_fingerprint

ONE, TWO, THREE = new_secret(simulation(1), 3)
BINDING = Binding(study="a" * 64, round=0, purpose="mask", view="b" * 64)
# Points of low order: every agreement on them has the same result.
LOW_ORDER = [
    bytes(32),
    b"\x01" + bytes(31),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
]


def test_two_agree_and_a_third_does_not() -> None:
    key = agree(ONE, public_of(TWO), BINDING)
    assert key == agree(TWO, public_of(ONE), BINDING)
    assert key != agree(THREE, public_of(TWO), BINDING)
    assert len(key) == 32


def test_the_public_key_is_that_of_the_standard() -> None:
    """RFC 7748, section 6.1."""
    secret = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    public = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    assert public_of(secret).hex() == public


@pytest.mark.parametrize(
    "change", [{"study": "c" * 64}, {"round": 1}, {"purpose": "envelope"}, {"view": ""}]
)
def test_another_binding_gives_another_key(change: dict[str, Any]) -> None:
    other = replace(BINDING, **change)
    assert agree(ONE, public_of(TWO), BINDING) != agree(ONE, public_of(TWO), other)
    assert commit(ONE, BINDING) != commit(ONE, other)


@pytest.mark.parametrize("public", LOW_ORDER, ids=lambda key: key.hex()[:8])
def test_keys_on_which_all_agree_are_refused(public: bytes) -> None:
    with pytest.raises(FederationError, match="hide nothing"):
        check_public(public)
    with pytest.raises(FederationError, match="hide nothing"):
        agree(ONE, public, BINDING)


def test_an_honest_key_is_accepted() -> None:
    check_public(public_of(ONE))


@pytest.mark.parametrize("length", [0, 1, 3, 100, 70_000, 200_001])
def test_the_stream_is_that_of_aes_in_counter_mode(length: int) -> None:
    encrypt = Cipher(algorithms.AES(ONE), modes.CTR(bytes(16))).encryptor()
    assert stream(ONE, length).astype("<u8").tobytes() == encrypt.update(bytes(8 * length))


def test_an_envelope_opens_with_its_key_only_and_only_unchanged() -> None:
    sealed = seal_envelope(ONE, b"two shares", simulation(2))
    assert open_envelope(ONE, sealed) == b"two shares"
    changed = [sealed[:k] + bytes([sealed[k] ^ 1]) + sealed[k + 1 :] for k in range(len(sealed))]
    for key, content in [
        (TWO, sealed),
        (ONE, sealed[:-1]),
        (ONE, b""),
        *((ONE, c) for c in changed),
    ]:
        with pytest.raises(FederationError, match="another key, or changed"):
            open_envelope(key, content)


def test_secrets_are_different_and_come_from_the_source() -> None:
    assert len({ONE, TWO, THREE}) == 3
    assert new_secret(simulation(1), 3) == [ONE, TWO, THREE]
    assert new_secret(simulation(1), 1)[0] == simulation(1).words(4).astype("<u8").tobytes()


def test_no_two_secrets_of_a_run_are_equal() -> None:
    """One that served two rounds would be opened in the one and hide something in the other."""
    secrets = PartyMemory(study="a").with_secrets(3, simulation(1))
    assert len({secrets.envelope, *secrets.masks, *secrets.seeds}) == 7
    public = secrets.public_keys()
    assert len({public.envelope, *public.masks, *public.commitments}) == 7
    assert repr(secrets) == "PartyMemory(awaits='invite', number=0, round=0)"


def test_derived_keys_name_both_public_keys_in_any_order() -> None:
    one, two, three = (public_of(secret) for secret in (ONE, TWO, THREE))
    assert BINDING.info(one, two) == BINDING.info(two, one) != BINDING.info(one, three)


def test_what_binds_a_mask() -> None:
    assert mask_binding("a", 3, "b") == Binding(study="a", round=3, purpose="mask", view="b")
    keys = {own_mask_key(ONE, s, r) for s in "ab" for r in (0, 1)}
    assert len({*keys, seed_commitment(ONE, "a", 0), seed_commitment(ONE, "a", 1)}) == 6


def drawn(seed: int) -> PartyMemory:
    return PartyMemory(study="a").with_secrets(1, simulation(seed))


def test_the_fingerprint_covers_the_study_and_every_key() -> None:
    first, second = (drawn(n).public_keys() for n in (1, 2))
    rosters = [Roster((first, None)), Roster((first, second)), Roster((second, first))]
    prints = {roster_fingerprint(study, roster) for study in "ab" for roster in rosters}
    assert len(prints) == 6
    changed = replace(second, commitments=first.commitments)
    assert roster_fingerprint("a", Roster((first, changed))) not in prints


def test_who_is_not_on_the_roster_has_no_entry() -> None:
    with pytest.raises(FederationError, match="party 0 is not on the roster"):
        _ = Roster((None,))[0]


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
