"""The tables. A door is one phase of one study: where its reports are counted.

The reports of a transaction are one row of `ids` and one of `answers` for each door, numbered in
the order in which they were committed. Both are packed (see `supm.service.store._counting`): a
table with a row for each id would rewrite a page for nearly each report, because ids are random.
Answers are dropped once they are folded into the door's tally; ids stay, so that a retry is
recognised, also after the phase (see `supm.service.store._ids`).
Nothing relates an invitation to the report that used it: see `supm.service.store._invitations`.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

__all__ = [
    "METADATA",
    "answers",
    "documents",
    "doors",
    "ids",
    "invitations",
    "minutes",
    "sorted_ids",
    "spent",
    "studies",
    "tallies",
]

METADATA: Final = sa.MetaData()

# SQLite numbers rows by itself in a column of this very type only.
_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer, "sqlite")

studies: Final = sa.Table(
    "studies",
    METADATA,
    sa.Column("name", sa.String(16), primary_key=True),
    sa.Column("state", sa.String(32), nullable=False),
    sa.Column("token_hash", sa.Text, nullable=False),
    sa.Column("minimums", sa.Text, nullable=False),
    sa.Column("deadlines", sa.Text, nullable=False),
    sa.Column("invited", sa.Boolean, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("model", sa.Text),
    sa.Column("weights", sa.String(16)),
    sa.Column("run_by", sa.Text, nullable=False, server_default=""),
    sa.Column("contact", sa.Text, nullable=False, server_default=""),
)

documents: Final = sa.Table(
    "documents",
    METADATA,
    sa.Column("study", sa.String(16), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)

doors: Final = sa.Table(
    "doors",
    METADATA,
    sa.Column("door", _NUMBER, primary_key=True),
    sa.Column("study", sa.String(16), nullable=False),
    sa.Column("phase", sa.String(8), nullable=False),
    sa.Column("document", sa.String(64), nullable=False),
    sa.Column("width", sa.Integer, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("paused_until", sa.Double, nullable=False),
    sa.Column("deadline", sa.Double),
    sa.Column("invited", sa.Boolean, nullable=False),
    sa.Column("reports", sa.BigInteger, nullable=False),
    sa.Column("last", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("study", "phase", name="one_door_for_each_phase"),
)

ids: Final = sa.Table(
    "ids",
    METADATA,
    sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

sorted_ids: Final = sa.Table(
    "sorted_ids",
    METADATA,
    sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("start", sa.LargeBinary, primary_key=True),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

answers: Final = sa.Table(
    "answers",
    METADATA,
    sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(2), nullable=False),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

tallies: Final = sa.Table(
    "tallies",
    METADATA,
    sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("through", sa.BigInteger, nullable=False),
    sa.Column("reports", sa.BigInteger, nullable=False),
    sa.Column("distinct_rows", sa.BigInteger, nullable=False),
    sa.Column("counts", sa.LargeBinary, nullable=False),
)

minutes: Final = sa.Table(
    "minutes",
    METADATA,
    sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("reports", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

invitations: Final = sa.Table(
    "invitations",
    METADATA,
    sa.Column("study", sa.String(16), primary_key=True),
    sa.Column("hash", sa.String(64), primary_key=True),
    sqlite_with_rowid=False,
)

spent: Final = sa.Table(
    "spent",
    METADATA,
    sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("start", sa.LargeBinary, primary_key=True),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
