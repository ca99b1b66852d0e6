"""The ids of ended phases in sorted leaves, so that a report is recognised after its phase."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision: Final = "0004"
down_revision: Final = "0003"


def upgrade() -> None:
    """Make the table; the ids of a phase are moved there when somebody asks for one."""
    op.create_table(
        "sorted_ids",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("start", sa.LargeBinary, primary_key=True),
        sa.Column("packed", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE sorted_ids ALTER COLUMN packed SET STORAGE EXTERNAL")
