"""Sorted leaves: many keys of one length in each row of a table, found by reading few rows.

Used invitations are kept so, because a database tells of each row which transaction wrote it
(PostgreSQL's xmin) and shows rows in the order of writing: a row for each would stand beside the
report that came in the same transaction. A leaf is written anew as a whole: it tells that one of
all in it came last, not which. Leaves are split when they are full, and a full one has thousands.

The ids of a phase that has ended are kept so, because nobody needs them but who sends a report
again whose acknowledgement was lost. While the phase is open they are in memory, and on the disk
in the order of transactions. The first who asks after its end has them sorted, once.

An invitation lets one report of a study in. Where a study asks the same people to reduce and to
train, it lets in one report of each phase.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from supm.service.store._database import Database
from supm.service.store._studies import stored_document
from supm.service.store._tables import documents, ids, invitations, phases, sorted_ids, spent
from supm.service.store.values import ID_BYTES, Refusal, Submission

_MOST = 4096
# Each question about an id that was sent again reads a whole leaf, so these are smaller.
_MOST_IDS = 1024
# So many leaves are read by one statement.
_AT_ONCE = 200
_INVITATION_BYTES: Final = 32


def find_keys(
    connection: sa.Connection, table: sa.Table, phase_id: int, wanted: Collection[bytes]
) -> set[bytes]:
    """Return which of these keys the leaves of a phase hold."""
    found: set[bytes] = set()
    for _, packed, own in _leaves(connection, table, phase_id, wanted):
        found.update(each for each in own if _holds(packed, each))
    return found


def add_keys(
    connection: sa.Connection, table: sa.Table, phase_id: int, fresh: Collection[bytes]
) -> None:
    """Put keys that are not there into leaves; whoever calls holds the phase's lock."""
    leaves = list(_leaves(connection, table, phase_id, fresh))
    if not leaves:
        leaves = [(b"", b"", list(fresh))]
    for start, packed, own in leaves:
        here = (table.c.phase_id == phase_id) & (table.c.start == start)
        connection.execute(sa.delete(table).where(here))
        size = len(own[0])
        held = [packed[place : place + size] for place in range(0, len(packed), size)]
        rows = _rows(phase_id, start, b"".join(sorted([*held, *own])), size * _MOST, size)
        connection.execute(sa.insert(table), rows)


def ended_ids(database: Database, phase_id: int, wanted: Collection[bytes]) -> set[bytes]:
    """Return which of these ids are stored of a phase that is closed for good."""
    own = ids.c.phase_id == phase_id
    with database.reading() as connection:
        unsorted = sa.select(ids.c.packed).where(own)
        packed = b"".join(connection.execute(unsorted).scalars())
        if not packed:
            return find_keys(connection, sorted_ids, phase_id, wanted)
    rows = _rows(phase_id, b"", _sorted(packed), ID_BYTES * _MOST_IDS, ID_BYTES)
    with database.writing() as connection:
        # Another server of the same database may have been quicker.
        lock = sa.select(phases.c.id).where(phases.c.id == phase_id).with_for_update()
        connection.execute(lock)
        if connection.execute(sa.delete(ids).where(own)).rowcount:
            connection.execute(sa.insert(sorted_ids), rows)
        return find_keys(connection, sorted_ids, phase_id, wanted)


def _sorted(packed: bytes) -> bytes:
    # Bytes are compared from the first on, so it is the highest of its word.
    words = np.frombuffer(packed, dtype=">u8").astype(np.uint64).reshape(-1, 2)
    return words[np.lexsort((words[:, 1], words[:, 0]))].astype(">u8").tobytes()


def _leaves(
    connection: sa.Connection, table: sa.Table, phase_id: int, wanted: Collection[bytes]
) -> Iterator[tuple[bytes, bytes, list[bytes]]]:
    """Yield start and keys of the leaves in which wanted keys are, or would be, with those keys."""
    own = sa.select(table.c.start).where(table.c.phase_id == phase_id).order_by(table.c.start)
    starts = list(connection.execute(own).scalars())
    # The first leaf starts at nothing, so every key has one as soon as there is any.
    by_leaf: dict[bytes, list[bytes]] = {}
    for each in wanted if starts else ():
        by_leaf.setdefault(starts[bisect_right(starts, each) - 1], []).append(each)
    needed = list(by_leaf)
    for first in range(0, len(needed), _AT_ONCE):
        here = table.c.start.in_(needed[first : first + _AT_ONCE])
        leaves = sa.select(table.c.start, table.c.packed).where(table.c.phase_id == phase_id, here)
        for start, packed in connection.execute(leaves):
            yield start, packed, by_leaf[start]


def _holds(packed: bytes, key: bytes) -> bool:
    size = len(key)
    places = range(0, len(packed), size)
    place = size * bisect_left(places, key, key=lambda start: packed[start : start + size])
    return packed[place : place + size] == key


def _rows(phase_id: int, start: bytes, packed: bytes, most: int, size: int) -> list[dict[str, Any]]:
    """Return the row of one leaf, or rows of as many of equal size as it takes."""
    keys, leaves = len(packed) // size, -(-len(packed) // most)
    step = size * -(-keys // leaves)
    parts = [packed[place : place + step] for place in range(0, len(packed), step)]
    return [
        {"phase_id": phase_id, "start": part[:size] if place else start, "packed": part}
        for place, part in enumerate(parts)
    ]


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
    return int(connection.execute(made).scalar_one()) - int(bytes_used) // _INVITATION_BYTES


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
