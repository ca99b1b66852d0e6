"""How the server opens a sum, what a party keeps between two messages, and its share of the work.

A party keeps keys, seeds and shares, and nothing of its table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError
from supm._json import canonical, read_object
from supm._random import RandomSource
from supm.federation.secure_sum.keys import (
    SETUP,
    SHARE_BYTES,
    Binding,
    agree,
    hash_text,
    mask_binding,
    mask_vector,
    new_secret,
    open_envelope,
    open_secret,
    own_mask_key,
    public_of,
    seal_envelope,
    seed_commitment,
    split_secret,
    unmask_total,
)
from supm.federation.secure_sum.wire import PartyKeys, Roster, as_bytes, as_text, text_map

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
            raise FederationError(
                f"a secret of party {number} in round {self.round} stays closed: {error}"
            ) from None

    def _check(self, number: int, *, fits: bool) -> None:
        if not fits:
            raise FederationError(
                f"what was opened of party {number} in round {self.round} is not what it made "
                "public; a share is wrong, and the sum is not used."
            )


_MARK: Final = b"supm-party-1\n"
_LENGTH_BYTES: Final = 8
_TEXTS: Final = ("awaits", "study", "run", "view", "asked", "released")
_PLAIN: Final = (*_TEXTS, "number", "round", "simulation")


@dataclass(frozen=True, kw_only=True)
class PartyMemory:
    """The state of a party in a run. It is secret: it holds the keys of the masks.

    Parameters
    ----------
    awaits : str
        The kind of message that is due next.
    study : str
        The text that was consented to.
    run : str
        The fingerprint of the roster.
    number : int
        The party's number.
    round : int
        The round that is under way or due.
    view : str
        The hash of what this round's question showed.
    asked : str
        The hash of the last message that was answered.
    released : str
        What was published at the end.
    simulation : bool
        Whether the server said that nothing of the run is private.
    envelope : bytes
        The secret of its envelopes.
    masks, seeds : tuple of bytes
        The secrets of each round; empty once the round is over.
    roster : Roster
        The public keys of all.
    held : tuple of mapping of int to bytes
        For each round, by party: a share of its mask secret, then one of its seed.
    present, survivors : tuple of int
        Who was asked in this round, and who answered.
    sent : tuple of str
        The commitment to what it sent in each round so far.
    reply : bytes
        The last answer, to give it again where the message comes again.
    """

    awaits: str = "invite"
    study: str = ""
    run: str = ""
    number: int = 0
    round: int = 0
    view: str = ""
    asked: str = ""
    released: str = ""
    simulation: bool = False
    envelope: bytes = b""
    masks: tuple[bytes, ...] = ()
    seeds: tuple[bytes, ...] = ()
    roster: Roster = field(default_factory=lambda: Roster(()))
    held: tuple[Mapping[int, bytes], ...] = ()
    present: tuple[int, ...] = ()
    survivors: tuple[int, ...] = ()
    sent: tuple[str, ...] = ()
    reply: bytes = b""

    def __repr__(self) -> str:
        """Say what is due, never a secret."""
        return f"PartyMemory(awaits={self.awaits!r}, number={self.number}, round={self.round})"

    @property
    def study_hash(self) -> str:
        """The hash of the text that was consented to."""
        return hash_text(self.study)

    def with_secrets(self, rounds: int, source: RandomSource) -> PartyMemory:
        """Draw all secrets of a run."""
        envelope, *others = new_secret(source, 1 + 2 * rounds)
        masks, seeds = tuple(others[:rounds]), tuple(others[rounds:])
        return replace(self, envelope=envelope, masks=masks, seeds=seeds)

    def public_keys(self) -> PartyKeys:
        """Return what is told about the secrets: public keys, and what fixes the seeds."""
        study = self.study_hash
        return PartyKeys(
            envelope=public_of(self.envelope),
            masks=tuple(public_of(secret) for secret in self.masks),
            commitments=tuple(seed_commitment(s, study, r) for r, s in enumerate(self.seeds)),
        )

    def without_round(self) -> PartyMemory:
        """Forget the secrets of the round that is over, and wait for the next."""
        over = self.round
        return replace(
            self,
            round=over + 1,
            masks=_emptied(self.masks, over, b""),
            seeds=_emptied(self.seeds, over, b""),
            held=_emptied(self.held, over, {}),
        )

    def to_bytes(self) -> bytes:
        """Return the state as the engine keeps it."""
        text = canonical(self._form()).encode()
        return b"".join((_MARK, len(text).to_bytes(_LENGTH_BYTES, "little"), text, self.reply))

    def _form(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "envelope": as_text(self.envelope),
            "masks": [as_text(secret) for secret in self.masks],
            "seeds": [as_text(seed) for seed in self.seeds],
            "roster": self.roster.to_form(),
            "held": [text_map(shares) for shares in self.held],
            "present": list(self.present),
            "survivors": list(self.survivors),
            "sent": list(self.sent),
        }

    @classmethod
    def from_bytes(cls, content: bytes) -> PartyMemory:
        """Read what `to_bytes` wrote; nothing is the state of a party that was not asked yet."""
        if not content:
            return cls()
        start = len(_MARK) + _LENGTH_BYTES
        end = start + int.from_bytes(content[len(_MARK) : start], "little")
        try:
            if not content.startswith(_MARK) or end > len(content):
                raise ValueError  # noqa: TRY301  one sentence for all that is no state
            form = read_object(content[start:end].decode(), "state", FederationError)
            return cls._read(form, content[end:])
        except (ValueError, KeyError, TypeError, AttributeError, FederationError):
            raise FederationError(
                "the state of this party cannot be read; keep it as it was returned."
            ) from None

    @classmethod
    def _read(cls, form: dict[str, Any], reply: bytes) -> PartyMemory:
        rounds = len(form["masks"])
        return cls(
            **{name: form[name] for name in _PLAIN},
            envelope=_secret(form["envelope"]),
            masks=tuple(_secret(one) for one in form["masks"]),
            seeds=tuple(_secret(one) for one in form["seeds"]),
            roster=Roster.from_form(form["roster"], len(form["roster"]), rounds),
            held=tuple(_shares(one) for one in form["held"]),
            present=tuple(form["present"]),
            survivors=tuple(form["survivors"]),
            sent=tuple(form["sent"]),
            reply=reply,
        )


def _emptied(values: tuple[Any, ...], place: int, empty: object) -> tuple[Any, ...]:
    return (*values[:place], empty, *values[place + 1 :])


def _secret(text: str) -> bytes:
    return as_bytes(text, 32, "secret") if text else b""


def _shares(form: dict[str, str]) -> dict[int, bytes]:
    return {int(n): as_bytes(text, 2 * SHARE_BYTES, "shares") for n, text in form.items()}


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
            raise FederationError(f"the envelope of party {sender} cannot be opened.") from None
        for shares, piece in zip(held, _by_round(letter), strict=True):
            shares[sender] = piece
    return tuple(held)


def hide_vector(memory: PartyMemory, vector: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Mask a vector for the round that is under way, among those who are present."""
    study, number = memory.study_hash, memory.number
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
        raise FederationError(
            "too few parties were told of the same survivors; the server may not split them."
        )


