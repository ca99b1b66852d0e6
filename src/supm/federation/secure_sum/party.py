"""A party's share of the work, and how the server opens a sum.

Each pair of parties shares a mask, added by the one and taken away by the other, which vanishes in
the sum. All arithmetic is modulo 2^64, in which a masked number is uniform whatever it hides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError, ParameterError
from supm._random import RandomSource
from supm.federation.secure_sum.keys import (
    SETUP,
    SHARE_BYTES,
    Binding,
    agree,
    commit,
    hash_text,
    new_secret,
    open_envelope,
    open_secret,
    public_of,
    seal_envelope,
    split_secret,
    stream,
)
from supm.federation.secure_sum.memory import PartyMemory
from supm.federation.secure_sum.wire import PartyKeys, Roster


def pair_masks(number: int, keys: Mapping[int, bytes], length: int) -> NDArray[np.uint64]:
    """Return the sum of the masks that a party shares with others."""
    if number in keys:
        raise ParameterError("keys", "those agreed with others", number)
    total = np.zeros(length, dtype=np.uint64)
    for other, key in keys.items():
        change = np.add if other > number else np.subtract
        change(total, stream(key, length), out=total)
    return total


def mask_vector(
    vector: NDArray[np.int64], number: int, own: bytes, keys: Mapping[int, bytes]
) -> NDArray[np.uint64]:
    """Hide a vector under the party's own mask and those that it shares with others."""
    masked = pair_masks(number, keys, vector.size)
    np.add(masked, stream(own, vector.size), out=masked)
    return np.add(masked, as_unsigned(vector), out=masked)


def unmask_total(
    total: NDArray[np.uint64], own: list[bytes], left: Mapping[int, Mapping[int, bytes]]
) -> NDArray[np.int64]:
    """Take away what masks are left in a sum of masked vectors."""
    opened = total.copy()
    for key in own:
        np.subtract(opened, stream(key, total.size), out=opened)
    for lost, keys in left.items():
        # What the lost one would have added is the negative of what the others left behind.
        np.add(opened, pair_masks(lost, keys, total.size), out=opened)
    return as_signed(opened)


def as_unsigned(vector: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return whole numbers modulo 2^64."""
    return np.ascontiguousarray(vector).view(np.uint64)


def as_signed(total: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return numbers modulo 2^64 as those between -2^63 and 2^63 - 1."""
    return np.ascontiguousarray(total).view(np.int64)


def mask_binding(study: str, number: int, view: str) -> Binding:
    """Return what binds the mask of a pair: whoever was asked something else has another mask."""
    return Binding(study=study, round=number, purpose="mask", view=view)


def own_mask_key(seed: bytes, study: str, number: int) -> bytes:
    """Return the key of a party's own mask."""
    return commit(seed, Binding(study=study, round=number, purpose="self"))


def seed_commitment(seed: bytes, study: str, number: int) -> bytes:
    """Return what fixes a seed before it is opened."""
    return commit(seed, Binding(study=study, round=number, purpose="commitment"))


Shares = Mapping[int, Mapping[int, bytes]]


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The public facts of a round whose sum is to be opened.

    Parameters
    ----------
    study : str
        The hash of the study.
    round : int
        The round.
    view : str
        The hash of what the parties of the round were shown.
    threshold : int
        How many shares open a secret.
    roster : Roster
        The public keys, which whatever is opened must fit.
    """

    study: str
    round: int
    view: str
    threshold: int
    roster: Roster

    def total(self, masked: NDArray[np.uint64], seeds: Shares, lost: Shares) -> NDArray[np.int64]:
        """Return the sum of the vectors."""
        own = [self._own_key(number, shares) for number, shares in seeds.items()]
        left = {number: self._left(number, shares, seeds) for number, shares in lost.items()}
        return unmask_total(masked, own, left)

    def _own_key(self, number: int, shares: Mapping[int, bytes]) -> bytes:
        seed = self._open(number, shares)
        made = seed_commitment(seed, self.study, self.round)
        self._check(number, fits=made == self.roster[number].commitments[self.round])
        return own_mask_key(seed, self.study, self.round)

    def _left(self, number: int, shares: Mapping[int, bytes], seeds: Shares) -> dict[int, bytes]:
        secret = self._open(number, shares)
        self._check(number, fits=public_of(secret) == self.roster[number].masks[self.round])
        binding = mask_binding(self.study, self.round, self.view)
        keys = {other: self.roster[other].masks[self.round] for other in seeds}
        return {other: agree(secret, key, binding) for other, key in keys.items()}

    def _open(self, number: int, shares: Mapping[int, bytes]) -> bytes:
        try:
            return open_secret(shares, self.threshold)
        except FederationError as error:
            message = f"a secret of party {number} in round {self.round} stays closed: {error}"
            raise FederationError(message) from None

    def _check(self, number: int, *, fits: bool) -> None:
        if not fits:
            message = (
                f"what was opened of party {number} in round {self.round} is not what it made "
                "public; a share is wrong, and the sum is not used."
            )
            raise FederationError(message)


@dataclass(frozen=True)
class PartySecrets:
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
        return f"PartySecrets(rounds={len(self.masks)})"

    @classmethod
    def draw(cls, rounds: int, source: RandomSource) -> PartySecrets:
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
