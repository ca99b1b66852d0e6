"""What a log holds: entries of four kinds, each with one canonical text and nothing private in it.

The text of an entry is what is hashed, so one meaning has one text: keys are sorted, nothing is
padded, and an entry that is written in another way is refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

from supm._errors import ParameterError, PublicationError
from supm._json import canonical, read_object
from supm._validation import Integers, is_hash
from supm.messages import ReleaseStatement, Statement
from supm.messages.codec import Message
from supm.privacy import Guarantee
from supm.publication.signing import VerifierKey

_ADDRESS: Final = re.compile("0x[0-9a-fA-F]{40}")
_LONGEST: Final = 200
_MOST_PARTIES: Final = 100_000
_TIME: Final = len("2026-11-18T14:00:00Z")


def check_digest(name: str, text: object) -> None:
    """Raise ParameterError unless a text is a SHA-256 in 64 hexadecimal digits."""
    if not is_hash(text):
        raise ParameterError(name, "a hash of 64 hexadecimal digits", text)


def check_time(text: object) -> None:
    """Raise ParameterError unless a text is a time in UTC, to the second."""
    if not isinstance(text, str) or len(text) != _TIME or not _is_time(text):
        raise ParameterError("time", "a time in UTC such as 2026-11-18T14:00:00Z", text)


@lru_cache(maxsize=1024)
def _is_time(text: str) -> bool:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").isoformat() + "Z" == text  # noqa: DTZ007  the Z says UTC
    except ValueError:
        return False


def check_label(name: str, text: object) -> None:
    """Raise ParameterError unless a text is a plain file name: printable, and no path."""
    good = isinstance(text, str) and 0 < len(text) <= _LONGEST and text.isprintable()
    if not good or "/" in str(text) or "\\" in str(text):
        raise ParameterError(name, f"a file name of at most {_LONGEST} characters", text)


def check_commitments(given: object) -> None:
    """Raise ParameterError unless each party's place has a hash or nothing."""
    if not isinstance(given, tuple) or not 0 < len(given) <= _MOST_PARTIES:
        raise ParameterError("commitments", "one for each party", type(given))
    for each in given:
        if each != "":
            check_digest("each of commitments", each)


def check_account_or_contract(name: str, text: object) -> None:
    """Raise ParameterError unless a text is the address of an account or contract."""
    if not isinstance(text, str) or _ADDRESS.fullmatch(text) is None:
        raise ParameterError(name, "0x and 40 hexadecimal digits", text)


_MOST: Final = (1 << 53) - 1
_SIGNATURE: Final = re.compile("[0-9a-f]{128}")


@dataclass(frozen=True, kw_only=True)
class LogEntry(Message):
    """One entry; the subclasses say of what.

    Parameters
    ----------
    time : str
        When, as the caller says: ``2026-11-18T14:00:00Z``. A chain, not the log, vouches for it.
    """

    noun = "an entry of the log"
    version = 1
    refusal = PublicationError
    time: str

    def __post_init__(self) -> None:
        check_time(self.time)

    @property
    def text(self) -> str:
        """The canonical text, which is what is hashed."""
        return self.to_json()


