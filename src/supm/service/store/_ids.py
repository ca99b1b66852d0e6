"""The ids of a door that are stored already, in memory: who asks twice is told at once."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm._random import secure
from supm.service.store._counting import unpack_ids
from supm.service.store._database import Database
from supm.service.store._tables import doors, ids, sorted_ids
from supm.service.store.values import ID_BYTES

__all__ = ["KnownIds", "SortedIds"]

_SMALLEST: Final = 1 << 12
# Larger tables would save little time, and whoever waits while one grows would wait long.
_LARGEST: Final = 1 << 21
_FULLEST: Final = 0.6
_HALF: Final = 32


class KnownIds:
    """A set of 128-bit ids that takes and finds thousands at a time, with 27 to 54 bytes for each.

    Strangers choose the ids, so places depend on a secret: else they could choose ids that all fall
    on one place.

    Examples
    --------
    >>> known = KnownIds()
    >>> ids = np.array([[1, 2], [3, 4]], dtype=np.uint64)
    >>> known.add(ids[:1])
    >>> known.has(ids)
    array([ True, False])
    """

    def __init__(self) -> None:
        words = secure().words(4)
        # With the mask, the empty row of zeros stands for an id that nobody can guess.
        self._mask, self._factors = words[:2], words[2:] | np.uint64(1)
        self._tables = [_Table(self._factors)]
        self.through = 0
        """The number of the last transaction whose ids are here."""

    def has(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Say of each id whether it is held."""
        masked, known = ids ^ self._mask, np.zeros(len(ids), dtype=np.bool_)
        for table in self._tables:
            known |= table.has(masked)
        return known

    def add(self, ids: NDArray[np.uint64]) -> None:
        """Hold more ids."""
        masked = ids ^ self._mask
        while len(masked):
            room = self._tables[-1].room
            self._tables[-1].add(masked[:room])
            masked = masked[room:]
            if not self._tables[-1].room:
                self._tables.append(_Table(self._factors))


class _Table:
    """Rows of two words at places that follow from them, or at the next free ones."""

    def __init__(self, factors: NDArray[np.uint64]) -> None:
        self._factors = factors
        self._rows = np.zeros((_SMALLEST, 2), dtype=np.uint64)
        self._taken = 0

    @property
    def room(self) -> int:
        """How many rows more it takes at least."""
        return max(0, int(_FULLEST * _LARGEST) - self._taken)

    def has(self, masked: NDArray[np.uint64]) -> NDArray[np.bool_]:
        place, known = self._places(masked), np.zeros(len(masked), dtype=np.bool_)
        left = np.arange(len(masked))
        while left.size:
            same, empty = self._compare(place[left], masked[left])
            known[left[same]] = True
            left = left[~(same | empty)]
            place[left] = self._next(place[left])
        return known

    def add(self, masked: NDArray[np.uint64]) -> None:
        size = len(self._rows)
        while self._taken + len(masked) > _FULLEST * size:
            size *= 2
        if size > len(self._rows) or len(masked) > self._taken:
            held = self._rows[(self._rows[:, 0] | self._rows[:, 1]) != 0]
            self._build(np.concatenate((held, masked)), size)
        else:
            self._put(masked)

    def _build(self, masked: NDArray[np.uint64], size: int) -> None:
        """Make the table that results if rows come in the order of their places, at once."""
        self._rows = np.zeros((size, 2), dtype=np.uint64)
        steps = np.arange(len(masked))
        # Place and row in one number: numbers are sorted many times faster than they are ranked.
        order = np.sort((self._places(masked) << _HALF) | steps)
        masked = masked.take(order & ((1 << _HALF) - 1), axis=0)
        # Each takes its own place, or the one after that of the row before it.
        place = steps + np.maximum.accumulate((order >> _HALF) - steps)
        inside = place < size
        self._write(place[inside], masked[inside])
        self._taken = int(inside.sum())
        self._put(masked[~inside])

    def _put(self, masked: NDArray[np.uint64]) -> None:
        place = self._places(masked)
        while len(masked):
            same, empty = self._compare(place, masked)
            self._write(place[empty], masked[empty])
            self._taken += int(empty.sum())
            # Of those that took the same empty place, one has it now; the others go on.
            left = ~same
            left[empty] = ~self._compare(place[empty], masked[empty])[0]
            masked, place = masked[left], self._next(place[left])

    def _write(self, place: NDArray[np.int64], masked: NDArray[np.uint64]) -> None:
        # Cells of 16 bytes are written ten times faster than rows of two words.
        self._rows.view("V16")[:, 0][place] = np.ascontiguousarray(masked).view("V16")[:, 0]

    def _compare(
        self, place: NDArray[np.int64], masked: NDArray[np.uint64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        held = self._rows.take(place, axis=0)
        first, second = held[:, 0], held[:, 1]
        same = (first == masked[:, 0]) & (second == masked[:, 1])
        return same, (first | second) == 0

    def _places(self, masked: NDArray[np.uint64]) -> NDArray[np.int64]:
        mixed = masked[:, 0] * self._factors[0] + masked[:, 1] * self._factors[1]
        bits = len(self._rows).bit_length() - 1
        place: NDArray[np.int64] = (mixed >> np.uint64(64 - bits)).astype(np.int64)
        return place

    def _next(self, place: NDArray[np.int64]) -> NDArray[np.int64]:
        return (place + 1) & (len(self._rows) - 1)


_MOST_IDS: Final = 256
_MOST_DOORS: Final = 32
# Of a batch so many leaves are read by one question.
_LEAVES_AT_ONCE: Final = 200
# So many are sorted at a time; more would take more memory than the open phase did.
_SORTED_AT_ONCE: Final = 1 << 20
_ROWS_AT_ONCE: Final = 64
_WORDS: Final = 1 << 64


class SortedIds:
    """Finds ids of doors that are closed for good."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._starts: dict[int, list[bytes]] = {}

    def has(self, door: int, wanted: Sequence[bytes]) -> NDArray[np.bool_]:
        """Say of each id whether it is stored at a door that takes no more."""
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
