"""From stored answers to counts: each answer is counted once, whoever counts and whenever.

Transactions of a door are numbered under its lock, so what a reader sees is all up to some number.
A tally knows through which number it goes. It is replaced only if it is still the one that the new
one was made from, and the answers that it holds are dropped in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.collection.counting import Counts, RowCounts, count
from supm.mechanisms import Reports
from supm.owner.interviews import Interview
from supm.service.store._database import Database
from supm.service.store._packing import pack_counts, unpack_counts, unpack_symbols
from supm.service.store._studies import asked_at
from supm.service.store._tables import answers, documents, doors, studies, tallies

__all__ = ["Folded", "fold", "read_counts"]

_ROWS_READ_AT_ONCE: Final = 512
_COUNTED_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Folded:
    """A door's counts at one moment."""

    door: int
    counts: Counts
    start: int
    through: int
    fresh: int


def read_counts(connection: sa.Connection, name: str, phase: str) -> Folded | None:
    """Count what is stored at one moment; None where nothing is."""
    here = (doors.c.study == name) & (doors.c.phase == phase)
    door = connection.execute(sa.select(doors).where(here)).one_or_none()
    if door is None or phase == "test":
        return None
    tally = connection.execute(sa.select(tallies).where(tallies.c.door == door.door)).one()
    total = unpack_counts(tally.counts) if tally.counts else None
    for symbols in _chunks(connection, door, tally.through):
        told = Reports(symbols=symbols, simulation=False)
        part = count(_asked(connection, door), told)
        total = part if total is None else _sum(total, part)
    if total is None:
        return None
    flag = sa.select(studies.c.simulation).where(studies.c.name == name)
    total = replace(total, simulation=bool(connection.execute(flag).scalar_one()))
    fresh = total.reports - tally.reports
    return Folded(door=door.door, counts=total, start=tally.through, through=door.last, fresh=fresh)


def fold(database: Database, folded: Folded) -> bool:
    """Keep counts in place of the answers behind them; False where another did so meanwhile."""
    counts = folded.counts
    changed = {
        "through": folded.through,
        "reports": counts.reports,
        "distinct_rows": len(counts.rows) if isinstance(counts, RowCounts) else 0,
        "counts": pack_counts(counts),
    }
    with database.writing() as connection:
        unchanged = (tallies.c.door == folded.door) & (tallies.c.through == folded.start)
        updated = connection.execute(sa.update(tallies).where(unchanged).values(changed))
        if updated.rowcount != 1:
            return False
        counted = (answers.c.door == folded.door) & (answers.c.number <= folded.through)
        connection.execute(sa.delete(answers).where(counted))
    return True


def _asked(connection: sa.Connection, door: sa.Row[Any]) -> Interview:
    here = (documents.c.study == door.study) & (documents.c.hash == door.document)
    text = connection.execute(sa.select(documents.c.text).where(here)).scalar_one()
    return asked_at(text, door.phase)


def _chunks(connection: sa.Connection, door: sa.Row[Any], through: int) -> Iterator[NDArray[Any]]:
    """Yield the answers that the tally lacks, many at a time but not all."""
    missing = (answers.c.door == door.door) & (answers.c.number > through)
    wanted = sa.select(answers.c.kind, answers.c.packed).where(missing).order_by(answers.c.number)
    held: list[NDArray[Any]] = []
    for part in connection.execute(wanted).partitions(_ROWS_READ_AT_ONCE):
        held += [unpack_symbols(kind, packed, door.width) for kind, packed in part]
        if sum(len(each) for each in held) >= _COUNTED_AT_ONCE:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)


def _sum(left: Counts, right: Counts) -> Counts:
    total: Counts = left + right  # type: ignore[operator]  # both are of the question's one kind
    return total
