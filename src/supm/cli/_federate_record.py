"""The record of a run: each round is entered into a log before its sum is opened, then the end."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from supm.cli._output import counted

if TYPE_CHECKING:
    from supm.federation import RoundRecord
    from supm.messages import Release
    from supm.publication.log import Log
    from supm.publication.signing import SigningKey

__all__ = ["Run"]

_Say = Callable[[str], None]


class Run:
    """Where a run is recorded: in a log, or nowhere.

    The log and its key are opened at once, so that a run whose record cannot be kept does not
    begin; and a record that cannot be written stops the run before anything is opened.

    Parameters
    ----------
    arguments : Namespace
        With the options ``--publish`` and ``--signing-key``.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._rounds: list[RoundRecord] = []
        self._log: Log | None = None
        if not arguments.publish:
            return
        from supm.cli._published import log_at, signing_key  # noqa: PLC0415  where it is used

        self._log = log_at(arguments.publish)
        keyed = argparse.Namespace(log=arguments.publish, signing_key=arguments.signing_key)
        self._key: SigningKey = signing_key(keyed)
        self._log.check_charge(self._key)

    def record(self, told: RoundRecord) -> None:
        """Enter a round into the log, before its sum is opened."""
        self._rounds.append(told)
        if self._log is None:
            return
        from supm.cli._published import when  # noqa: PLC0415  where it is used
        from supm.publication.entry import RoundEntry  # noqa: PLC0415  the same

        self._log.append([RoundEntry(time=when(None, self._log), **asdict(told))], self._key)

    def enter(self, release: Release, path: str, say: _Say) -> None:
        """Enter the release, which is in a file, into the log, and write the proof beside it."""
        if self._log is None:
            return
        from supm.cli._published import when  # noqa: PLC0415  where it is used
        from supm.cli.publish import write_proof  # noqa: PLC0415  the same
        from supm.publication.publishing import publish  # noqa: PLC0415  the same

        place = publish(
            self._log,
            self._key,
            Path(path).read_bytes(),
            name=Path(path).name,
            statement=release.statement,
            time=when(None, self._log),
            run=self._rounds[0].run,
            commitments=tuple(each.commitments for each in self._rounds),
        )
        write_proof(self._log, place, f"{path}.proof")
        rounds = counted(len(self._rounds), "round")
        say(
            f"The log {self._log.name} has {rounds} of this run and, as entry {place}, the "
            f"release; its proof is in {path}.proof."
        )
        self._log.close()