def reveal_shares(memory: PartyMemory) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return shares of the seeds of survivors and of the mask secrets of the lost: never both."""
    held = memory.held[memory.round]
    lost = [n for n in memory.present if n not in memory.survivors]
    seeds = {n: held[n][SHARE_BYTES:] for n in memory.survivors}
    return seeds, {n: held[n][:SHARE_BYTES] for n in lost}


def _envelope_key(memory: PartyMemory, roster: Roster, sender: int, receiver: int) -> bytes:
    # One key for each direction, used once: what A sent to B cannot come back as from B.
    purpose = f"envelope {sender} to {receiver}"
    binding = Binding(study=memory.study_hash, round=SETUP, purpose=purpose)
    other = receiver if sender == memory.number else sender
    return agree(memory.envelope, roster[other].envelope, binding)


def _tag(memory: PartyMemory, sender: int, receiver: int) -> bytes:
    names = ",".join(str(n) for n in memory.survivors)
    binding = Binding(
        study=memory.study_hash,
        round=memory.round,
        purpose=f"confirm {sender} to {receiver}",
        view=f"{memory.view} {names}",
    )
    other = receiver if sender == memory.number else sender
    return agree(memory.envelope, memory.roster[other].envelope, binding)


def _by_round(letter: bytes) -> Sequence[bytes]:
    size = 2 * SHARE_BYTES
    return [letter[start : start + size] for start in range(0, len(letter), size)]
