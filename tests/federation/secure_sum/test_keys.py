"""Keys are bound to what they are for, streams are AES-CTR, envelopes open for one reader only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from supm._errors import FederationError
from supm._random import simulation
from supm.federation.secure_sum.keys import (
    Binding,
    agree,
    check_public,
    commit,
    new_secret,
    open_envelope,
    public_of,
    seal_envelope,
    stream,
)
from supm.federation.secure_sum.masks import mask_binding, own_mask_key, seed_commitment
from supm.federation.secure_sum.party import Secrets
from supm.federation.secure_sum.roster import Roster, roster_fingerprint

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
    secrets = Secrets.draw(3, simulation(1))
    assert len({secrets.envelope, *secrets.masks, *secrets.seeds}) == 7
    public = secrets.public("a" * 64)
    assert len({public.envelope, *public.masks, *public.commitments}) == 7
    assert repr(secrets) == "Secrets(rounds=3)"


def test_derived_keys_name_both_public_keys_in_any_order() -> None:
    one, two, three = (public_of(secret) for secret in (ONE, TWO, THREE))
    assert BINDING.info(one, two) == BINDING.info(two, one) != BINDING.info(one, three)


def test_what_binds_a_mask() -> None:
    assert mask_binding("a", 3, "b") == Binding(study="a", round=3, purpose="mask", view="b")
    keys = {own_mask_key(ONE, s, r) for s in "ab" for r in (0, 1)}
    assert len({*keys, seed_commitment(ONE, "a", 0), seed_commitment(ONE, "a", 1)}) == 6


def test_the_fingerprint_covers_the_study_and_every_key() -> None:
    first, second = (Secrets.draw(1, simulation(n)).public("a") for n in (1, 2))
    rosters = [Roster((first, None)), Roster((first, second)), Roster((second, first))]
    prints = {roster_fingerprint(study, roster) for study in "ab" for roster in rosters}
    assert len(prints) == 6
    changed = replace(second, commitments=first.commitments)
    assert roster_fingerprint("a", Roster((first, changed))) not in prints


def test_who_is_not_on_the_roster_has_no_entry() -> None:
    with pytest.raises(FederationError, match="party 0 is not on the roster"):
        _ = Roster((None,))[0]
