"""Which invitations were used, as sorted leaves of many: no row of a table is one invitation's.

A database tells of each row which transaction wrote it (PostgreSQL's xmin) and shows rows in the
order of writing. A row for each used invitation would so stand beside the report that came in the
same transaction. A leaf is written anew as a whole: it tells that one of all in it came last, not
which. Leaves are split when they are full, and a full one has thousands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from supm.service.store._tables import spent

__all__ = ["spend", "spent_of"]

_BYTES: Final = 32
_MOST: Final = 4096
# Of a transaction's hashes so many are looked up by one question.
_AT_ONCE: Final = 200


@dataclass(frozen=True, kw_only=True)
class _Leaf:
    """Used invitations of one door from a hash on, up to where the next leaf starts."""

    start: bytes
    hashes: frozenset[bytes]


def spent_of(connection: sa.Connection, places: Iterable[int], wanted: set[str]) -> set[str]:
    """Return which of these invitations were used at one of these doors.

    Parameters
    ----------
    connection : Connection
        In a transaction.
    places : iterable of int
        The doors.
    wanted : set of str
        Hashes of invitations, in hexadecimal digits.

    Returns
    -------
    set of str
    """
    asked = {bytes.fromhex(each) for each in wanted}
    found: set[bytes] = set()
    for door in places:
        for leaf in _leaves(connection, door, asked):
            found |= asked & leaf.hashes
    return {each.hex() for each in found}


def spend(connection: sa.Connection, door: int, fresh: set[str]) -> None:
    """Mark invitations as used at a door; whoever calls holds the door's lock.

    Parameters
    ----------
    connection : Connection
        In a transaction.
    door : int
        Where.
    fresh : set of str
        Hashes that were not used there, in hexadecimal digits.
    """
    left = {bytes.fromhex(each) for each in fresh}
    leaves = sorted(_leaves(connection, door, left), key=lambda leaf: leaf.start, reverse=True)
    for leaf in leaves:
        own = {each for each in left if each >= leaf.start}
        left -= own
        _replace(connection, door, leaf, sorted(leaf.hashes | own))
    if left:
        _write(connection, door, b"", sorted(left))


def _leaves(connection: sa.Connection, door: int, asked: set[bytes]) -> Iterator[_Leaf]:
    """Yield the leaves in which hashes are, or would be."""
    own = sa.select(spent.c.start).where(spent.c.door == door).order_by(spent.c.start)
    starts = list(connection.execute(own).scalars())
    # The first leaf starts at nothing, so every hash has one as soon as there is any.
    needed = sorted({starts[bisect_right(starts, each) - 1] for each in asked}) if starts else []
    for first in range(0, len(needed), _AT_ONCE):
        here = (spent.c.door == door) & spent.c.start.in_(needed[first : first + _AT_ONCE])
        for start, packed in connection.execute(
            sa.select(spent.c.start, spent.c.packed).where(here)
        ):
            yield _Leaf(start=start, hashes=frozenset(_cut(packed)))


def _cut(packed: bytes) -> Iterator[bytes]:
    return (packed[place : place + _BYTES] for place in range(0, len(packed), _BYTES))


def _replace(connection: sa.Connection, door: int, leaf: _Leaf, hashes: list[bytes]) -> None:
    here = (spent.c.door == door) & (spent.c.start == leaf.start)
    connection.execute(sa.delete(spent).where(here))
    _write(connection, door, leaf.start, hashes)


def _write(connection: sa.Connection, door: int, start: bytes, hashes: list[bytes]) -> None:
    """Write one leaf, or as many of equal size as it takes."""
    count = -(-len(hashes) // _MOST)
    size = -(-len(hashes) // count)
    for first in range(0, len(hashes), size):
        part = hashes[first : first + size]
        row = {"door": door, "start": part[0] if first else start, "packed": b"".join(part)}
        connection.execute(sa.insert(spent), row)
