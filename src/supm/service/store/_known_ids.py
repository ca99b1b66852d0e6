"""The ids of a door that are stored already, in memory: who asks twice is told at once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._random import secure

__all__ = ["KnownIds"]

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
