"""One-time invitations: each lets one report of a study in, and nothing says which.

Where a study asks the same people to reduce and to train, each lets in one report of each phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from supm.service.store._spent import spend, spent_of
from supm.service.store._studies import read_study
from supm.service.store._tables import documents, doors, invitations
from supm.service.store.refusals import Refusal
from supm.service.store.values import Receipt, Submission

__all__ = ["refuse", "sharing", "split", "use_invitations"]


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
