"""All parties in this process: for simulations, for tests, and for tables that lie together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from supm._errors import ParameterError

__all__ = [
    "Answerer",
    "Asker",
    "carry_in_process",
]


class Asker(Protocol):
    """The side that asks. Parties are numbered from 0."""

    def begin(self) -> dict[int, bytes]:
        """Return the first messages, by the number of the party."""

    def receive(self, replies: Mapping[int, bytes]) -> dict[int, bytes] | None:
        """Take the replies and return the next messages, or None when all is done.

        Parameters
        ----------
        replies : mapping of int to bytes
            What each party answered; who is not in it did not answer.

        Returns
        -------
        dict of int to bytes or None

        Raises
        ------
        SupmError
            If the run cannot go on.
        """


class Answerer(Protocol):
    """The side that answers."""

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        """Return what to remember until the next message, and the reply.

        Parameters
        ----------
        state : bytes
            What was to be remembered; empty at first.
        message : bytes
            What the coordinator sent.

        Returns
        -------
        tuple of bytes and bytes
        """


def carry_in_process(
    coordinator: Asker,
    participants: Sequence[Answerer],
    *,
    lost: Callable[[int, int], bool] | None = None,
) -> None:
    """Carry messages until the coordinator has finished.

    An error of a participant is raised here, where whoever runs them all can see it.

    Parameters
    ----------
    coordinator : Asker
        The side that asks.
    participants : sequence of Answerer
        The party of each number.
    lost : callable, optional
        Called with the turn, from 0, and the party's number: whether its reply is lost. The party
        has answered all the same, as one does whose connection breaks.

    Examples
    --------
    >>> class Once:
    ...     def begin(self):
    ...         return {0: b"hello", 1: b"hello"}
    ...
    ...     def receive(self, replies):
    ...         self.heard = replies
    >>> class Echo:
    ...     def answer(self, state, message):
    ...         return state, message.upper()
    >>> once = Once()
    >>> carry_in_process(once, [Echo(), Echo()])
    >>> once.heard
    {0: b'HELLO', 1: b'HELLO'}
    """
    states = [b""] * len(participants)
    messages: dict[int, bytes] | None = coordinator.begin()
    turn = 0
    while messages is not None:
        _check_numbers(messages, len(participants))
        replies = {}
        for number, message in messages.items():
            states[number], reply = participants[number].answer(states[number], message)
            if lost is None or not lost(turn, number):
                replies[number] = reply
        messages, turn = coordinator.receive(replies), turn + 1


def _check_numbers(messages: Mapping[int, bytes], parties: int) -> None:
    unknown = [number for number in messages if not 0 <= number < parties]
    if unknown:
        raise ParameterError("participants", f"more than the party number {unknown[0]}", parties)
