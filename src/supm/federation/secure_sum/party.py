"""A party's share of the work: make keys, deal shares, hide a vector, help to open the sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError
from supm._random import RandomSource
from supm.federation.secure_sum.keys import (
    SETUP,
    Binding,
    agree,
    hash_text,
    new_secret,
    open_envelope,
    public_of,
    seal_envelope,
)
from supm.federation.secure_sum.masks import (
    mask_binding,
    mask_vector,
    own_mask_key,
    seed_commitment,
)
from supm.federation.secure_sum.memory import PartyMemory
from supm.federation.secure_sum.roster import PartyKeys, Roster
from supm.federation.secure_sum.shamir import SHARE_BYTES, split_secret

__all__ = [
    "Secrets",
    "check_tags",
    "collect_shares",
    "confirm_tags",
    "deal_shares",
    "hide_vector",
    "reveal_shares",
]


@dataclass(frozen=True)
class Secrets:
    """The secrets of a party: one for envelopes, and for each round a mask secret and a seed.

    Parameters
    ----------
    envelope : bytes
        The secret of its envelopes.
    masks : tuple of bytes
        For each round, the secret of the masks that it shares with others.
    seeds : tuple of bytes
        For each round, the seed of its own mask.
    """

    envelope: bytes
    masks: tuple[bytes, ...]
    seeds: tuple[bytes, ...]

    def __repr__(self) -> str:
        """Say for how many rounds, never what they are."""
        return f"Secrets(rounds={len(self.masks)})"

    @classmethod
    def draw(cls, rounds: int, source: RandomSource) -> Secrets:
        """Draw all secrets of a run."""
        envelope, *others = new_secret(source, 1 + 2 * rounds)
        return cls(envelope, tuple(others[:rounds]), tuple(others[rounds:]))

    def public(self, study: str) -> PartyKeys:
        """Return what is told about them: public keys, and what fixes the seeds."""
        return PartyKeys(
            envelope=public_of(self.envelope),
            masks=tuple(public_of(secret) for secret in self.masks),
            commitments=tuple(seed_commitment(s, study, r) for r, s in enumerate(self.seeds)),
        )


def deal_shares(
    memory: PartyMemory, roster: Roster, threshold: int, source: RandomSource
) -> tuple[dict[int, bytes], tuple[dict[int, bytes], ...]]:
    """Cut all secrets into shares: closed envelopes for the others, and what it keeps itself."""
    members, own = roster.members, memory.number
    dealt = [
        [split_secret(secret, members, threshold, source) for secret in pair]
        for pair in zip(memory.masks, memory.seeds, strict=True)
    ]
    letters = {n: b"".join(m[n] + s[n] for m, s in dealt) for n in members}
    envelopes = {
        n: seal_envelope(_envelope_key(memory, roster, own, n), letters[n], source)
        for n in members
        if n != own
    }
    return envelopes, tuple({own: piece} for piece in _by_round(letters[own]))


def collect_shares(
    memory: PartyMemory, envelopes: Mapping[int, bytes]
) -> tuple[dict[int, bytes], ...]:
    """Open the envelopes of the others and lay what they hold beside its own."""
    held = [dict(shares) for shares in memory.held]
    for sender, envelope in envelopes.items():
        key = _envelope_key(memory, memory.roster, sender, memory.number)
        try:
            letter = open_envelope(key, envelope)
        except FederationError:
            message = f"the envelope of party {sender} cannot be opened."
            raise FederationError(message) from None
        for shares, piece in zip(held, _by_round(letter), strict=True):
            shares[sender] = piece
    return tuple(held)


def hide_vector(memory: PartyMemory, vector: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Mask a vector for the round that is under way, among those who are present."""
    study, number = hash_text(memory.study), memory.number
    binding = mask_binding(study, memory.round, memory.view)
    secret = memory.masks[memory.round]
    keys = {
        other: agree(secret, memory.roster[other].masks[memory.round], binding)
        for other in memory.present
        if other != number
    }
    own = own_mask_key(memory.seeds[memory.round], study, memory.round)
    return mask_vector(vector, number, own, keys)


def confirm_tags(memory: PartyMemory) -> dict[int, bytes]:
    """Tell each other survivor, in a way that the server cannot forge, who the survivors are."""
    others = [n for n in memory.survivors if n != memory.number]
    return {other: _tag(memory, memory.number, other) for other in others}


def check_tags(memory: PartyMemory, tags: Mapping[int, bytes], threshold: int) -> None:
    """Raise FederationError unless enough survivors were told of the same survivors."""
    told = [compare_digest(tag, _tag(memory, n, memory.number)) for n, tag in tags.items()]
    if not all(told) or len(tags) + 1 < threshold:
        message = "too few parties were told of the same survivors; the server may not split them."
        raise FederationError(message)


def reveal_shares(memory: PartyMemory) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return shares of the seeds of survivors and of the mask secrets of the lost: never both."""
    held = memory.held[memory.round]
    lost = [n for n in memory.present if n not in memory.survivors]
    seeds = {n: held[n][SHARE_BYTES:] for n in memory.survivors}
    return seeds, {n: held[n][:SHARE_BYTES] for n in lost}


def _envelope_key(memory: PartyMemory, roster: Roster, sender: int, receiver: int) -> bytes:
    # One key for each direction, used once: what A sent to B cannot come back as from B.
    purpose = f"envelope {sender} to {receiver}"
    binding = Binding(study=hash_text(memory.study), round=SETUP, purpose=purpose)
    other = receiver if sender == memory.number else sender
    return agree(memory.envelope, roster[other].envelope, binding)


def _tag(memory: PartyMemory, sender: int, receiver: int) -> bytes:
    names = ",".join(str(n) for n in memory.survivors)
    binding = Binding(
        study=hash_text(memory.study),
        round=memory.round,
        purpose=f"confirm {sender} to {receiver}",
        view=f"{memory.view} {names}",
    )
    other = receiver if sender == memory.number else sender
    return agree(memory.envelope, memory.roster[other].envelope, binding)


def _by_round(letter: bytes) -> Sequence[bytes]:
    size = 2 * SHARE_BYTES
    return [letter[start : start + size] for start in range(0, len(letter), size)]
