"""What strangers sent, the roster among it: every field is checked, what is wrong is named."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError, MessageError, ParameterError
from supm._json import canonical
from supm._validation import check_text
from supm.federation.secure_sum.keys import KEY_BYTES, check_public
from supm.messages.update import Update


@dataclass(frozen=True)
class FieldReader:
    """A message whose fields are read one by one, each with its rule.

    Parameters
    ----------
    update : Update
        What was received.
    """

    update: Update

    def check_shape(self, kind: str, fields: Collection[str], *, numbers: int = 0) -> None:
        """Refuse another kind of message, other fields, or another count of numbers."""
        _check(self.update.kind == kind, f"a message of kind {kind} was due.")
        wanted = ", ".join(sorted(fields))
        _check(set(self.update.fields) == set(fields), f"its fields must be {wanted}.")
        _check(self.update.numbers.size == numbers, f"it must bring {numbers} numbers.")

    def check_same(self, name: str, value: object) -> None:
        """Refuse a field that is not what it must be: another study, another round, a replay."""
        got = self.update.fields.get(name)
        same = type(got) is type(value) and got == value
        _check(same, f"its field {name} is not that of this study, run, round and party.")

    def whole(self, name: str, low: int, high: int) -> int:
        """Return a field that is a whole number."""
        value = self.update.fields.get(name)
        fine = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        _check(fine, f"its field {name} must be a whole number in [{low}, {high}].")
        return int(value)  # type: ignore[arg-type]  # checked in the line above

    def flag(self, name: str) -> bool:
        """Return a field that is true or false."""
        value = self.update.fields.get(name)
        _check(isinstance(value, bool), f"its field {name} must be true or false.")
        return bool(value)

    def text(self, name: str) -> str:
        """Return a field that is a text."""
        value = self.update.fields.get(name)
        _check(isinstance(value, str), f"its field {name} must be a text.")
        return str(value)

    def parties(self, name: str, allowed: Collection[int]) -> tuple[int, ...]:
        """Return a field that lists some of the allowed parties, in order and each once."""
        value = self.update.fields.get(name)
        told = value if isinstance(value, list) else [None]
        whole = all(type(one) is int for one in told)
        fine = whole and sorted(set(told)) == told and set(told) <= set(allowed)
        _check(fine, f"its field {name} must list parties of this run in order, each once.")
        return tuple(told)

    def bytes_by_party(self, name: str, parties: Collection[int], size: int) -> dict[int, bytes]:
        """Return a field that holds bytes for exactly the given parties."""
        value = self.update.fields.get(name)
        fine = isinstance(value, dict) and set(value) == {str(one) for one in parties}
        _check(fine, f"its field {name} must have one entry for each party it is about.")
        told: dict[str, Any] = value or {}
        return {one: as_bytes(told[str(one)], size, name) for one in sorted(parties)}

    def byte_list(self, name: str, count: int, size: int) -> tuple[bytes, ...]:
        """Return a field that lists so many byte strings of one size."""
        value = self.update.fields.get(name)
        fine = isinstance(value, list) and len(value) == count
        _check(fine, f"its field {name} must list {count} texts.")
        return tuple(as_bytes(one, size, name) for one in value or [])


def as_text(content: bytes) -> str:
    """Return bytes as text (base64)."""
    return base64.b64encode(content).decode()


def as_bytes(text: object, size: int, name: str) -> bytes:
    """Return the bytes that `as_text` wrote, or raise FederationError."""
    try:
        content = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        content = b""
    # One meaning has one text: bits behind the last byte are refused.
    fine = isinstance(text, str) and len(content) == size and as_text(content) == text
    _check(fine, f"its field {name} must be base64 of {size} bytes.")
    return content


def text_map(content: Mapping[int, bytes]) -> dict[str, str]:
    """Return bytes by party as plain values of JSON."""
    return {str(number): as_text(one) for number, one in content.items()}


def view_of(fields: Mapping[str, object], given: NDArray[np.float64]) -> str:
    """Return the hash of all that the parties of a round are shown alike."""
    return hashlib.sha256(canonical(fields).encode() + given.astype("<f8").tobytes()).hexdigest()


def _check(fine: bool, sentence: str) -> None:  # noqa: FBT001  the check is its only argument
    if not fine:
        raise FederationError(sentence)


_LONGEST_REASON = 300


def read_replies(
    replies: Mapping[int, bytes], asked: Collection[int], parties: int
) -> dict[int, FieldReader]:
    """Return the replies of those who were asked, by number."""
    known = range(parties)
    if any(type(number) is not int or number not in known for number in replies):
        raise FederationError("a reply came from a number that is no party of this run.")
    return {n: _read(n, replies[n]) for n in sorted(asked) if n in replies}


@contextmanager
def reading_of(number: int) -> Iterator[None]:
    """Say whose reply it was that could not be used."""
    try:
        yield
    except FederationError as error:
        raise FederationError(f"the reply of party {number} cannot be used: {error}") from None


def _read(number: int, content: bytes) -> FieldReader:
    try:
        update = Update.from_bytes(content)
    except MessageError:
        # What the reader says may quote the reply, so it is not handed on.
        raise FederationError(
            f"the reply of party {number} cannot be used: it is no message of this version."
        ) from None
    if update.kind == "refusal":
        _refuse(number, update)
    return FieldReader(update)


def _refuse(number: int, update: Update) -> None:
    try:
        reason = update.fields.get("reason")
        check_text("reason", reason, _LONGEST_REASON)
    except ParameterError:
        reason = "it gave no reason."
    raise FederationError(f"party {number} refused: {reason}")


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
    def read(cls, got: FieldReader, rounds: int) -> PartyKeys:
        """Read the fields that `to_form` wrote, among others."""
        return cls(
            envelope=as_bytes(got.update.fields.get("envelope"), KEY_BYTES, "envelope"),
            masks=got.byte_list("masks", rounds, KEY_BYTES),
            commitments=got.byte_list("commitments", rounds, KEY_BYTES),
        )

    def check(self) -> None:
        """Refuse keys of a stranger on which anybody could agree with anybody."""
        for key in (self.envelope, *self.masks):
            check_public(key)


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
            raise FederationError(
                "a public key occurs twice in the roster; each party makes its own."
            )

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of those who are there."""
        return tuple(number for number, entry in enumerate(self.entries) if entry)

    def __getitem__(self, number: int) -> PartyKeys:
        """Return the entry of a party that is there."""
        entry = self.entries[number]
        if entry is None:
            raise FederationError(f"party {number} is not on the roster.")
        return entry

    def check(self) -> None:
        """Refuse a roster of a stranger in which a key hides nothing."""
        for entry in filter(None, self.entries):
            entry.check()

    def to_form(self) -> list[Any]:
        """Return plain values for JSON."""
        return [entry.to_form() if entry else None for entry in self.entries]

    @classmethod
    def from_form(cls, form: object, parties: int, rounds: int) -> Roster:
        """Read what `to_form` wrote, or raise FederationError."""
        if not isinstance(form, list) or len(form) != parties:
            raise FederationError(f"the roster must have {parties} entries.")
        return cls(tuple(_entry(one, rounds) for one in form))


def roster_fingerprint(study: str, roster: Roster) -> str:
    """Return 64 digits that are equal for two parties only if the server gave both the same keys.

    Whoever does not trust the server to hand on keys honestly compares them over another channel.
    """
    text = canonical({"study": study, "roster": roster.to_form()})
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_words(fingerprint: str) -> str:
    """Say how parties make sure that they had no stranger between them.

    Parameters
    ----------
    fingerprint : str
        Of the roster.

    Returns
    -------
    str
    """
    return (
        f"Fingerprint of all parties' keys: {fingerprint[:32]}. Parties who see the same one had "
        "no stranger between them."
    )


def _entry(form: object, rounds: int) -> PartyKeys | None:
    if form is None:
        return None
    if not isinstance(form, dict) or set(form) != {"envelope", "masks", "commitments"}:
        raise FederationError(
            "an entry of the roster has the fields commitments, envelope and masks."
        )
    return PartyKeys.read(FieldReader(Update(kind="entry", fields=form)), rounds)
