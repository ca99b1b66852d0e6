"""The public keys of all parties, and the fingerprint by which two parties see that they agree."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from supm._errors import FederationError
from supm._json import canonical
from supm.federation.secure_sum.keys import KEY_BYTES, check_public
from supm.federation.secure_sum.wire import FieldReader, as_bytes, as_text
from supm.messages.update import Update

__all__ = ["PartyKeys", "Roster", "fingerprint_words", "roster_fingerprint"]


@dataclass(frozen=True, kw_only=True)
class PartyKeys:
    """What one party makes public before the first round.

    Parameters
    ----------
    envelope : bytes
        The key with which others close envelopes for it.
    masks : tuple of bytes
        For each round, the key on which pairs agree about their mask.
    commitments : tuple of bytes
        For each round, what fixes the seed of its own mask.
    """

    envelope: bytes
    masks: tuple[bytes, ...]
    commitments: tuple[bytes, ...]

    def to_form(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "envelope": as_text(self.envelope),
            "masks": [as_text(key) for key in self.masks],
            "commitments": [as_text(one) for one in self.commitments],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any], rounds: int) -> PartyKeys:
        """Read the fields that `to_form` wrote, among others, and check the keys."""
        got = FieldReader(Update(kind="entry", fields=fields))
        entry = cls(
            envelope=as_bytes(fields.get("envelope"), KEY_BYTES, "envelope"),
            masks=got.byte_list("masks", rounds, KEY_BYTES),
            commitments=got.byte_list("commitments", rounds, KEY_BYTES),
        )
        for key in (entry.envelope, *entry.masks):
            check_public(key)
        return entry


@dataclass(frozen=True)
class Roster:
    """The entries of all parties by number; None for those who were lost before.

    Parameters
    ----------
    entries : tuple of PartyKeys or None
        One for each party of the circle. No key occurs twice.
    """

    entries: tuple[PartyKeys | None, ...]

    def __post_init__(self) -> None:
        keys = [key for entry in self.entries if entry for key in (entry.envelope, *entry.masks)]
        if len(set(keys)) < len(keys):
            message = "a public key occurs twice in the roster; each party makes its own."
            raise FederationError(message)

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of those who are there."""
        return tuple(number for number, entry in enumerate(self.entries) if entry)

    def __getitem__(self, number: int) -> PartyKeys:
        """Return the entry of a party that is there."""
        entry = self.entries[number]
        if entry is None:
            message = f"party {number} is not on the roster."
            raise FederationError(message)
        return entry

    def to_form(self) -> list[Any]:
        """Return plain values for JSON."""
        return [entry.to_form() if entry else None for entry in self.entries]

    @classmethod
    def from_form(cls, form: object, parties: int, rounds: int) -> Roster:
        """Read what `to_form` wrote, or raise FederationError."""
        if not isinstance(form, list) or len(form) != parties:
            message = f"the roster must have {parties} entries."
            raise FederationError(message)
        return cls(tuple(_entry(one, rounds) for one in form))


def roster_fingerprint(study: str, roster: Roster) -> str:
    """Return 64 digits that are equal for two parties only if the server gave both the same keys.

    Whoever does not trust the server to hand on keys honestly compares them over another channel.
    """
    text = canonical({"study": study, "roster": roster.to_form()})
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_words(fingerprint: str) -> str:
    """Say how parties make sure that they had no stranger between them."""
    return (
        f"Fingerprint of all parties' keys: {fingerprint[:32]}. Parties who see the same one had "
        "no stranger between them."
    )


def _entry(form: object, rounds: int) -> PartyKeys | None:
    if form is None:
        return None
    if not isinstance(form, dict) or set(form) != {"envelope", "masks", "commitments"}:
        message = "an entry of the roster has the fields commitments, envelope and masks."
        raise FederationError(message)
    return PartyKeys.from_fields(form, rounds)
