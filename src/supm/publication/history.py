"""Which key speaks for a log at which size: keys take over from each other, and can be revoked.

A log begins with one key. A rotation is an entry, signed by the key in charge; checkpoints that
hold it are signed by the new one. What a retired key has signed stays good. A revoked key was
stolen: what it signed alone proves nothing any more, and a proof must be had under a newer one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from supm._errors import PublicationError
from supm.publication.checkpoint import SignedCheckpoint
from supm.publication.entry import KeyEntry
from supm.publication.keys import SigningKey, VerifierKey
from supm.publication.words import entries_in_words

__all__ = ["KeyHistory", "revoking", "rotating"]


def rotating(time: str, new: VerifierKey, charge: SigningKey) -> KeyEntry:
    """Return the entry by which a key hands over to another."""
    return _signed(KeyEntry(time=time, act="rotate", key=str(new)), charge)


def revoking(time: str, old: VerifierKey, charge: SigningKey) -> KeyEntry:
    """Return the entry by which the key in charge declares an old one stolen."""
    return _signed(KeyEntry(time=time, act="revoke", key=str(old)), charge)


def _signed(entry: KeyEntry, charge: SigningKey) -> KeyEntry:
    signature = charge.sign(entry.unsigned).hex()
    return KeyEntry(time=entry.time, act=entry.act, key=entry.key, signature=signature)


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
    def followed(cls, first: VerifierKey, changes: Iterable[tuple[int, KeyEntry]]) -> KeyHistory:
        """Follow the changes of keys, each of which the key in charge must have signed.

        Parameters
        ----------
        first : VerifierKey
            Where to begin: the log's first key, or the one that a reader trusts.
        changes : iterable of tuple of int and KeyEntry
            Places in the log, in order, and the entries there.

        Returns
        -------
        KeyHistory

        Raises
        ------
        PublicationError
            If one is not signed by the key in charge, or revokes a key that is not an old one.
        """
        known = list(changes)
        since = _took_over(first, known)
        history = cls((first,), since)
        for index, entry in known:
            if index >= since:
                history = history._after(index, entry)
        return history

    def _after(self, index: int, entry: KeyEntry) -> KeyHistory:
        if not _has_signed(self.current, entry):
            message = f"entry {index} changes keys, and the key in charge has not signed it."
            raise PublicationError(message)
        key = VerifierKey.parse(entry.key)
        if entry.act == "rotate":
            if key in self.keys or key.name != self.current.name:
                message = f"entry {index} hands over to a key of another log, or to an old one."
                raise PublicationError(message)
            return replace(self, keys=(*self.keys, key), until=(*self.until, index))
        # A reader whose trust began later knows no key before.
        if key not in self.keys[:-1] and not self.since:
            message = f"entry {index} revokes a key that is not an old one of this log."
            raise PublicationError(message)
        return replace(self, revoked=self.revoked | {key})

    def signer(self, signed: SignedCheckpoint) -> VerifierKey:
        """Return the key that signed a checkpoint while it was in charge, revoked since or not.

        Raises
        ------
        PublicationError
            If no key of the log did, or it was not in charge at that size.
        """
        found = [place for place, key in enumerate(self.keys) if key.hash == signed.key_hash]
        if not found:
            signed.check(self.current)
        key = self.keys[found[0]]
        signed.check(key)
        self._check_charge(found[0], signed.checkpoint.size)
        return key

    def check(self, signed: SignedCheckpoint) -> VerifierKey:
        """Return the key that signed a checkpoint, if it may have signed that size.

        Raises
        ------
        PublicationError
            If no key of the log did, it was not in charge at that size, or it was revoked.
        """
        key = self.signer(signed)
        if key in self.revoked:
            message = (
                f"the checkpoint is signed by the key {key.hash.hex()}, which was revoked; get a "
                "proof under a newer one: supm log prove."
            )
            raise PublicationError(message)
        return key

    def _check_charge(self, place: int, size: int) -> None:
        begins = self.until[place - 1] + 1 if place else self.since
        ends = self.until[place] if place < len(self.until) else size
        if not begins <= size <= ends:
            told = f"signed a checkpoint of {entries_in_words(size)}, and was not in charge then."
            message = f"the key {self.keys[place].hash.hex()} {told}"
            raise PublicationError(message)


def _has_signed(key: VerifierKey, entry: KeyEntry) -> bool:
    return key.accepts(bytes.fromhex(entry.signature), entry.unsigned)


def _took_over(key: VerifierKey, changes: list[tuple[int, KeyEntry]]) -> int:
    """Return the smallest size for which a key speaks, as far as the changes tell.

    What was before a reader's key took over is not for that key to tell. The key that signed the
    first change was there from the beginning: no later entry hands over to it anew.
    """
    if not changes or _has_signed(key, changes[0][1]):
        return 0
    found = (at + 1 for at, entry in changes if (entry.act, entry.key) == ("rotate", str(key)))
    return next(found, 0)
