"""Two things said of one log that cannot both be true, as evidence that anybody can check.

Whoever lacks the log's keys can make none, since the signatures are checked; and an honest log
whose keys nobody stole cannot be accused. A path of the right shape that leads to a signed root
holds the hashes of the very tree that was signed, or SHA-256 has a collision; so the root at its
other end is the one root of those first entries, and an honest log signed and anchored that one
only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, Self

from supm._errors import MessageError, ParameterError, PublicationError
from supm._json import read_object
from supm._validation import Integers
from supm.messages.codec import Message
from supm.publication.entry import (
    KeyEntry,
    as_tuple,
    check_account_or_contract,
    check_digest,
    read_entry,
)
from supm.publication.history import KeyHistory, LogReader
from supm.publication.merkle import (
    EMPTY_ROOT,
    check_consistency,
    entries_in_words,
    roots_by_consistency,
)
from supm.publication.signing import Checkpoint, SignedCheckpoint, VerifierKey

if TYPE_CHECKING:
    from supm.publication.anchoring import AnchoredRoot

_VERSION: Final = 1
_FIELDS: Final = {"version", "first", "second", "path", "root", "keys"}
_ANCHOR: Final = ("chain", "contract", "size", "root", "time", "block")
# What a contract can hold: whoever may anchor there can say that a log has as many entries.
_MOST: Final = (1 << 64) - 1
_DIGITS: Final = len(str(_MOST))
_AS_GIVEN: Final = (
    "WARNING: this holds for the key as it was given. A file need not hold every change of keys, "
    "so it cannot show that none of them was revoked as stolen: supm log check names those that "
    "the log itself revoked."
)


@dataclass(frozen=True, kw_only=True)
class AnchorTold(Message):
    """What somebody says that a contract holds; only a node of its chain can confirm it."""

    noun = "an anchor"
    chain: int
    contract: str
    size: int
    root: bytes
    time: int
    block: int

    def __post_init__(self) -> None:
        for name, least in (("chain", 1), ("size", 1), ("time", 0), ("block", 0)):
            Integers(name, least, _MOST).check(getattr(self, name))
        check_account_or_contract("contract", self.contract)
        check_digest("root", self.root.hex())

    @classmethod
    def of(cls, anchor: AnchoredRoot) -> AnchorTold:
        """Return what a chain was heard to say."""
        return cls(**{name: getattr(anchor, name) for name in _ANCHOR})

    def to_form(self) -> dict[str, Any]:
        """Return it as plain values for JSON; a contract may hold a size beyond those of JSON."""
        return super().to_form() | {"size": str(self.size)}

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote."""
        size = cls._checked(form)["size"]
        if (
            not isinstance(size, str)
            or not (size.isascii() and size.isdecimal())
            or len(size) > _DIGITS
        ):
            message = f"the size of {cls.noun} must be a whole number as text."
            raise cls.refusal(message)
        return super().from_form({**cls._checked(form), "size": int(size)})


