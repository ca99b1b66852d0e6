"""The hot path: many submissions, one transaction."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.service.store._counting import FoldFirst, is_full, pack_symbols, unpack_ids
from supm.service.store._database import Database
from supm.service.store._ids import KnownIds, SortedIds
from supm.service.store._invitations import refuse, split, use_invitations
from supm.service.store._tables import answers, doors, ids
from supm.service.store.values import Receipt, Refusal, Submission

__all__ = ["Intake"]

_ADD_TO_MINUTE = sa.text(
    "INSERT INTO minutes (door, minute, reports) VALUES (:door, :minute, :reports) "
    "ON CONFLICT (door, minute) DO UPDATE SET reports = minutes.reports + excluded.reports"
)
# Made once: making a statement takes longer than running it.
_HERE = (doors.c.study == sa.bindparam("name")) & (doors.c.phase == sa.bindparam("phase"))
_SEEN = sa.select(doors).where(_HERE)
_DOOR = _SEEN.with_for_update()
_COUNT = (
    sa.update(doors)
    .where(doors.c.door == sa.bindparam("of"))
    .values(reports=doors.c.reports + sa.bindparam("more"), last=sa.bindparam("number"))
)
_INSERT_IDS, _INSERT_ANSWERS = sa.insert(ids), sa.insert(answers)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Written:
    """What the memory learns once the transaction is committed."""

    known: KnownIds
    words: NDArray[np.uint64]
    number: int


class Intake:
    """Stores reports, each id once.

    Transactions of one door are numbered under its lock, here and in any other server of the same
    database, so the ids that memory lacks are those of higher numbers, and are read first.
    """

    def __init__(
        self, database: Database, clock: Callable[[], float], fold: Callable[[str, str], int]
    ) -> None:
        self._database = database
        self._clock = clock
        self._fold = fold
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], KnownIds] = {}
        self._sorted = SortedIds(database)

    def add(self, submissions: Sequence[Submission]) -> list[Receipt]:
        """Store what is new in one transaction; return when it is committed."""
        with self._lock:
            while True:
                try:
                    return self._add(submissions)
                except FoldFirst as full:
                    self._fold(full.name, full.phase)

    def recall(self, given: Submission) -> NDArray[np.bool_]:
        """Say of each report whether it is stored, also where its phase takes no more."""
        key = {"name": given.name, "phase": given.phase}
        with self._database.reading() as connection:
            door = connection.execute(_SEEN, key).one_or_none()
        if door is None or door.document != given.document:
            return np.zeros(len(given), dtype=np.bool_)
        if not door.is_open:
            return self._sorted.has(door.door, [each.tobytes() for each in given.ids])
        with self._lock, self._database.reading() as connection:
            door = connection.execute(_SEEN, key).one()
            if door.is_open:
                return self._catch_up(connection, door).has(unpack_ids(given.ids.tobytes()))
        return self.recall(given)

    def warm(self) -> None:
        """Read the ids of all open doors, so that the first submission need not wait."""
        with self._lock, self._database.reading() as connection:
            for door in connection.execute(sa.select(doors).where(doors.c.is_open)).all():
                self._catch_up(connection, door)

    def forget(self, name: str) -> None:
        """Free the memory of a study; what is needed of it is read again."""
        with self._lock:
            for key in [key for key in self._known if key[0] == name]:
                del self._known[key]

    def _add(self, submissions: Sequence[Submission]) -> list[Receipt]:
        by_door: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, each in enumerate(submissions):
            by_door[each.name, each.phase].append(place)
        receipts: dict[int, Receipt] = {}
        written: list[_Written] = []
        with self._database.writing() as connection:
            # In one order everywhere, so that two servers never wait for each other's doors.
            for name, phase in sorted(by_door):
                places = by_door[name, phase]
                given = [submissions[place] for place in places]
                made, what = self._add_to_door(connection, given)
                receipts |= zip(places, made, strict=True)
                written += what
        for learned in written:
            learned.known.add(learned.words)
            learned.known.through = learned.number
        return [receipts[place] for place in range(len(submissions))]

    def _add_to_door(
        self, connection: sa.Connection, given: Sequence[Submission]
    ) -> tuple[list[Receipt], list[_Written]]:
        key = {"name": given[0].name, "phase": given[0].phase}
        door = connection.execute(_DOOR, key).one_or_none()
        reasons = [self._refusal(door, each) for each in given]
        receipts = [refuse(*pair) for pair in zip(given, reasons, strict=True)]
        places = [place for place, reason in enumerate(reasons) if reason is None]
        if door is None or not places:
            return receipts, []
        made, written = self._take(connection, door, [given[place] for place in places])
        for place, receipt in zip(places, made, strict=True):
            receipts[place] = receipt
        return receipts, written

    def _take(
        self, connection: sa.Connection, door: sa.Row[Any], taken: Sequence[Submission]
    ) -> tuple[list[Receipt], list[_Written]]:
        known = self._catch_up(connection, door)
        words = np.concatenate([unpack_ids(each.ids.tobytes()) for each in taken])
        before = known.has(words)
        if is_full(connection, door, int((~before).sum())):
            return [refuse(each, Refusal.NO_ROOM) for each in taken], []
        judge = use_invitations if door.invited else _judge
        made = judge(connection, door, taken, before)
        new = np.concatenate([receipt.new for receipt in made])
        if not new.any():
            return made, []
        self._write(connection, door, taken, new)
        return made, [_Written(known=known, words=words[new], number=door.last + 1)]

    def _refusal(self, door: sa.Row[Any] | None, given: Submission) -> Refusal | None:
        if door is None:
            return Refusal.UNKNOWN
        if not door.is_open or given.document != door.document:
            return Refusal.OVER
        if given.symbols.shape[1] != door.width:
            return Refusal.OTHER_QUESTION
        now = self._clock()
        if door.deadline is not None and now >= door.deadline:
            return Refusal.LATE
        return Refusal.PAUSED if now < door.paused_until else None

    def _write(
        self,
        connection: sa.Connection,
        door: sa.Row[Any],
        taken: Sequence[Submission],
        new: NDArray[np.bool_],
    ) -> None:
        """Write the new reports as the next transaction of the door."""
        count, number = int(new.sum()), door.last + 1
        row = {"door": door.door, "number": number}
        told = np.concatenate([each.ids for each in taken])[new]
        connection.execute(_INSERT_IDS, row | {"packed": told.tobytes()})
        # Nothing is counted in the test phase, so what was told there is not kept.
        if door.phase != "test":
            symbols = np.concatenate([each.symbols for each in taken])[new]
            kind, packed = pack_symbols(symbols)
            connection.execute(_INSERT_ANSWERS, row | {"kind": kind, "packed": packed})
        connection.execute(_COUNT, {"of": door.door, "more": count, "number": number})
        minute = {"door": door.door, "minute": int(self._clock() // 60), "reports": count}
        connection.execute(_ADD_TO_MINUTE, minute)

    def _catch_up(self, connection: sa.Connection, door: sa.Row[Any]) -> KnownIds:
        key = door.study, door.phase
        known = self._known[key] if key in self._known else self._known.setdefault(key, KnownIds())
        if known.through < door.last:
            missing = (ids.c.door == door.door) & (ids.c.number > known.through)
            wanted = sa.select(ids.c.packed).where(missing).order_by(ids.c.number)
            known.add(unpack_ids(b"".join(connection.execute(wanted).scalars())))
            known.through = door.last
        return known


def _judge(
    _connection: sa.Connection,
    _door: sa.Row[Any],
    taken: Sequence[Submission],
    before: NDArray[np.bool_],
) -> list[Receipt]:
    """Say of each report whether it is new: neither stored before nor twice in this transaction."""
    words = np.concatenate([unpack_ids(each.ids.tobytes()) for each in taken])
    parts = split(_first_of_each(words) & ~before, taken)
    return [Receipt(new=part) for part in parts]


def _first_of_each(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Say of each id whether it comes here for the first time."""
    halves = np.sort(words[:, 0])
    if (halves[1:] != halves[:-1]).all():
        return np.ones(len(words), dtype=np.bool_)
    first = np.zeros(len(words), dtype=np.bool_)
    first[np.unique(words, axis=0, return_index=True)[1]] = True
    return first
