"""Studies in the tables: made, found, moved on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import sqlalchemy as sa

from supm._random import secure
from supm.messages import Study
from supm.owner.interviews import Interview, interview
from supm.service.errors import StateChanged, UnknownStudy
from supm.service.store._tables import documents, invitations, phases, studies, tallies
from supm.service.store.values import Opened, State

# Without the letters and digits that look alike.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_NAME_LENGTH: Final = 10
# Made once: making a statement takes longer than running it.
_FIND: Final = sa.select(studies).where(studies.c.name == sa.bindparam("name"))
_TEXTS: Final = (
    sa.select(documents.c.text)
    .where(documents.c.study == sa.bindparam("name"))
    .order_by(documents.c.place)
)


@lru_cache(maxsize=256)
def stored_document(text: str) -> Study:
    """Return a stored document; checking one takes longer than finding it."""
    return Study.from_json(text)


@lru_cache(maxsize=64)
def asked_at(text: str, phase: str) -> Interview:
    """Return the mechanism of a phase of a stored document."""
    return interview(stored_document(text), phase)


def insert(
    connection: sa.Connection, study: Study, values: Mapping[str, Any], invited: Iterable[str]
) -> Opened:
    """Store a new study under a name of its own, with its first phase."""
    name = "".join(_LETTERS[place] for place in secure().below(len(_LETTERS), _NAME_LENGTH))
    row = {"name": name, "invited": bool(invited), **values}
    connection.execute(sa.insert(studies).values(row))
    _insert_document(connection, name, 0, study)
    codes = [{"study": name, "hash": each} for each in dict.fromkeys(invited)]
    if codes:
        connection.execute(sa.insert(invitations), codes)
    stored = find(connection, name)
    _open_phase(connection, stored)
    return stored


def find(connection: sa.Connection, name: str) -> Opened:
    """Return one study, or raise UnknownStudy."""
    found = connection.execute(_FIND, {"name": name}).one_or_none()
    if found is None:
        raise UnknownStudy
    return _opened(found, connection.execute(_TEXTS, {"name": name}).scalars())


def find_all(connection: sa.Connection) -> list[Opened]:
    """Return all studies, the oldest first."""
    texts: dict[str, list[str]] = defaultdict(list)
    wanted = sa.select(documents.c.study, documents.c.text).order_by(documents.c.place)
    for name, text in connection.execute(wanted):
        texts[name].append(text)
    rows = connection.execute(sa.select(studies).order_by(studies.c.created, studies.c.name))
    return [_opened(row, texts[row.name]) for row in rows]


def lock(connection: sa.Connection, name: str, expected: State) -> Opened:
    """Hold a study that is still where the caller thinks, or raise StateChanged."""
    wanted = sa.select(studies.c.state).where(studies.c.name == name).with_for_update()
    state = connection.execute(wanted).scalar_one_or_none()
    if state is None:
        raise UnknownStudy
    if state != expected.value:
        raise StateChanged(f"the study is {state} and no longer {expected.value}; look again.")
    return find(connection, name)


def move(
    connection: sa.Connection, opened: Opened, values: Mapping[str, Any], document: Study | None
) -> Opened:
    """Write what a step changes, and open the phase that follows."""
    connection.execute(sa.update(studies).where(studies.c.name == opened.name).values(values))
    if document is not None:
        _insert_document(connection, opened.name, len(opened.documents), document)
    moved = find(connection, opened.name)
    _open_phase(connection, moved)
    return moved


def close_phase(connection: sa.Connection, opened: Opened, counted: int | None) -> None:
    """Take no more reports of the open phase; refuse where others came than were counted."""
    phase = opened.open_phase
    if phase is None:
        return
    here = (phases.c.study == opened.name) & (phases.c.name == phase)
    wanted = sa.select(phases.c.reports).where(here).with_for_update()
    reports = connection.execute(wanted).scalar_one()
    if counted is not None and reports != counted:
        raise StateChanged(f"{reports - counted} reports came after the count; count again.")
    connection.execute(sa.update(phases).where(here).values(is_open=False))


def _open_phase(connection: sa.Connection, opened: Opened) -> None:
    phase = opened.open_phase
    if phase is None:
        return
    row = {
        "study": opened.name,
        "name": phase,
        "document": opened.study.hash,
        "width": interview(opened.study, phase).width,
        "is_open": True,
        "paused_until": 0.0,
        "deadline": opened.deadline,
        "invited": opened.invited,
        "reports": 0,
        "last": 0,
    }
    number = connection.execute(sa.insert(phases).values(row).returning(phases.c.id)).scalar_one()
    empty = {"phase_id": number, "through": 0, "reports": 0, "distinct_rows": 0, "counts": b""}
    connection.execute(sa.insert(tallies).values(empty))


def _insert_document(connection: sa.Connection, name: str, place: int, study: Study) -> None:
    row = {"study": name, "place": place, "hash": study.hash, "text": study.to_json()}
    connection.execute(sa.insert(documents).values(row))


def _opened(row: sa.Row[Any], texts: Iterable[str]) -> Opened:
    minimums: Mapping[str, int] = json.loads(row.minimums)
    deadlines: Mapping[str, float] = json.loads(row.deadlines)
    return Opened(
        name=row.name,
        state=State(row.state),
        documents=tuple(stored_document(text) for text in texts),
        minimums=minimums,
        deadlines=deadlines,
        invited=row.invited,
        created=row.created,
        model=row.model,
        weights=row.weights,
        simulation=row.simulation,
        by=row.run_by,
        contact=row.contact,
    )
