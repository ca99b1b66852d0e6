"""One-time invitations: each lets one report of a study in, and nothing says which.

Where a study asks the same people to reduce and to train, each lets in one report of each phase.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.service.store._studies import read_study
from supm.service.store._tables import documents, doors, invitations, spent
from supm.service.store.values import Receipt, Refusal, Submission

__all__ = ["count_unused", "refuse", "sharing", "spend", "spent_of", "split", "use_invitations"]


def refuse(given: Submission, reason: Refusal | None) -> Receipt:
    """Return the receipt of a submission of which nothing is stored."""
    return Receipt(new=np.zeros(len(given), dtype=np.bool_), refused=reason)


def split(flags: NDArray[np.bool_], taken: Sequence[Submission]) -> list[NDArray[np.bool_]]:
    """Return the flags of each submission."""
    return np.split(flags, np.cumsum([len(each) for each in taken])[:-1])


def use_invitations(
    connection: sa.Connection,
    door: sa.Row[Any],
    taken: Sequence[Submission],
    before: NDArray[np.bool_],
) -> list[Receipt]:
    """Let each submission in whose invitation is good, and mark the invitation as used.

    A report that was stored before is acknowledged again, although its invitation is used: the
    first acknowledgement may have been lost on its way.
    """
    wanted = {each.invitation for each in taken if each.invitation is not None}
    good, spent = _known(connection, door, wanted), _spent(connection, door, wanted)
    stored: set[bytes] = set()
    fresh: set[str] = set()
    receipts = []
    for each, known in zip(taken, split(before, taken), strict=True):
        own = each.ids[0].tobytes()
        reason = _judge(each, good, spent | fresh)
        if len(each) == 1 and (known[0] or own in stored):
            receipts.append(refuse(each, None))
        elif reason is not None:
            receipts.append(refuse(each, reason))
        else:
            stored.add(own)
            fresh.add(str(each.invitation))
            receipts.append(Receipt(new=np.ones(1, dtype=np.bool_)))
    if fresh:
        spend(connection, door.door, fresh)
    return receipts


def _judge(given: Submission, good: set[str], spent: set[str]) -> Refusal | None:
    if given.invitation is None:
        return Refusal.NOT_INVITED
    if len(given) != 1:
        return Refusal.SEVERAL_FOR_ONE
    if given.invitation not in good:
        return Refusal.UNKNOWN_INVITATION
    return Refusal.USED_INVITATION if given.invitation in spent else None


def _known(connection: sa.Connection, door: sa.Row[Any], wanted: set[str]) -> set[str]:
    here = (invitations.c.study == door.study) & invitations.c.hash.in_(wanted)
    return set(connection.execute(sa.select(invitations.c.hash).where(here)).scalars())


def _spent(connection: sa.Connection, door: sa.Row[Any], wanted: set[str]) -> set[str]:
    places = connection.execute(sharing(connection, door)).scalars().all()
    return spent_of(connection, places, wanted)


def sharing(connection: sa.Connection, door: sa.Row[Any]) -> sa.Select[Any]:
    """Return the doors at which an invitation may not have been used to be good at this one."""
    places = sa.select(doors.c.door).where(doors.c.study == door.study)
    if _asks_everybody_twice(connection, door):
        places = places.where(doors.c.door == door.door)
    return places


def _asks_everybody_twice(connection: sa.Connection, door: sa.Row[Any]) -> bool:
    """Say whether the same people answer to reduce and to train, in a study without groups."""
    first = (documents.c.study == door.study) & (documents.c.place == 0)
    text = connection.execute(sa.select(documents.c.text).where(first)).scalar_one()
    study = read_study(text)
    return len(study.groups) == 1 and study.question("reduce") is not None


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
    """Return which of these invitations were used at one of these doors."""
    asked = {bytes.fromhex(each) for each in wanted}
    found: set[bytes] = set()
    for door in places:
        for leaf in _leaves(connection, door, asked):
            found |= asked & leaf.hashes
    return {each.hex() for each in found}


def spend(connection: sa.Connection, door: int, fresh: set[str]) -> None:
    """Mark invitations as used at a door; whoever calls holds the door's lock."""
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


def count_unused(connection: sa.Connection, name: str, phase: str) -> int:
    """Return how many invitations can still let a report of a phase in."""
    here = (doors.c.study == name) & (doors.c.phase == phase)
    door = connection.execute(sa.select(doors).where(here)).one()
    made = sa.select(sa.func.count()).where(invitations.c.study == name)
    shared = spent.c.door.in_(sharing(connection, door))
    used = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(spent.c.packed)), 0))
    bytes_used = connection.execute(used.where(shared)).scalar_one()
    return int(connection.execute(made).scalar_one()) - int(bytes_used) // _BYTES
