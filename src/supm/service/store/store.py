"""The store: all that outlives the process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import check_kind
from supm.collection.counting import Counts
from supm.messages import Study
from supm.messages.question import PHASES
from supm.service.errors import StoreError, UnknownStudy
from supm.service.store import _studies
from supm.service.store._counting import fold, read_counts
from supm.service.store._database import Database, DatabaseAddress
from supm.service.store._intake import Intake
from supm.service.store._leaves import count_unused
from supm.service.store._tables import minutes, phases, studies
from supm.service.store.values import (
    Opened,
    State,
    Submission,
    Verdict,
    check_move,
    check_who,
    first_state,
)

# Counts that so many more reports went into are worth keeping; fewer are counted again next time.
_WORTH_KEEPING: Final = 1 << 15
_LONGEST_NAME: Final = 32
_NO_LIMITS: Final[Mapping[str, Any]] = {}


class Store:
    """Studies, reports and counts in one database. Safe in threads; `open` makes one.

    Whatever the database refuses is a StoreError: nothing of that call is acknowledged, and sending
    the same reports again is safe. The store goes on as soon as the database does.

    Parameters
    ----------
    url : str
        ``sqlite:///file.db`` or ``postgresql://…``.
    clock : callable
        The time in Unix seconds.

    Examples
    --------
    >>> import tempfile
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=1.0, attributes=["mean radius"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.open(f"sqlite:///{folder}/studies.db")
    ...     opened = store.create(study, token_hash="0" * 64, minimums={}, deadlines={})
    ...     print(opened.state, store.reports(opened.name), store.counts(opened.name, "train"))
    ...     store.close()
    collecting to train {'train': 0} None
    """

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._database = Database(DatabaseAddress.parse(url))
        self._intake = Intake(self._database, clock, self.fold)

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], float] = time.time) -> Store:
        """Open a database, make or migrate its tables."""
        return cls(url, clock)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def healthy(self) -> bool:
        """Say whether the database answers."""
        try:
            with self._database.reading() as connection:
                connection.execute(sa.select(sa.func.count()).select_from(studies))
        except StoreError:
            return False
        return True

    def create(  # noqa: PLR0913  all of a study is written at once
        self,
        study: Study,
        *,
        token_hash: str,
        minimums: Mapping[str, int] = _NO_LIMITS,
        deadlines: Mapping[str, float] = _NO_LIMITS,
        invitations: Sequence[str] = (),
        simulation: bool = False,
        by: str = "",
        contact: str = "",
    ) -> Opened:
        """Store a new study.

        Parameters
        ----------
        study : Study
            The document as planned.
        token_hash : str
            The hash of the analyst's token.
        minimums : mapping of str to int
            How many reports a phase needs at least.
        deadlines : mapping of str to float
            Until when a phase takes reports, in Unix seconds.
        invitations : sequence of str, default ()
            The hashes of one-time invitations; where there are none, nobody needs one.
        simulation : bool, default False
            Whether owners draw from a seed.
        by, contact : str, default ""
            Who runs the study, and how owners reach them.

        Returns
        -------
        Opened
            With the name that it was given.
        """
        check_kind("study", study, Study)
        for name, given in (("minimums", minimums), ("deadlines", deadlines)):
            if not set(given) <= set(PHASES):
                raise ParameterError(name, f"by phase: {', '.join(PHASES)}", "another phase")
        check_who(by, contact)
        values = {
            "state": first_state(study).value,
            "token_hash": token_hash,
            "minimums": json.dumps(dict(minimums)),
            "deadlines": json.dumps(dict(deadlines)),
            "simulation": simulation,
            "created": self._clock(),
            "run_by": by,
            "contact": contact,
        }
        with self._database.writing() as connection:
            return _studies.insert(connection, study, values, invitations)

    def studies(self) -> list[Opened]:
        """Return all studies, the oldest first."""
        with self._database.reading() as connection:
            return _studies.find_all(connection)

    def find(self, name: str) -> Opened:
        """Return one study, or raise UnknownStudy."""
        if not (name.isascii() and name.isalnum() and len(name) <= _LONGEST_NAME):
            raise UnknownStudy
        with self._database.reading() as connection:
            return _studies.find(connection, name)

    def token_hash(self, name: str) -> str:
        """Return the hash of the analyst's token, or raise UnknownStudy."""
        wanted = sa.select(studies.c.token_hash).where(studies.c.name == name)
        with self._database.reading() as connection:
            found = connection.execute(wanted).scalar_one_or_none()
        if found is None:
            raise UnknownStudy
        return str(found)

    def advance(  # noqa: PLR0913  a step and all that it brings are written at once
        self,
        name: str,
        *,
        expected: State,
        to: State,
        document: Study | None = None,
        model: str | None = None,
        weights: str | None = None,
        counted: int | None = None,
    ) -> Opened:
        """Move a study on, if it is still where the caller thinks.

        Reports that come later are refused. To use exactly the stored reports: `pause` the phase,
        take `counts`, and give their number as `counted`.

        Parameters
        ----------
        name : str
            The study.
        expected : State
            Where it has to be.
        to : State
            Where it goes.
        document : Study, optional
            Its next document.
        model : str, optional
            The JSON of its model.
        weights : str, optional
            How the model was trained; stored with the model.
        counted : int, optional
            How many reports of the phase that ends were used; the move is refused if others came.

        Returns
        -------
        Opened
            The study after the move.

        Raises
        ------
        StateChanged
            If it is elsewhere, or reports came after the count; nothing is changed.
        UnknownStudy
            If there is none.
        """
        check_move(expected, to)
        brought = {} if model is None else {"model": model, "weights": weights}
        with self._database.writing() as connection:
            opened = _studies.lock(connection, name, expected)
            _studies.close_phase(connection, opened, counted)
            opened = _studies.move(connection, opened, {"state": to.value, **brought}, document)
        self._intake.forget(name)
        return opened

    def pause(self, name: str, phase: str, seconds: float) -> None:
        """Refuse the reports of a phase for a while, so that its counts stay as they are.

        The time ends by itself, so a server that stops meanwhile leaves nothing to repair.
        """
        here = (phases.c.study == name) & (phases.c.name == phase)
        until = sa.update(phases).where(here).values(paused_until=self._clock() + seconds)
        with self._database.writing() as connection:
            connection.execute(until)

    def add(self, submissions: Sequence[Submission]) -> list[Verdict]:
        """Store the reports that are new, all in one transaction."""
        return self._intake.add(submissions)

    def recall(self, submission: Submission) -> NDArray[np.bool_]:
        """Say of each report whether its id is stored, also after the end of its phase.

        The first question about an ended phase sorts its ids, once; each later one reads a few
        kilobytes for each report.
        """
        return self._intake.recall(submission)

    def warm(self) -> None:
        """Read the ids of the open phases into memory, so that the first report need not wait."""
        self._intake.warm()

    def reports(self, name: str) -> dict[str, int]:
        """Return how many reports each phase that was opened has, or raise UnknownStudy."""
        wanted = sa.select(phases.c.name, phases.c.reports).where(phases.c.study == name)
        with self._database.reading() as connection:
            found = connection.execute(wanted.order_by(phases.c.id)).all()
            if not found:
                _studies.find(connection, name)
        return {row.name: row.reports for row in found}

    def unused_invitations(self, name: str, phase: str) -> int:
        """Return how many invitations can still let in a report of a phase that was opened."""
        with self._database.reading() as connection:
            return count_unused(connection, name, phase)

    def counts(self, name: str, phase: str) -> Counts | None:
        """Return what the stored reports of a phase add up to."""
        with self._database.reading() as connection:
            folded = read_counts(connection, name, phase)
        if folded is None:
            return None
        if folded.fresh >= _WORTH_KEEPING:
            # The counts are right whether they can be kept or not: a full disk can be read.
            with suppress(StoreError):
                fold(self._database, folded)
        return folded.counts

    def fold(self, name: str, phase: str) -> int:
        """Keep counts in place of the answers that wait; return how many answers that were."""
        with self._database.reading() as connection:
            folded = read_counts(connection, name, phase)
        if folded is None or not folded.fresh or not fold(self._database, folded):
            return 0
        return folded.fresh

    def series(self, name: str, phase: str, *, most: int = 1 << 20) -> list[tuple[int, int]]:
        """Return the Unix minutes in which reports came, ascending, with how many came.

        Where that would be more than ``most``, each stands for some minutes and is their last.
        """
        with self._database.reading() as connection:
            return read_series(connection, name, phase, most)


def read_series(
    connection: sa.Connection, name: str, phase: str, most: int
) -> list[tuple[int, int]]:
    """Return at most so many minutes, ascending, each with how many reports came up to it."""
    own = sa.select(phases.c.id).where(phases.c.study == name, phases.c.name == phase)
    here = minutes.c.phase_id == own.scalar_subquery()
    ends = sa.select(sa.func.min(minutes.c.minute), sa.func.max(minutes.c.minute)).where(here)
    first, last = connection.execute(ends).one()
    if first is None:
        return []
    # Rounded up, so that all fit.
    width = -(-(last - first + 1) // most)
    span = (minutes.c.minute - first) // width
    minute = sa.func.max(minutes.c.minute)
    counted = sa.select(minute, sa.func.sum(minutes.c.reports)).where(here)
    found = connection.execute(counted.group_by(span).order_by(minute))
    return [(minute, int(reports)) for minute, reports in found]
