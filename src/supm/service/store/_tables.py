"""The tables. A row of `phases` is one phase of one study: where its reports are counted.

The reports of a transaction are one row of `ids` and one of `answers` for each phase, numbered in
the order in which they were committed. Both are packed (see `supm.service.store._counting`): a
table with a row for each id would rewrite a page for nearly each report, because ids are random.
Answers are dropped once they are folded into the phase's tally; ids stay, so that a retry is
recognised, also after the phase (see `supm.service.store._leaves`).
Nothing relates an invitation to the report that used it: see `supm.service.store._leaves`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import sqlalchemy as sa

METADATA: Final = sa.MetaData()

# SQLite numbers rows by itself in a column of this very type only.
_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer, "sqlite")

_needed: Final[Any] = partial(sa.Column, nullable=False)


def _key(name: str, kind: Any = sa.BigInteger) -> sa.Column[Any]:  # noqa: ANN401  SQLAlchemy takes a kind or its class
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _table(name: str, *columns: Any, rowid: bool = True) -> sa.Table:  # noqa: ANN401  columns and constraints
    return sa.Table(name, METADATA, *columns, sqlite_with_rowid=rowid)


studies: Final = _table(
    "studies",
    _key("name", sa.String(16)),
    _needed("state", sa.String(32)),
    _needed("token_hash", sa.Text),
    _needed("minimums", sa.Text),
    _needed("deadlines", sa.Text),
    _needed("invited", sa.Boolean),
    _needed("simulation", sa.Boolean),
    _needed("created", sa.Double),
    sa.Column("model", sa.Text),
    sa.Column("weights", sa.String(16)),
    _needed("run_by", sa.Text),
    _needed("contact", sa.Text),
)

documents: Final = _table(
    "documents",
    _key("study", sa.String(16)),
    _key("place", sa.Integer),
    _needed("hash", sa.String(64)),
    _needed("text", sa.Text),
)

phases: Final = _table(
    "phases",
    sa.Column("id", _NUMBER, primary_key=True),
    _needed("study", sa.String(16)),
    _needed("name", sa.String(8)),
    _needed("document", sa.String(64)),
    _needed("width", sa.Integer),
    _needed("is_open", sa.Boolean),
    _needed("paused_until", sa.Double),
    sa.Column("deadline", sa.Double),
    _needed("invited", sa.Boolean),
    _needed("reports", sa.BigInteger),
    _needed("last", sa.BigInteger),
    sa.UniqueConstraint("study", "name", name="each_phase_once"),
)

ids: Final = _table(
    "ids", _key("phase_id"), _key("number"), _needed("packed", sa.LargeBinary), rowid=False
)

sorted_ids: Final = _table(
    "sorted_ids",
    _key("phase_id"),
    _key("start", sa.LargeBinary),
    _needed("packed", sa.LargeBinary),
    rowid=False,
)

answers: Final = _table(
    "answers",
    _key("phase_id"),
    _key("number"),
    _needed("kind", sa.String(2)),
    _needed("packed", sa.LargeBinary),
    rowid=False,
)

tallies: Final = _table(
    "tallies",
    _key("phase_id"),
    _needed("through", sa.BigInteger),
    _needed("reports", sa.BigInteger),
    _needed("distinct_rows", sa.BigInteger),
    _needed("counts", sa.LargeBinary),
)

minutes: Final = _table(
    "minutes", _key("phase_id"), _key("minute"), _needed("reports", sa.BigInteger), rowid=False
)

invitations: Final = _table(
    "invitations", _key("study", sa.String(16)), _key("hash", sa.String(64)), rowid=False
)

spent: Final = _table(
    "spent",
    _key("phase_id"),
    _key("start", sa.LargeBinary),
    _needed("packed", sa.LargeBinary),
    rowid=False,
)

for _each in (ids, sorted_ids, answers, tallies, spent):
    # Random bytes and packed symbols gain nothing from PostgreSQL's compression.
    _column = "counts" if _each is tallies else "packed"
    _plain = sa.DDL(f"ALTER TABLE {_each.name} ALTER COLUMN {_column} SET STORAGE EXTERNAL")  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped
    sa.event.listen(_each, "after_create", _plain.execute_if(dialect="postgresql"))
