"""From stored answers to counts: each answer is counted once, whoever counts and whenever.

Transactions of a door are numbered under its lock, so what a reader sees is all up to some number.
A tally knows through which number it goes. It is replaced only if it is still the one that the new
one was made from, and the answers that it holds are dropped in the same transaction.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.collection.counting import DISTINCT, Counts, RowCounts, count
from supm.mechanisms import Reports, Tally
from supm.owner.interviews import Interview
from supm.service.errors import StoreError
from supm.service.store._database import Database
from supm.service.store._studies import asked_at
from supm.service.store._tables import answers, documents, doors, studies, tallies

__all__ = [
    "FoldFirst",
    "Folded",
    "fold",
    "is_full",
    "pack_counts",
    "pack_symbols",
    "read_counts",
    "unpack_counts",
    "unpack_ids",
    "unpack_symbols",
]

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


_VERSION: Final = 1
_UNSIGNED: Final = ("u1", "u2", "u4", "u8")


def pack_symbols(symbols: NDArray[Any]) -> tuple[str, bytes]:
    """Return the kind and the bytes of whole numbers that are not negative."""
    largest = int(symbols.max(initial=0))
    kind = next(each for each in _UNSIGNED if largest <= np.iinfo(each).max)
    return kind, symbols.astype(f"<{kind}").tobytes()


def unpack_symbols(kind: str, packed: bytes, width: int) -> NDArray[Any]:
    """Return the rows that `pack_symbols` packed."""
    return np.frombuffer(packed, dtype=f"<{kind}").reshape(-1, width)


def unpack_ids(packed: bytes) -> NDArray[np.uint64]:
    """Return each id as two words."""
    return np.frombuffer(packed, dtype="<u8").reshape(-1, 2)


def pack_counts(counts: Counts) -> bytes:
    r"""Return counts as bytes.

    Examples
    --------
    >>> packed = pack_counts(Tally(counts=np.array([3, 1]), reports=4, simulation=False))
    >>> packed
    b'{"version":1,"what":"tally","reports":4,"arrays":[["<u1",[2]]]}\n\x03\x01'
    >>> unpack_counts(packed).counts
    array([3, 1])
    """
    arrays = [counts.rows, counts.counts] if isinstance(counts, RowCounts) else [counts.counts]
    smallest = [_smallest(each) for each in arrays]
    head = {
        "version": _VERSION,
        "what": "rows" if isinstance(counts, RowCounts) else "tally",
        "reports": counts.reports,
        "arrays": [[each.dtype.str.replace("|", "<"), list(each.shape)] for each in smallest],
    }
    line = json.dumps(head, separators=(",", ":")).encode("ascii")
    return b"\n".join((line, b"".join(each.tobytes() for each in smallest)))


def unpack_counts(packed: bytes) -> Counts:
    """Return the counts that `pack_counts` packed, or raise StoreError."""
    line, _, body = packed.partition(b"\n")
    head = json.loads(line)
    if head["version"] != _VERSION:
        message = "the counts were stored by another release; use the newest release of SUPM."
        raise StoreError(message)
    arrays = _arrays(head["arrays"], body)
    if head["what"] == "rows":
        return RowCounts(rows=arrays[0], counts=arrays[1], simulation=False)
    return Tally(counts=arrays[0], reports=head["reports"], simulation=False)


def _smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in the smallest kind that holds them."""
    if numbers.dtype.kind == "f":
        return numbers.astype("<f8")
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    kinds = _UNSIGNED if low >= 0 else ("i8",)
    kind = next(each for each in kinds if high <= np.iinfo(each).max)
    return numbers.astype(f"<{kind}")


def _arrays(described: Sequence[Any], body: bytes) -> list[NDArray[Any]]:
    arrays, start = [], 0
    for kind, shape in described:
        cells = math.prod(shape)
        array = np.frombuffer(body, dtype=kind, count=cells, offset=start).reshape(shape)
        start += array.nbytes
        arrays.append(array if array.dtype.kind == "f" else array.astype(np.int64))
    return arrays


class FoldFirst(Exception):  # noqa: N818  a step of the work, never an error that leaves
    """Only a fold can tell whether there is room."""

    def __init__(self, name: str, phase: str) -> None:
        super().__init__("fold first")
        self.name, self.phase = name, phase


def is_full(connection: sa.Connection, door: sa.Row[Any], count: int) -> bool:
    """Say whether so many reports more might be more distinct answers than are kept."""
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
