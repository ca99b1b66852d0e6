"""What the server does at the end of a round: put shares together and take the masks away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError
from supm.federation.secure_sum.keys import agree, public_of
from supm.federation.secure_sum.masks import unmask_total
from supm.federation.secure_sum.party import mask_binding, own_mask_key, seed_commitment
from supm.federation.secure_sum.roster import Roster
from supm.federation.secure_sum.shamir import open_secret

__all__ = ["Opening"]

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
        """Return the sum of the vectors.

        Parameters
        ----------
        masked : ndarray of uint64
            The sum of the masked vectors of those who answered.
        seeds : mapping
            For each who answered, the shares of its seed by holder.
        lost : mapping
            For each who did not, the shares of its mask secret by holder.

        Returns
        -------
        ndarray of int64

        Raises
        ------
        FederationError
            If shares do not open what a party made public: a wrong sum is never returned.
        """
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
