"""How many invitations of a study nobody has used; which ones is not told."""

from __future__ import annotations

import sqlalchemy as sa

from supm.service.store._tables import doors, invitations, spent
from supm.service.store._using import sharing

__all__ = ["count_unused"]

# Used invitations are stored as the bytes of their hashes, one after the other.
_BYTES = 32


def count_unused(connection: sa.Connection, name: str, phase: str) -> int:
    """Return how many invitations can still let a report of a phase in.

    Parameters
    ----------
    connection : Connection
        In a transaction.
    name : str
        The study.
    phase : str
        A phase that was opened.

    Returns
    -------
    int
        Where the same people are asked twice, of this phase alone.
    """
    here = (doors.c.study == name) & (doors.c.phase == phase)
    door = connection.execute(sa.select(doors).where(here)).one()
    made = sa.select(sa.func.count()).where(invitations.c.study == name)
    shared = spent.c.door.in_(sharing(connection, door))
    used = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(spent.c.packed)), 0))
    bytes_used = connection.execute(used.where(shared)).scalar_one()
    return int(connection.execute(made).scalar_one()) - int(bytes_used) // _BYTES
