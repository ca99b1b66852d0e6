"""What a log tells of itself, wherever it is, and which key speaks for it at which size.

A log begins with one key. A rotation is an entry, signed by the key in charge; checkpoints that
hold it are signed by the new one. What a retired key has signed stays good. A revoked key was
stolen: what it signed alone proves nothing any more, and a proof must be had under a newer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Protocol, TypeVar

from supm._errors import PublicationError
from supm.publication.entry import ChainEntry, KeyChange, KeyEntry, read_entry
from supm.publication.signing import SignedCheckpoint, SigningKey, VerifierKey
from supm.reporting import counted

_Entry = TypeVar("_Entry", KeyEntry, ChainEntry)


def rotating(time: str, new: VerifierKey, charge: SigningKey) -> KeyEntry:
    """Return the entry by which a key hands over to another."""
    return _signed("rotate", new, time, charge)


def revoking(time: str, old: VerifierKey, charge: SigningKey) -> KeyEntry:
    """Return the entry by which the key in charge declares an old one stolen."""
    return _signed("revoke", old, time, charge)


def _signed(act: str, key: VerifierKey, time: str, charge: SigningKey) -> KeyEntry:
    entry = KeyEntry(time=time, act=act, key=str(key))
    return replace(entry, signature=charge.sign(entry.unsigned).hex())


@dataclass(frozen=True)
class KeyHistory:
    """The keys of a log, in the order in which they took over.

    Parameters
    ----------
    keys : tuple of VerifierKey
        The first is the one with which the log, or a reader's trust, began.
    since : int
        The smallest size that the first may sign.
    until : tuple of int
        For each but the last, the largest size that it may sign.
    revoked : frozenset of VerifierKey
        Those that were stolen.
    """

    keys: tuple[VerifierKey, ...]
    since: int = 0
    until: tuple[int, ...] = ()
    revoked: frozenset[VerifierKey] = frozenset()

    @property
    def current(self) -> VerifierKey:
        """The key in charge."""
        return self.keys[-1]

    @classmethod
    def followed(cls, first: VerifierKey, changes: Sequence[KeyChange]) -> KeyHistory:
        """Follow the changes of keys, each of which the key in charge must have signed."""
        since = _took_over(first, changes)
        history = cls((first,), since)
        for each in changes:
            if each.index >= since:
                history = history._after(each.index, each.entry)
        return history

    def _after(self, index: int, entry: KeyEntry) -> KeyHistory:
        if not _has_signed(self.current, entry):
            raise PublicationError(
                f"entry {index} changes keys, and the key in charge has not signed it."
            )
        key = VerifierKey.parse(entry.key)
        if entry.act == "rotate":
            if key in self.keys or key.name != self.current.name:
                raise PublicationError(
                    f"entry {index} hands over to a key of another log, or to an old one."
                )
            return replace(self, keys=(*self.keys, key), until=(*self.until, index))
        # A reader whose trust began later knows no key before.
        if key not in self.keys[:-1] and not self.since:
            raise PublicationError(
                f"entry {index} revokes a key that is not an old one of this log."
            )
        return replace(self, revoked=self.revoked | {key})

    def signer(self, signed: SignedCheckpoint) -> VerifierKey:
        """Return the key that signed a checkpoint while it was in charge, revoked since or not."""
        found = [place for place, key in enumerate(self.keys) if key.hash == signed.key_hash]
        if not found:
            signed.check(self.current)
        key = self.keys[found[0]]
        signed.check(key)
        self._check_charge(found[0], signed.size)
        return key

    def check(self, signed: SignedCheckpoint) -> VerifierKey:
        """Return the key that signed a checkpoint, if it may have signed that size."""
        key = self.signer(signed)
        if key in self.revoked:
            raise PublicationError(
                f"the checkpoint is signed by the key {key.hash.hex()}, which was revoked; get a "
                "proof under a newer one: supm log prove."
            )
        return key

    def _check_charge(self, place: int, size: int) -> None:
        begins = self.until[place - 1] + 1 if place else self.since
        ends = self.until[place] if place < len(self.until) else size
        if not begins <= size <= ends:
            told = f"signed a checkpoint of {counted(size, 'entry')}, and was not in charge then."
            raise PublicationError(f"the key {self.keys[place].hash.hex()} {told}")


def _has_signed(key: VerifierKey, entry: KeyEntry) -> bool:
    return key.accepts(bytes.fromhex(entry.signature), entry.unsigned)


def _took_over(key: VerifierKey, changes: Sequence[KeyChange]) -> int:
    """Return the smallest size for which a key speaks, as far as the changes tell.

    What was before a reader's key took over is not for that key to tell. The key that signed the
    first change was there from the beginning: no later entry hands over to it anew.
    """
    if not changes or _has_signed(key, changes[0].entry):
        return 0
    return next((each.index + 1 for each in changes if each.hands_over_to(key)), 0)


# Changes of keys, or contracts: more than a log has in its life.
_MOST: Final = 10_000


class LogReader(Protocol):
    """A log that can be read. Nothing that it answers is believed before it is checked."""

    @property
    def first_key(self) -> VerifierKey:
        """The key with which it began."""

    def checkpoint(self) -> SignedCheckpoint:
        """Return the newest signed checkpoint."""

    def entries(self, start: int, stop: int) -> list[str]:
        """Return the texts of entries from one place up to another."""

    def places(self, kind: str) -> list[int]:
        """Return where the entries of kind "key" or "chain" are, in order."""

    def find(self, content: str) -> int | None:
        """Return the place of the release of a file, by its SHA-256."""

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the path from an entry to the root of the first ``size`` entries."""

    def consistency(self, first: int, second: int) -> list[bytes]:
        """Return the path that shows that the first entries are the beginning of more."""


def entry_at(log: LogReader, place: int) -> str:
    """Return the text of one entry."""
    found = log.entries(place, place + 1)
    if len(found) != 1:
        raise PublicationError(f"the log has no entry {place}.")
    return found[0]


def changes_of(log: LogReader, size: int | None = None) -> list[KeyChange]:
    """Return the entries by which keys changed, with their places."""
    found = _entries_of(log, KeyEntry, size)
    return [KeyChange(index=place, entry=entry) for place, entry in found]


def history_of(log: LogReader, size: int | None = None) -> KeyHistory:
    """Return the keys of a log, as its own entries tell them."""
    history = KeyHistory.followed(log.first_key, changes_of(log, size))
    if history.since:
        raise PublicationError("the log says that its first key took over from another one.")
    return history


def contracts_of(log: LogReader, size: int | None = None) -> list[tuple[int, ChainEntry]]:
    """Return every contract in which a log was ever anchored, with the places of the entries."""
    return list(_entries_of(log, ChainEntry, size))


def _entries_of(
    log: LogReader, kind: type[_Entry], size: int | None
) -> Iterator[tuple[int, _Entry]]:
    """Yield the entries of a kind: each costs a question, so a log cannot name them at will."""
    name = kind.kind
    places = [place for place in log.places(name) if size is None or place < size]
    if len(places) > _MOST or any(each < 0 for each in places[:1]):
        raise PublicationError(
            f"the log names too many places of entries of kind {name}, or one that is none."
        )
    if any(first >= second for first, second in pairwise(places)):
        raise PublicationError(f"the log names the places of entries of kind {name} out of order.")
    for place in places:
        entry = read_entry(entry_at(log, place))
        if not isinstance(entry, kind):
            raise PublicationError(
                f"the log says that entry {place} is of kind {name}, and it is not."
            )
        yield place, entry
