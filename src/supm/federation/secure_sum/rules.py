"""Rules that a party keeps by itself, whatever the server says."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError, PromiseError
from supm.federation.secure_sum.keys import hash_text
from supm.federation.secure_sum.memory import Memory
from supm.federation.secure_sum.roster import roster_fingerprint
from supm.federation.secure_sum.wire import Reading
from supm.messages.update import Update

__all__ = [
    "COULD_NOT_ANSWER",
    "DOES_NOT_TAKE_PART",
    "HEADER",
    "OwnProblem",
    "check_enough",
    "check_header",
    "check_vector",
    "header_of",
    "on_its_own",
    "refusal",
    "reply_header",
]

COULD_NOT_ANSWER: Final = "this party could not answer; see its own log."
"""All that goes out where something fails at the party: an error may speak of its table."""

DOES_NOT_TAKE_PART: Final = "this party does not take part in this study; see its own log."
"""All that goes out where a party's policy says no."""

HEADER: Final = ("study", "roster", "round")
"""What every message of a round repeats: to which study, keys and round it belongs."""

_T = TypeVar("_T")


class OwnProblem(Exception):  # noqa: N818  it carries an error and is none that is shown
    """Something of the party's own went wrong: the sentence may go out, the cause stays.

    Parameters
    ----------
    sentence : str
        One of the fixed sentences.
    cause : Exception
        What happened.
    """

    def __init__(self, sentence: str, cause: Exception) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.cause = cause


def on_its_own(sentence: str, call: Callable[[], _T]) -> _T:
    """Call what is the party's own, and let nothing of its errors out but a fixed sentence."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  whatever it says, it must not go out
        raise OwnProblem(sentence, error) from None


def refusal(sentence: str) -> bytes:
    """Return the reply that says no.

    Examples
    --------
    >>> Update.from_bytes(refusal(COULD_NOT_ANSWER)).fields
    {'reason': 'this party could not answer; see its own log.'}
    """
    return Update(kind="refusal", fields={"reason": sentence}).to_bytes()


def header_of(memory: Memory, *names: str) -> dict[str, Any]:
    """Return what a message to this party must repeat."""
    study = hash_text(memory.study)
    fingerprint = roster_fingerprint(study, memory.roster)
    whole = {"study": study, "roster": fingerprint, "round": memory.round}
    return {name: whole[name] for name in names}


def reply_header(memory: Memory, *names: str) -> dict[str, Any]:
    """Return what a reply of this party repeats."""
    return {**header_of(memory, *names), "number": memory.number}


def check_header(memory: Memory, got: Reading, *names: str) -> None:
    """Refuse a message of another study, of other keys, or of another round."""
    for name, value in header_of(memory, *(names or HEADER)).items():
        got.check_same(name, value)


def check_enough(told: Collection[int], number: int, threshold: int) -> None:
    """Refuse a sum over too few, or one without this party.

    Examples
    --------
    >>> check_enough([0, 1], 0, 3)
    Traceback (most recent call last):
    supm._errors.FederationError: a sum must be over at least 3 parties, this one among them.
    """
    if number not in told or len(told) < threshold:
        message = f"a sum must be over at least {threshold} parties, this one among them."
        raise FederationError(message)


def check_vector(vector: object) -> NDArray[np.int64]:
    """Return a vector of whole numbers; anything else is an error of the protocol.

    Examples
    --------
    >>> check_vector(np.zeros(2, dtype=np.int64)).size
    2
    """
    if not isinstance(vector, np.ndarray) or vector.dtype != np.int64 or vector.ndim != 1:
        message = "a protocol must tell a vector of int64."
        raise PromiseError(message)
    return vector
