"""A federated run in a log: each round is entered before its sum is opened, then the release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from supm.federation import RoundRecord
from supm.messages import Release
from supm.publication.entry import RoundEntry
from supm.publication.log import Log
from supm.publication.proof import Proof, make_proof
from supm.publication.publishing import publish
from supm.publication.signing import SigningKey

__all__ = ["RunRecord"]


class RunRecord:
    """Where a run is recorded. What cannot be written stops the run before anything is opened.

    Parameters
    ----------
    log : Log
        The log, whose charge the key must have: else the run does not begin.
    key : SigningKey
        The publisher's.
    clock : callable
        Returns the time of an entry.
    """

    def __init__(self, log: Log, key: SigningKey, clock: Callable[[], str]) -> None:
        log.check_charge(key)
        self.log, self._key, self._clock = log, key, clock
        self.rounds: list[RoundRecord] = []

    def record(self, told: RoundRecord) -> None:
        """Enter a round, before its sum is opened."""
        self.log.append([RoundEntry(time=self._clock(), **asdict(told))], self._key)
        self.rounds.append(told)

    def enter(self, release: Release, content: bytes, name: str) -> tuple[int, Proof]:
        """Enter the release as the file that holds it; return the place of its entry and proof.

        Parameters
        ----------
        release : Release
            What the run gave.
        content : bytes
            What is in the file.
        name : str
            The name of the file.

        Returns
        -------
        tuple of int and Proof
        """
        place = publish(
            self.log,
            self._key,
            content,
            name=name,
            statement=release.statement,
            time=self._clock(),
            run=self.rounds[0].run,
            commitments=tuple(each.commitments for each in self.rounds),
        )
        return place, make_proof(self.log, place, self.log.anchored(place))
