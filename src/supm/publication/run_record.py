"""A federated run in a log: each round is entered before its sum is opened, then the release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from supm.federation import RoundRecord
from supm.messages import Release
from supm.publication.entry import RoundEntry
from supm.publication.log import Log
from supm.publication.proof import make_proof
from supm.publication.publishing import enter_file
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

    def enter(self, release: Release, path: Path) -> int:
        """Enter the release, which is in a file, and write the proof beside it.

        Parameters
        ----------
        release : Release
            What the run gave.
        path : Path
            The file; that of the proof has ``.proof`` behind its name.

        Returns
        -------
        int
            The place of the entry.
        """
        place = enter_file(
            self.log,
            self._key,
            path.read_bytes(),
            name=path.name,
            statement=release.statement,
            time=self._clock(),
            run=self.rounds[0].run,
            commitments=tuple(each.commitments for each in self.rounds),
        )
        proof = make_proof(self.log, place, self.log.anchored(place))
        path.with_name(f"{path.name}.proof").write_text(proof.to_json() + "\n")
        return place