@dataclass(frozen=True, kw_only=True)
class ReleaseEntry(LogEntry):
    """A file that was published.

    Parameters
    ----------
    time : str
        When, as the caller says.
    name : str
        What the file is called.
    content : str
        The SHA-256 of its bytes.
    size : int
        How many bytes.
    statement : Statement or ReleaseStatement
        What is promised to those whose data made it. It names the study by its hash.
    run : str, default ""
        The fingerprint of all parties' keys, where parties made it together.
    commitments : tuple of tuple of str, default ()
        For each round, by the number of the party: the hash of what it sent masked, or nothing
        where it was lost.
    """

    kind: ClassVar[str] = "release"
    name: str
    content: str
    size: int
    statement: Statement | ReleaseStatement
    run: str = ""
    commitments: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_label("name", self.name)
        check_digest("content", self.content)
        Integers("size", 0, _MOST).check(self.size)
        if not isinstance(self.statement, Statement | ReleaseStatement):
            raise ParameterError("statement", "a statement of SUPM", type(self.statement))
        if self.run != "" or self.commitments:
            check_digest("run", self.run)
        for each in self.commitments:
            check_commitments(each)

    @property
    def study(self) -> str:
        """The hash of the study."""
        return self.statement.study

    @property
    def guarantees(self) -> dict[str, Guarantee]:
        """What is promised in total, by to whom."""
        if isinstance(self.statement, ReleaseStatement):
            return {"each record": self.statement.total}
        told = self.statement
        return {"who helped to train": told.training, "who was tested": told.testing}

    @property
    def promised(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        return {whom: each.to_form() for whom, each in self.guarantees.items()}

    def to_form(self) -> dict[str, Any]:
        """Return the entry as plain values for JSON."""
        return super().to_form() | {"study": self.study, "promised": self.promised}

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote; what it repeats must be what its statement says."""
        held = dict(form) if isinstance(form, dict) else {}
        told = [held.pop(name, None) for name in ("study", "promised")]
        entry = super().from_form(held)
        if told != [entry.study, entry.promised]:
            raise PublicationError("the entry promises something else than its own statement.")
        return entry


@dataclass(frozen=True, kw_only=True)
class RoundEntry(LogEntry):
    """One round of a federation: what was asked, and hashes of what the parties sent masked.

    Parameters
    ----------
    time : str
        When, as the caller says.
    study : str
        The hash of what the parties consented to.
    run : str
        The fingerprint of all parties' keys.
    round : int
        Which round, from 0.
    asked : tuple of float
        The public numbers with which the parties were asked: none, or a direction.
    commitments : tuple of str
        By the number of the party: the hash of what it sent, or nothing where it was lost.
    """

    kind: ClassVar[str] = "round"
    study: str
    run: str
    round: int
    asked: tuple[float, ...]
    commitments: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_digest("study", self.study)
        check_digest("run", self.run)
        Integers("round", 0, 1 << 20).check(self.round)
        kinds = {type(each) for each in self.asked} - {float, int}
        if kinds or not all(math.isfinite(each) for each in self.asked):
            raise ParameterError("asked", "finite numbers", "something else")
        # What was written as 4 was 4.0.
        object.__setattr__(self, "asked", tuple(map(float, self.asked)))
        check_commitments(self.commitments)


@dataclass(frozen=True, kw_only=True)
class KeyEntry(LogEntry):
    """A change of keys: another key takes over, or an old one is not believed any more.

    Parameters
    ----------
    time : str
        When, as the caller says.
    act : {"rotate", "revoke"}
        Which of the two.
    key : str
        The verifier key that takes over, or that is revoked.
    signature : str
        By the key that was in charge, in hexadecimal digits: of this entry without it.
    """

    kind: ClassVar[str] = "key"
    act: str
    key: str
    signature: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.act not in ("rotate", "revoke"):
            raise ParameterError("act", "rotate or revoke", self.act)
        if str(VerifierKey.parse(self.key)) != self.key:
            raise ParameterError("key", "a verifier key and nothing else", "another text")
        if self.signature != "" and _SIGNATURE.fullmatch(str(self.signature)) is None:
            raise ParameterError("signature", "128 hexadecimal digits", "another text")

    @property
    def unsigned(self) -> bytes:
        """What the signature is of."""
        return canonical({**self.to_form(), "signature": ""}).encode()


@dataclass(frozen=True, kw_only=True)
class KeyChange(Message):
    """A change of keys, and its place in the log."""

    noun = "a change of keys"
    index: int
    entry: KeyEntry

    def __post_init__(self) -> None:
        Integers("index", 0, _MOST).check(self.index)

    def hands_over_to(self, key: VerifierKey) -> bool:
        """Say whether a key takes over by it."""
        return self.entry.act == "rotate" and self.entry.key == str(key)


@dataclass(frozen=True, kw_only=True)
class ChainEntry(LogEntry):
    """The contract in which this log is anchored.

    Parameters
    ----------
    time : str
        When, as the caller says.
    chain : int
        The number of the chain.
    contract : str
        The contract's address.
    publisher : str
        The address that may anchor.
    log : str
        The identity of the log to which the contract is bound: the SHA-256 of its first key.
    """

    kind: ClassVar[str] = "chain"
    chain: int
    contract: str
    publisher: str
    log: str

    def __post_init__(self) -> None:
        super().__post_init__()
        Integers("chain", 1, _MOST).check(self.chain)
        check_account_or_contract("contract", self.contract)
        check_account_or_contract("publisher", self.publisher)
        check_digest("log", self.log)


_KINDS: Final[dict[str, type[LogEntry]]] = {
    each.kind: each for each in (ReleaseEntry, RoundEntry, KeyEntry, ChainEntry)
}


def read_entry(text: str) -> LogEntry:
    """Return the entry of a text.

    Parameters
    ----------
    text : str
        What `LogEntry.text` gave.

    Returns
    -------
    LogEntry

    Raises
    ------
    PublicationError
        If it is no entry of this version, or is not written in the canonical way.

    Examples
    --------
    >>> entry = ChainEntry(
    ...     time="2026-11-18T14:00:00Z", chain=1, contract="0x" + "0" * 40,
    ...     publisher="0x" + "0" * 40, log="0" * 64,
    ... )
    >>> read_entry(entry.text) == entry
    True
    """
    form = read_object(text, "entry", PublicationError)
    kind = form.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise PublicationError(f"an entry of the log must be of the kind {' or '.join(_KINDS)}.")
    entry = _KINDS[kind].from_form(form)
    if entry.text != text:
        raise PublicationError("an entry of the log is not written in the canonical way.")
    return entry
