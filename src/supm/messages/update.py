"""What servers and parties of a federation send each other: fields, whole numbers, commitments."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._json import canonical, read_object
from supm._validation import Integers, check_hash, check_kind, check_text
from supm.messages.codec import Message

# A name and a version: whoever speaks another version is refused at the first byte.
_MARK: Final = b"supm-update-2\n"
_LENGTH_BYTES: Final = 8
_LONGEST_KIND: Final = 40
_MOST_NUMBERS: Final = 1 << 27
_WIRE: Final = np.dtype("<u8")


def _nothing() -> NDArray[np.uint64]:
    return np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Update:
    """One message of a federation.

    Parameters
    ----------
    kind : str
        What it is: "invite", "keys", "masked", ….
    fields : dict
        Plain values of JSON; whoever receives them checks them.
    numbers : ndarray of uint64
        Masked sums, or the bits of public numbers (`floats`).

    Examples
    --------
    >>> sent = Update(kind="masked", fields={"round": 1}, numbers=np.arange(3, dtype=np.uint64))
    >>> got = Update.from_bytes(sent.to_bytes())
    >>> got.kind, got.fields, got.numbers.tolist()
    ('masked', {'round': 1}, [0, 1, 2])
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    numbers: NDArray[np.uint64] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        check_text("kind", self.kind, _LONGEST_KIND)
        check_kind("fields", self.fields, dict)
        given: object = self.numbers
        if not isinstance(given, np.ndarray) or given.dtype != np.uint64 or given.ndim != 1:
            raise ParameterError("numbers", "a vector of uint64", type(given))
        if given.size > _MOST_NUMBERS:
            raise ParameterError("numbers", f"at most {_MOST_NUMBERS} of them", given.size)

    @property
    def floats(self) -> NDArray[np.float64]:
        """The numbers as the floats whose bits they are."""
        return self.numbers.view(np.float64)

    def __repr__(self) -> str:
        """Say what it is and how long, never what it holds."""
        return f"Update(kind={self.kind!r}, numbers={self.numbers.size})"

    def to_bytes(self) -> bytes:
        """Return the message as it goes over the wire."""
        text = canonical({"kind": self.kind, "fields": self.fields}).encode()
        length = len(text).to_bytes(_LENGTH_BYTES, "little")
        return b"".join((_MARK, length, text, self.numbers.astype(_WIRE, copy=False).tobytes()))

    @classmethod
    def from_bytes(cls, content: object) -> Update:
        """Read what `to_bytes` wrote.

        Raises
        ------
        MessageError
            If the bytes are no message of this version.
        """
        if not isinstance(content, bytes) or not content.startswith(_MARK):
            raise MessageError("a message of a federation must be bytes of version 2.")
        start = len(_MARK) + _LENGTH_BYTES
        end = start + int.from_bytes(content[len(_MARK) : start], "little")
        if end > len(content) or (len(content) - end) % _WIRE.itemsize:
            raise MessageError("a message of a federation is cut off; send it again.")
        return cls._read(content[start:end], content[end:])

    @classmethod
    def _read(cls, text: bytes, numbers: bytes) -> Update:
        try:
            form = read_object(text.decode(), "message", MessageError)
            if set(form) != {"kind", "fields"}:
                raise MessageError("a message of a federation has the fields kind and fields.")
            told = np.frombuffer(numbers, dtype=_WIRE).astype(np.uint64, copy=False)
            return cls(kind=form["kind"], fields=form["fields"], numbers=told)
        except (ParameterError, UnicodeDecodeError) as error:
            kind = "not UTF-8." if isinstance(error, UnicodeDecodeError) else str(error)
            raise MessageError(f"a message of a federation cannot be read: {kind}") from None


_COMMITMENT: Final = b"supm-commitment-1\n"
_NUMBER: Final = Integers("number", 0, 1 << 20)


def commitment(where: dict[str, Any], masked: NDArray[np.uint64]) -> str:
    """Return the hash that binds a party to what it sent in one round.

    The vector is masked: uniform words that nobody can guess, so the hash tells nothing of what is
    beneath, and can be published.

    Parameters
    ----------
    where : dict
        Study, run, round and the party's number.
    masked : ndarray of uint64
        What the party sent.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> commitment({"round": 0}, np.arange(3, dtype=np.uint64))[:16]
    'c9c7706fabe9e0b0'
    """
    words = masked.astype("<u8", copy=False).tobytes()
    return hashlib.sha256(_COMMITMENT + canonical(where).encode() + b"\n" + words).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Commitments(Message):
    """The hashes of what one party sent in one run.

    Parameters
    ----------
    study : str
        The hash of what was consented to.
    run : str
        The fingerprint of all parties' keys.
    number : int
        The party's number.
    rounds : tuple of str
        The hash of each round.

    Examples
    --------
    >>> kept = Commitments(study="0" * 64, run="1" * 64, number=2, rounds=("2" * 64,))
    >>> Commitments.from_json(kept.to_json()) == kept
    True
    """

    noun = "a receipt"
    version = 1
    study: str
    run: str
    number: int
    rounds: tuple[str, ...]

    def __post_init__(self) -> None:
        _NUMBER.check(self.number)
        check_kind("rounds", self.rounds, tuple)
        check_hash("study", self.study)
        check_hash("run", self.run)
        for each in self.rounds:
            check_hash("each of rounds", each)