@dataclass(frozen=True, kw_only=True)
class ForkEvidence:
    """A signed checkpoint, and what was said before of its first entries, which is not so.

    Parameters
    ----------
    first : SignedCheckpoint or AnchorTold
        Of the smaller size, or of the same.
    second : SignedCheckpoint
        Of the larger.
    path : tuple of bytes
        Leads from ``root`` to the root of the second.
    root : bytes
        The root with which the second begins instead of the first's.
    keys : tuple of tuple of int and KeyEntry, default ()
        The changes of the log's keys, with their places. Each is signed by the key before; the
        places are the word of whoever wrote the evidence. That harms nobody: who holds an old key
        could sign for its true sizes just as well. Changes that were left out are not missed, a
        revocation among them.
    """

    first: SignedCheckpoint | AnchorTold
    second: SignedCheckpoint
    path: tuple[bytes, ...]
    root: bytes
    keys: tuple[tuple[int, KeyEntry], ...] = ()

    @property
    def before(self) -> Checkpoint | AnchorTold:
        """Size and root of the first."""
        return self.first.checkpoint if isinstance(self.first, SignedCheckpoint) else self.first

    def check(self, key: VerifierKey) -> Iterator[str]:
        """Yield in words what it shows, with no network, and what it cannot show."""
        history = KeyHistory.followed(key, self.keys)
        before, now = self.before, self.second.checkpoint
        signed = [each for each in (self.first, self.second) if isinstance(each, SignedCheckpoint)]
        for each in signed:
            signer, size = history.signer(each), each.checkpoint.size
            told = f"A checkpoint of {entries_in_words(size)} is signed by the log's key"
            yield f"{told} {signer.hash.hex()}."
            if signer in history.revoked:
                yield f"WARNING: {signer.hash.hex()} was revoked: who stole it may have signed."
        self._check_path(before, now)
        yield (
            f"Its {entries_in_words(now.size)} {'begins' if now.size == 1 else 'begin'} with "
            f"{before.size} whose root is {self.root.hex()[:16]}…"
            f"; what was said before of these is {before.root.hex()[:16]}…"
        )
        yield _AS_GIVEN

    def _check_path(self, before: Checkpoint | AnchorTold, now: Checkpoint) -> None:
        try:
            check_consistency(before.size, self.root, now.size, now.root, self.path)
        except PublicationError:
            message = "the path does not lead to the signed root, so it accuses nobody."
            raise PublicationError(message) from None
        if self.root == before.root:
            message = "the second checkpoint begins with what was said before: they agree."
            raise PublicationError(message)

    def to_form(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        first = self.first
        return {
            "version": _VERSION,
            "first": first.to_form() if isinstance(first, AnchorTold) else first.text,
            "second": self.second.text,
            "path": [each.hex() for each in self.path],
            "root": self.root.hex(),
            "keys": [{"index": index, "entry": entry.text} for index, entry in self.keys],
        }

    @classmethod
    def from_json(cls, text: str) -> ForkEvidence:
        """Read what `to_form` gave, as JSON; an unknown version or field is refused."""
        form = read_object(text, "evidence", PublicationError)
        version = form.get("version")
        if type(version) is not int or version != _VERSION or set(form) != _FIELDS:
            names = ", ".join(sorted(_FIELDS))
            message = f"evidence of version {_VERSION} has the fields {names}."
            raise PublicationError(message)
        try:
            return cls._from_fields(form)
        except (MessageError, ParameterError, TypeError, KeyError):
            message = "this is no evidence of two histories of a log, or it is damaged."
            raise PublicationError(message) from None

    @classmethod
    def _from_fields(cls, form: dict[str, Any]) -> ForkEvidence:
        first = form["first"]
        told = isinstance(first, dict)
        return cls(
            first=AnchorTold.from_form(first) if told else SignedCheckpoint.parse(first),
            second=SignedCheckpoint.parse(form["second"]),
            path=tuple(map(_hash, as_tuple(form["path"]))),
            root=_hash(form["root"]),
            keys=_changes(as_tuple(form["keys"])),
        )


def _changes(forms: tuple[dict[str, Any], ...]) -> tuple[tuple[int, KeyEntry], ...]:
    found = list[tuple[int, KeyEntry]]()
    for each in forms:
        entry = read_entry(each["entry"])
        if not isinstance(entry, KeyEntry):
            raise ParameterError("keys", "changes of keys", entry.kind)
        found.append((Integers("index", 0, _MOST).check(each["index"]), entry))
    if any(one >= other for (one, _), (other, _) in pairwise(found)):
        raise ParameterError("keys", "in order", "another order")
    return tuple(found)


def _hash(text: object) -> bytes:
    check_digest("each hash", text)
    return bytes.fromhex(str(text))


class ForkError(PublicationError):
    """The keys of a log signed something else than they signed, or anchored, before.

    Parameters
    ----------
    found : ForkEvidence
        What shows it to everybody.
    """

    def __init__(self, found: ForkEvidence) -> None:
        super().__init__(_told(found))
        self.found = found

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence as plain values for JSON."""
        return self.found.to_form()


def _told(found: ForkEvidence) -> str:
    name, size = found.second.checkpoint.name, found.second.checkpoint.size
    if isinstance(found.first, AnchorTold):
        return (
            f"the chain has another root for the first {found.first.size} entries than the log "
            f"{name}, which signed for {size}: it was rewritten, or another log is anchored in the "
            "same contract. Keep the evidence and show it."
        )
    return (
        f"the log {name} is forked: its signed checkpoints of {found.before.size} and {size} "
        "entries cannot both be true. Keep both and show them."
    )


def check_same_log(
    first: SignedCheckpoint,
    second: SignedCheckpoint,
    log: LogReader,
    keys: Sequence[tuple[int, KeyEntry]] = (),
) -> None:
    """Raise unless the larger checkpoint's log begins with the smaller one's.

    A path that does not lead to the larger root may be the fault of whoever carried it, and accuses
    nobody. One that leads there from another root than the smaller one is evidence.
    """
    small, large = first.checkpoint, second.checkpoint
    shown = beginning(log, small.size, small.root, large)
    if shown is None:
        message = (
            f"the log did not show that its {large.size} entries begin with the {small.size} that "
            "were signed before: it was rewritten, or its answer was."
        )
        raise PublicationError(message)
    root, path = shown
    if root != small.root:
        found = ForkEvidence(first=first, second=second, path=path, root=root, keys=tuple(keys))
        raise ForkError(found)


def beginning(
    log: LogReader, size: int, expected: bytes, now: Checkpoint
) -> tuple[bytes, tuple[bytes, ...]] | None:
    """Return the root of a log's first entries, and the path from there to a signed root."""
    if size in (0, now.size):
        return (now.root if size == now.size else EMPTY_ROOT), ()
    path = tuple(log.consistency(size, now.size))
    for start in chain([expected], _starts(log, size, now.size)):
        # What cannot be asked is not suppressed: it says nothing of the log.
        with suppress(PublicationError):
            root, larger = roots_by_consistency(size, start, now.size, path)
            if larger == now.root:
                return root, path
    return None


def _starts(log: LogReader, size: int, now: int) -> Iterator[bytes]:
    """Yield where a path can begin: it leaves out a first tree that is one complete subtree.

    That tree's root is beside the subtree that follows it, so on the way up from the next entry.
    """
    if size & (size - 1) == 0:
        yield from log.inclusion(size, now)
