"""All parties in this process: for simulations, for tests, and for tables that lie together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from supm._errors import ParameterError
from supm.engines.exchange import Answerer, Coordinator

__all__ = ["run_in_process"]


def run_in_process(
    coordinator: Coordinator,
    participants: Sequence[Answerer],
    *,
    lost: Callable[[int, int], bool] | None = None,
) -> None:
    """Carry messages until the coordinator has finished.

    An error of a participant is raised here, where whoever runs them all can see it.

    Parameters
    ----------
    coordinator : Coordinator
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
    >>> run_in_process(once, [Echo(), Echo()])
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
