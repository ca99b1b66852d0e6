"""One-time invitations: each lets one report of a study in, and nothing says which.

Where a study asks the same people to reduce and to train, each lets in one report of each phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from supm.service.store._leaves import add_keys, find_keys
from supm.service.store._studies import stored_document
from supm.service.store._tables import documents, invitations, phases, spent
from supm.service.store.values import Refusal, Submission

_BYTES: Final = 32


class Invited:
    """The invitations that come with submissions of one phase; `spend` marks those that were used.

    Whoever makes one holds the phase's lock.
    """

    def __init__(
        self, connection: sa.Connection, phase: sa.Row[Any], taken: Sequence[Submission]
    ) -> None:
        self._connection, self._phase = connection, phase
        wanted = {each.invitation for each in taken if each.invitation is not None}
        good = (invitations.c.study == phase.study) & invitations.c.hash.in_(wanted)
        self._good = set(connection.execute(sa.select(invitations.c.hash).where(good)).scalars())
        keys = {bytes.fromhex(each) for each in wanted}
        self._used: set[bytes] = set()
        for phase_id in connection.execute(_sharing(connection, phase)).scalars().all():
            self._used |= find_keys(connection, spent, phase_id, keys)
        self._fresh: set[bytes] = set()

    def take(self, given: Submission) -> Refusal | None:
        """Use the invitation of a submission, or say why it lets nobody in."""
        if given.invitation is None:
            return Refusal.NOT_INVITED
        if len(given) != 1:
            return Refusal.SEVERAL_FOR_ONE
        if given.invitation not in self._good:
            return Refusal.UNKNOWN_INVITATION
        key = bytes.fromhex(given.invitation)
        if key in self._used:
            return Refusal.USED_INVITATION
        self._used.add(key)
        self._fresh.add(key)
        return None

    def spend(self) -> None:
        """Mark the invitations that were taken."""
        if self._fresh:
            add_keys(self._connection, spent, self._phase.id, self._fresh)


def count_unused(connection: sa.Connection, name: str, phase: str) -> int:
    """Return how many invitations can still let a report of a phase in; which ones is not told.

    Where the same people are asked twice, that is of this phase alone.
    """
    here = (phases.c.study == name) & (phases.c.name == phase)
    row = connection.execute(sa.select(phases).where(here)).one()
    made = sa.select(sa.func.count()).where(invitations.c.study == name)
    shared = spent.c.phase_id.in_(_sharing(connection, row))
    used = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(spent.c.packed)), 0))
    bytes_used = connection.execute(used.where(shared)).scalar_one()
    return int(connection.execute(made).scalar_one()) - int(bytes_used) // _BYTES


def _sharing(connection: sa.Connection, phase: sa.Row[Any]) -> sa.Select[Any]:
    """Return the phases in which an invitation may not have been used to be good in this one."""
    shared = sa.select(phases.c.id).where(phases.c.study == phase.study)
    first = (documents.c.study == phase.study) & (documents.c.place == 0)
    text = connection.execute(sa.select(documents.c.text).where(first)).scalar_one()
    study = stored_document(text)
    if len(study.groups) == 1 and study.question("reduce") is not None:
        # The same people answer to reduce and to train.
        shared = shared.where(phases.c.id == phase.id)
    return shared
