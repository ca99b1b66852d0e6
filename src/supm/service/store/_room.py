"""Whether a door can take more: what is acknowledged must be counted."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from supm.collection.counting import DISTINCT
from supm.service.store._tables import tallies

__all__ = ["FoldFirst", "is_full"]


class FoldFirst(Exception):  # noqa: N818  a step of the work, never an error that leaves
    """Only a fold can tell whether there is room."""

    def __init__(self, name: str, phase: str) -> None:
        super().__init__("fold first")
        self.name, self.phase = name, phase


def is_full(connection: sa.Connection, door: sa.Row[Any], count: int) -> bool:
    """Say whether so many reports more might be more distinct answers than are kept.

    Raises
    ------
    FoldFirst
        If that is not known before the answers that wait are folded.
    """
    if door.reports + count <= DISTINCT or door.phase == "test":
        return False
    wanted = sa.select(tallies.c.reports, tallies.c.distinct_rows)
    tally = connection.execute(wanted.where(tallies.c.door == door.door)).one()
    table = tally.reports > 0 and tally.distinct_rows == 0
    waiting = door.reports - tally.reports
    if table or tally.distinct_rows + waiting + count <= DISTINCT:
        return False
    if waiting:
        raise FoldFirst(door.study, door.phase)
    return True
