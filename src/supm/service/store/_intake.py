"""The hot path: many submissions, one transaction."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.service.store._counting import FoldFirst, is_full, pack_symbols
from supm.service.store._database import Database
from supm.service.store._leaves import Invited, ended_ids
from supm.service.store._tables import answers, ids, phases
from supm.service.store.values import ID_BYTES, Refusal, Submission, Verdict

_ADD_TO_MINUTE = sa.text(
    "INSERT INTO minutes (phase_id, minute, reports) VALUES (:phase_id, :minute, :reports) "
    "ON CONFLICT (phase_id, minute) DO UPDATE SET reports = minutes.reports + excluded.reports"
)
# Made once: making a statement takes longer than running it.
_HERE = (phases.c.study == sa.bindparam("of")) & (phases.c.name == sa.bindparam("called"))
_SEEN = sa.select(phases).where(_HERE)
_LOCKED = _SEEN.with_for_update()
_COUNT = (
    sa.update(phases)
    .where(phases.c.id == sa.bindparam("which"))
    .values(reports=phases.c.reports + sa.bindparam("more"), last=sa.bindparam("number"))
)
_INSERT_IDS, _INSERT_ANSWERS = sa.insert(ids), sa.insert(answers)


@dataclass(kw_only=True, eq=False)
class _Known:
    """The ids of a phase up to a transaction; about 100 bytes of memory for each.

    Strangers choose ids, but not where a set of Python puts them: its hash has a secret.
    """

    ids: set[bytes] = field(default_factory=set)
    through: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class _Written:
    """What the memory learns once the transaction is committed."""

    known: _Known
    ids: set[bytes]
    number: int


class Intake:
    """Stores reports, each id once; ``fold`` folds a phase's answers into its tally.

    Transactions of one phase are numbered under its lock, here and in any other server of the same
    database, so the ids that memory lacks are those of higher numbers, and are read first.
    """

    def __init__(
        self, database: Database, clock: Callable[[], float], fold: Callable[[str, str], int]
    ) -> None:
        self._database, self._clock, self._fold = database, clock, fold
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], _Known] = {}

    def add(self, submissions: Sequence[Submission]) -> list[Verdict]:
        """Store what is new in one transaction; return when it is committed."""
        with self._lock:
            while True:
                try:
                    return self._add(submissions)
                except FoldFirst as full:
                    self._fold(full.name, full.phase)

    def recall(self, given: Submission) -> NDArray[np.bool_]:
        """Say of each report whether it is stored, also where its phase takes no more."""
        key, wanted = {"of": given.name, "called": given.phase}, _cut(given.ids.tobytes())
        with self._database.reading() as connection:
            phase = connection.execute(_SEEN, key).one_or_none()
        if phase is None or phase.document != given.document:
            return np.zeros(len(given), dtype=np.bool_)
        if not phase.is_open:
            found = ended_ids(self._database, phase.id, wanted)
            return np.fromiter((each in found for each in wanted), np.bool_, len(wanted))
        with self._lock, self._database.reading() as connection:
            phase = connection.execute(_SEEN, key).one()
            if phase.is_open:
                known = self._catch_up(connection, phase).ids
                return np.fromiter((each in known for each in wanted), np.bool_, len(wanted))
        return self.recall(given)

    def warm(self) -> None:
        """Read the ids of all open phases, so that the first submission need not wait."""
        with self._lock, self._database.reading() as connection:
            for phase in connection.execute(sa.select(phases).where(phases.c.is_open)).all():
                self._catch_up(connection, phase)

    def forget(self, name: str) -> None:
        """Free the memory of a study; what is needed of it is read again."""
        with self._lock:
            for key in [key for key in self._known if key[0] == name]:
                del self._known[key]

    def _add(self, submissions: Sequence[Submission]) -> list[Verdict]:
        by_phase: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, each in enumerate(submissions):
            by_phase[each.name, each.phase].append(place)
        receipts: dict[int, Verdict] = {}
        written: list[_Written] = []
        with self._database.writing() as connection:
            # In one order everywhere, so that two servers never wait for each other's phases.
            for (name, called), places in sorted(by_phase.items()):
                phase = connection.execute(_LOCKED, {"of": name, "called": called}).one_or_none()
                given = [submissions[place] for place in places]
                made, what = self._add_to_phase(connection, phase, given)
                receipts |= zip(places, made, strict=True)
                written += what
        for learned in written:
            learned.known.ids |= learned.ids
            learned.known.through = learned.number
        return [receipts[place] for place in range(len(submissions))]

    def _add_to_phase(
        self, connection: sa.Connection, phase: sa.Row[Any] | None, given: Sequence[Submission]
    ) -> tuple[list[Verdict], list[_Written]]:
        receipts = [_refuse(each, self._refusal(phase, each)) for each in given]
        places = [place for place, receipt in enumerate(receipts) if receipt.refused is None]
        if phase is None or not places:
            return receipts, []
        made, written = self._take(connection, phase, [given[place] for place in places])
        for place, receipt in zip(places, made, strict=True):
            receipts[place] = receipt
        return receipts, written

    def _take(
        self, connection: sa.Connection, phase: sa.Row[Any], taken: Sequence[Submission]
    ) -> tuple[list[Verdict], list[_Written]]:
        known = self._catch_up(connection, phase)
        invited = Invited(connection, phase, taken) if phase.invited else None
        fresh: set[bytes] = set()
        made = [_judge(each, known.ids, fresh, invited) for each in taken]
        if not fresh:
            return made, []
        if is_full(connection, phase, len(fresh)):
            return [_refuse(each, Refusal.NO_ROOM) for each in taken], []
        if invited is not None:
            invited.spend()
        self._write(connection, phase, taken, np.concatenate([each.new for each in made]))
        return made, [_Written(known=known, ids=fresh, number=phase.last + 1)]

    def _refusal(self, phase: sa.Row[Any] | None, given: Submission) -> Refusal | None:
        if phase is None:
            return Refusal.UNKNOWN
        if not phase.is_open or given.document != phase.document:
            return Refusal.OVER
        if given.symbols.shape[1] != phase.width:
            return Refusal.OTHER_QUESTION
        now = self._clock()
        if phase.deadline is not None and now >= phase.deadline:
            return Refusal.LATE
        return Refusal.PAUSED if now < phase.paused_until else None

    def _write(
        self,
        connection: sa.Connection,
        phase: sa.Row[Any],
        taken: Sequence[Submission],
        new: NDArray[np.bool_],
    ) -> None:
        """Write the new reports as the next transaction of the phase."""
        count, number = int(new.sum()), phase.last + 1
        row = {"phase_id": phase.id, "number": number}
        told = np.concatenate([each.ids for each in taken])[new]
        connection.execute(_INSERT_IDS, row | {"packed": told.tobytes()})
        # Nothing is counted in the test phase, so what was told there is not kept.
        if phase.name != "test":
            symbols = np.concatenate([each.symbols for each in taken])[new]
            kind, packed = pack_symbols(symbols)
            connection.execute(_INSERT_ANSWERS, row | {"kind": kind, "packed": packed})
        connection.execute(_COUNT, {"which": phase.id, "more": count, "number": number})
        minute = {"phase_id": phase.id, "minute": int(self._clock() // 60), "reports": count}
        connection.execute(_ADD_TO_MINUTE, minute)

    def _catch_up(self, connection: sa.Connection, phase: sa.Row[Any]) -> _Known:
        known = self._known.setdefault((phase.study, phase.name), _Known())
        if known.through < phase.last:
            missing = (ids.c.phase_id == phase.id) & (ids.c.number > known.through)
            for packed in connection.execute(sa.select(ids.c.packed).where(missing)).scalars():
                known.ids.update(_cut(packed))
            known.through = phase.last
        return known


def _judge(
    given: Submission, known: set[bytes], fresh: set[bytes], invited: Invited | None
) -> Verdict:
    """Say of each report whether it is new: neither stored before nor twice in this transaction.

    A report that was stored before is acknowledged again, although its invitation is used: the
    first acknowledgement may have been lost on its way.
    """
    own = _cut(given.ids.tobytes())
    new = np.zeros(len(own), dtype=np.bool_)
    if invited is not None and (len(own) != 1 or not (own[0] in known or own[0] in fresh)):
        reason = invited.take(given)
        if reason is not None:
            return _refuse(given, reason)
    for place, each in enumerate(own):
        if each not in known and each not in fresh:
            fresh.add(each)
            new[place] = True
    return Verdict(new=new)


def _refuse(given: Submission, reason: Refusal | None) -> Verdict:
    """Return the receipt of a submission of which nothing is stored."""
    return Verdict(new=np.zeros(len(given), dtype=np.bool_), refused=reason)


def _cut(packed: bytes) -> list[bytes]:
    return [packed[place : place + ID_BYTES] for place in range(0, len(packed), ID_BYTES)]
