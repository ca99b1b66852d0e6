"""The two sides of an exchange, as an engine sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Answerer", "Coordinator"]


class Coordinator(Protocol):
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
