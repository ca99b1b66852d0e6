"""What a party keeps of a run: a hash of each masked vector that it sent, to find it in a log."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._json import canonical
from supm._validation import Integers, check_kind, is_hash
from supm.messages.codec import Message

__all__ = ["Commitments", "commitment"]

_MARK: Final = b"supm-commitment-1\n"
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
    return hashlib.sha256(_MARK + canonical(where).encode() + b"\n" + words).hexdigest()


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
        for name, text in (("study", self.study), ("run", self.run)):
            _check_hash(name, text)
        for each in self.rounds:
            _check_hash("each of rounds", each)


def _check_hash(name: str, text: object) -> None:
    if not is_hash(text):
        raise ParameterError(name, "a hash of 64 hexadecimal digits", text)
