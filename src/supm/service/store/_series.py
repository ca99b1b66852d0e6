"""When reports came: minute by minute, or in wider spans where there are too many minutes."""

from __future__ import annotations

import sqlalchemy as sa

from supm.service.store._tables import doors, minutes

__all__ = ["read_series"]


def read_series(
    connection: sa.Connection, name: str, phase: str, most: int
) -> list[tuple[int, int]]:
    """Return at most so many minutes, ascending, each with how many reports came up to it."""
    door = sa.select(doors.c.door).where(doors.c.study == name, doors.c.phase == phase)
    here = minutes.c.door == door.scalar_subquery()
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
