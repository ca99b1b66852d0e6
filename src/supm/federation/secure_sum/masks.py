"""Masks that vanish in the sum, and how the server takes away those that do not.

Each pair of parties shares a mask, added by the one and taken away by the other. All arithmetic is
modulo 2^64, in which a masked number is uniform whatever it hides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError, ParameterError
from supm.federation.secure_sum.keys import Binding, agree, commit, public_of, stream
from supm.federation.secure_sum.roster import Roster
from supm.federation.secure_sum.shamir import open_secret

__all__ = [
    "Opening",
    "as_signed",
    "as_unsigned",
    "mask_binding",
    "mask_vector",
    "own_mask_key",
    "pair_masks",
    "seed_commitment",
    "unmask_total",
]


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
