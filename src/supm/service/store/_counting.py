"""From stored answers to counts: each answer is counted once, whoever counts and whenever.

Transactions of a phase are numbered under its lock, so what a reader sees is all up to some number.
A tally knows through which number it goes. It is replaced only if it is still the one that the new
one was made from, and the answers that it holds are dropped in the same transaction.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
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
from supm.service.store._tables import answers, documents, phases, studies, tallies

_ROWS_READ_AT_ONCE: Final = 512
_COUNTED_AT_ONCE: Final = 1 << 20
_VERSION: Final = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Folded:
    """A phase's counts at one moment."""

    phase_id: int
    counts: Counts
    start: int
    through: int
    fresh: int


def read_counts(connection: sa.Connection, name: str, phase: str) -> Folded | None:
    """Count what is stored at one moment; None where nothing is."""
    here = (phases.c.study == name) & (phases.c.name == phase)
    row = connection.execute(sa.select(phases).where(here)).one_or_none()
    if row is None or phase == "test":
        return None
    tally = connection.execute(sa.select(tallies).where(tallies.c.phase_id == row.id)).one()
    total = unpack_counts(tally.counts) if tally.counts else None
    for symbols in _chunks(connection, row, tally.through):
        part = count(_asked(connection, row), Reports(symbols=symbols, simulation=False))
        total = part if total is None else _sum(total, part)
    if total is None:
        return None
    flag = sa.select(studies.c.simulation).where(studies.c.name == name)
    total = replace(total, simulation=bool(connection.execute(flag).scalar_one()))
    fresh = total.reports - tally.reports
    return Folded(phase_id=row.id, counts=total, start=tally.through, through=row.last, fresh=fresh)


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
        unchanged = (tallies.c.phase_id == folded.phase_id) & (tallies.c.through == folded.start)
        updated = connection.execute(sa.update(tallies).where(unchanged).values(changed))
        if updated.rowcount != 1:
            return False
        counted = (answers.c.phase_id == folded.phase_id) & (answers.c.number <= folded.through)
        connection.execute(sa.delete(answers).where(counted))
    return True


def _asked(connection: sa.Connection, phase: sa.Row[Any]) -> Interview:
    here = (documents.c.study == phase.study) & (documents.c.hash == phase.document)
    text = connection.execute(sa.select(documents.c.text).where(here)).scalar_one()
    return asked_at(text, phase.name)


def _chunks(connection: sa.Connection, phase: sa.Row[Any], through: int) -> Iterator[NDArray[Any]]:
    """Yield the answers that the tally lacks, many at a time but not all."""
    missing = (answers.c.phase_id == phase.id) & (answers.c.number > through)
    wanted = sa.select(answers.c.kind, answers.c.packed).where(missing).order_by(answers.c.number)
    held: list[NDArray[Any]] = []
    for part in connection.execute(wanted).partitions(_ROWS_READ_AT_ONCE):
        held += [unpack_symbols(kind, packed, phase.width) for kind, packed in part]
        if sum(len(each) for each in held) >= _COUNTED_AT_ONCE:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)


def _sum(left: Counts, right: Counts) -> Counts:
    total: Counts = left + right  # type: ignore[operator]  # both are of the question's one kind
    return total


def pack_symbols(symbols: NDArray[Any]) -> tuple[str, bytes]:
    """Return the kind and the bytes of whole numbers that are not negative."""
    kind = f"u{np.min_scalar_type(int(symbols.max(initial=0))).itemsize}"
    return kind, symbols.astype(f"<{kind}").tobytes()


def unpack_symbols(kind: str, packed: bytes, width: int) -> NDArray[Any]:
    """Return the rows that `pack_symbols` packed."""
    return np.frombuffer(packed, dtype=f"<{kind}").reshape(-1, width)


def pack_counts(counts: Counts) -> bytes:
    """Return counts as bytes: NumPy's own format of plain arrays, which holds no code."""
    arrays = {"counts": _smallest(counts.counts), "reports": np.array(counts.reports)}
    if isinstance(counts, RowCounts):
        arrays["rows"] = _smallest(counts.rows)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, version=np.array(_VERSION), **arrays)
    return file.getvalue()


def unpack_counts(packed: bytes) -> Counts:
    """Return the counts that `pack_counts` packed, or raise StoreError."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    if arrays["version"] != _VERSION:
        raise StoreError(
            "the counts were stored by another release; use the newest release of SUPM."
        )
    counts, reports = _whole(arrays["counts"]), int(arrays["reports"])
    if "rows" in arrays:
        return RowCounts(rows=_whole(arrays["rows"]), counts=counts, simulation=False)
    return Tally(counts=counts, reports=reports, simulation=False)


def _smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in the smallest kind that holds them."""
    if numbers.dtype.kind == "f":
        return numbers
    ends = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    return numbers.astype(np.result_type(*map(np.min_scalar_type, ends)))


def _whole(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers if numbers.dtype.kind == "f" else numbers.astype(np.int64)


class FoldFirst(Exception):  # noqa: N818  a step of the work, never an error that leaves
    """Only a fold can tell whether there is room."""

    def __init__(self, name: str, phase: str) -> None:
        super().__init__("fold first")
        self.name, self.phase = name, phase


def is_full(connection: sa.Connection, phase: sa.Row[Any], count: int) -> bool:
    """Say whether so many reports more might be more distinct answers than are kept."""
    if phase.reports + count <= DISTINCT or phase.name == "test":
        return False
    wanted = sa.select(tallies.c.reports, tallies.c.distinct_rows)
    tally = connection.execute(wanted.where(tallies.c.phase_id == phase.id)).one()
    table = tally.reports > 0 and tally.distinct_rows == 0
    waiting = phase.reports - tally.reports
    if table or tally.distinct_rows + waiting + count <= DISTINCT:
        return False
    if waiting:
        raise FoldFirst(phase.study, phase.name)
    return True
