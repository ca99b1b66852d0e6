"""All parties in this process: for simulations, for tests, and for tables that lie together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.federation import Federated, FederatedStudy, RoundRecord, Rows, party_source


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


Carrier = Callable[[Asker, Sequence[Answerer]], None]
"""Takes messages from the side that asks to the parties and back until all is done."""


def run_study(
    study: FederatedStudy,
    tables: Mapping[str, Rows],
    source: RandomSource,
    *,
    record: Callable[[RoundRecord], None] | None = None,
    carry: Carrier = carry_in_process,
) -> Federated:
    """Run a study on tables that are all here, with all its messages and masks.

    Parameters
    ----------
    study : FederatedStudy
        What the parties would consent to.
    tables : mapping of str to Rows
        The parties by name, in the order of their numbers.
    source : RandomSource
        `supm.secure()`, or `supm.simulation(seed)`.
    record : callable, optional
        Is given a `RoundRecord` before a round is opened, to publish it.
    carry : callable, optional
        What carries messages; by default they stay in this process.

    Returns
    -------
    Federated

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.datasets import load_wdbc
    >>> from supm.federation import plan_federation
    >>> wdbc = load_wdbc()
    >>> study = plan_federation(wdbc.schema, "lda", epsilon=1, delta=1e-5, parties=1)
    >>> run_study(study, {"clinic": study.protocol.encoding.rows(wdbc.records())}, simulation(1))
    <Published: discriminant of federation.>
    """
    parties = study.protocol.circle.parties
    if len(tables) != parties:
        raise ParameterError("tables", f"those of {parties} parties", len(tables))
    people = [
        study.participant(rows, partial(party_source, source, name), on_problem=_raise)
        for name, rows in tables.items()
    ]
    coordinator = study.coordinator(record=record, simulation=source.simulation)
    carry(coordinator, people)
    return Federated.of(study, coordinator)


def _raise(problem: Exception) -> None:
    """Raise what a party would keep to itself: here whoever runs them all is to see it."""
    raise problem
