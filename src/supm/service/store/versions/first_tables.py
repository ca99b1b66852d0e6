"""The first tables."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision: Final = "0001"
down_revision: Final = None

_NUMBER: Final = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make all tables."""
    _make_studies()
    _make_reports()
    _make_invitations()
    if op.get_bind().dialect.name == "postgresql":
        # Random bytes and packed symbols gain nothing from the compression that is the default.
        for table, column in (("ids", "packed"), ("answers", "packed"), ("tallies", "counts")):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def _make_studies() -> None:
    op.create_table(
        "studies",
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
    )
    op.create_table(
        "documents",
        sa.Column("study", sa.String(16), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "doors",
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


def _make_reports() -> None:
    op.create_table(
        "ids",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "answers",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(2), nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tallies",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("through", sa.BigInteger, nullable=False),
        sa.Column("reports", sa.BigInteger, nullable=False),
        sa.Column("distinct_rows", sa.BigInteger, nullable=False),
        sa.Column("counts", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "minutes",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("minute", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("reports", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )


def _make_invitations() -> None:
    op.create_table(
        "invitations",
        sa.Column("study", sa.String(16), primary_key=True),
        sa.Column("hash", sa.String(64), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "used",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.String(64), primary_key=True),
        sqlite_with_rowid=False,
    )
