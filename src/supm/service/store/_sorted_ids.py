"""The ids of a phase that has ended: sorted, in leaves, so that one is found by reading one leaf.

While a phase is open its ids are in memory, and on the disk in the order of transactions. After its
end nobody needs them but who sends a report again because its acknowledgement was lost. So the
first who asks has them sorted, once, in place of the rows in the order of their coming. Memory
keeps only where the leaves start.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.service.store._database import Database
from supm.service.store._packing import unpack_ids
from supm.service.store._tables import doors, ids, sorted_ids
from supm.service.store.values import ID_BYTES

__all__ = ["SortedIds"]

_MOST_IDS: Final = 256
_MOST_DOORS: Final = 32
# Of a batch so many leaves are read by one question.
_LEAVES_AT_ONCE: Final = 200
# So many are sorted at a time; more would take more memory than the open phase did.
_SORTED_AT_ONCE: Final = 1 << 20
_ROWS_AT_ONCE: Final = 64
_WORDS: Final = 1 << 64


class SortedIds:
    """Finds ids of doors that are closed for good.

    Parameters
    ----------
    database : Database
        Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._starts: dict[int, list[bytes]] = {}

    def has(self, door: int, wanted: Sequence[bytes]) -> NDArray[np.bool_]:
        """Say of each id whether it is stored at a door that takes no more.

        Parameters
        ----------
        door : int
            The closed door.
        wanted : sequence of bytes
            Ids, 16 bytes each.

        Returns
        -------
        ndarray of bool
        """
        starts = self._known_starts(door)
        by_leaf: dict[bytes, list[bytes]] = defaultdict(list)
        for each in wanted if starts else ():
            # The first leaf starts at nothing, so every id has one.
            by_leaf[starts[bisect_right(starts, each) - 1]].append(each)
        found: set[bytes] = set()
        with self._database.reading() as connection:
            needed = list(by_leaf)
            for first in range(0, len(needed), _LEAVES_AT_ONCE):
                some = needed[first : first + _LEAVES_AT_ONCE]
                here = (sorted_ids.c.door == door) & sorted_ids.c.start.in_(some)
                leaves = sa.select(sorted_ids.c.start, sorted_ids.c.packed).where(here)
                for start, packed in connection.execute(leaves):
                    found.update(each for each in by_leaf[start] if _holds(packed, each))
        return np.fromiter((each in found for each in wanted), np.bool_, len(wanted))

    def _known_starts(self, door: int) -> list[bytes]:
        with self._lock:
            if door not in self._starts:
                if len(self._starts) >= _MOST_DOORS:
                    self._starts.clear()
                with self._database.reading() as connection:
                    starts = _starts(connection, door)
                self._starts[door] = starts or self._sort(door)
            return self._starts[door]

    def _sort(self, door: int) -> list[bytes]:
        """Sort what is stored, and return where the leaves start."""
        with self._database.reading() as connection:
            rows = [
                {"door": door, "start": part[:ID_BYTES] if place else b"", "packed": part}
                for place, part in enumerate(_leaves(connection, door))
            ]
        with self._database.writing() as connection:
            # Another server of the same database may have been quicker.
            connection.execute(
                sa.select(doors.c.door).where(doors.c.door == door).with_for_update()
            )
            if rows and not _starts(connection, door):
                connection.execute(sa.insert(sorted_ids), rows)
                connection.execute(sa.delete(ids).where(ids.c.door == door))
            return _starts(connection, door)


def _starts(connection: sa.Connection, door: int) -> list[bytes]:
    own = sa.select(sorted_ids.c.start).where(sorted_ids.c.door == door)
    return list(connection.execute(own.order_by(sorted_ids.c.start)).scalars())


def _holds(packed: bytes, wanted: bytes) -> bool:
    places = range(0, len(packed), ID_BYTES)
    place = bisect_left(places, wanted, key=lambda start: packed[start : start + ID_BYTES])
    return packed[ID_BYTES * place : ID_BYTES * (place + 1)] == wanted


def _leaves(connection: sa.Connection, door: int) -> Iterator[bytes]:
    """Yield the ids of a door in their order, some at a time."""
    wanted = sa.select(doors.c.reports).where(doors.c.door == door)
    parts = -(-connection.execute(wanted).scalar_one() // _SORTED_AT_ONCE)
    size = ID_BYTES * _MOST_IDS
    for part in range(parts):
        packed = _sorted_part(connection, door, part, _WORDS // parts + 1)
        for first in range(0, len(packed), size):
            yield packed[first : first + size]


def _sorted_part(connection: sa.Connection, door: int, part: int, width: int) -> bytes:
    """Return the ids whose first words are in one of several parts of equal width."""
    own = sa.select(ids.c.packed).where(ids.c.door == door)
    found = [np.empty((0, 2), dtype=np.uint64)]
    for packed in connection.execute(own.execution_options(yield_per=_ROWS_AT_ONCE)).scalars():
        # Bytes are compared from the first on, so it is the highest of its word.
        words = unpack_ids(packed).byteswap()
        here = (words[:, 0] >= part * width) & (words[:, 0] <= min((part + 1) * width, _WORDS) - 1)
        found.append(words[here])
    words = np.concatenate(found)
    return words[np.lexsort((words[:, 1], words[:, 0]))].astype(">u8").tobytes()
