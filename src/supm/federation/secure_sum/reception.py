"""Replies as they arrive at the server: who may answer, and what ends a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from supm._errors import FederationError, MessageError, ParameterError
from supm._validation import check_text
from supm.federation.secure_sum.wire import Reading
from supm.messages.update import Update

__all__ = ["read_replies", "reading_of"]

_LONGEST_REASON = 300


def read_replies(
    replies: Mapping[int, bytes], asked: Collection[int], parties: int
) -> dict[int, Reading]:
    """Return the replies of those who were asked, by number.

    Parameters
    ----------
    replies : mapping of int to bytes
        What arrived.
    asked : collection of int
        Who was asked. A reply of a party that was lost before comes too late and is not read.
    parties : int
        How many parties there are.

    Returns
    -------
    dict of int to Reading

    Raises
    ------
    FederationError
        If a reply is of nobody, is a refusal, or is no message.

    Examples
    --------
    >>> read_replies({7: b""}, [0, 1], 2)
    Traceback (most recent call last):
    supm._errors.FederationError: a reply came from a number that is no party of this run.
    """
    known = range(parties)
    if any(type(number) is not int or number not in known for number in replies):
        message = "a reply came from a number that is no party of this run."
        raise FederationError(message)
    return {n: _read(n, replies[n]) for n in sorted(asked) if n in replies}


@contextmanager
def reading_of(number: int) -> Iterator[None]:
    """Say whose reply it was that could not be used.

    Examples
    --------
    >>> with reading_of(3):
    ...     raise FederationError("its field size must be a whole number in [0, 9].")
    Traceback (most recent call last):
    supm._errors.FederationError: the reply of party 3 cannot be used: its field size must be a
    whole number in [0, 9].
    """
    try:
        yield
    except FederationError as error:
        message = f"the reply of party {number} cannot be used: {error}"
        raise FederationError(message) from None


def _read(number: int, content: bytes) -> Reading:
    try:
        update = Update.from_bytes(content)
    except MessageError:
        # What the reader says may quote the reply, so it is not handed on.
        message = f"the reply of party {number} cannot be used: it is no message of this version."
        raise FederationError(message) from None
    if update.kind == "refusal":
        _refuse(number, update)
    return Reading(update)


def _refuse(number: int, update: Update) -> None:
    try:
        reason = update.fields.get("reason")
        check_text("reason", reason, _LONGEST_REASON)
    except ParameterError:
        reason = "it gave no reason."
    message = f"party {number} refused: {reason}"
    raise FederationError(message)
