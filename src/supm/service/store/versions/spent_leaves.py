"""Used invitations in leaves of many, so that no row stands beside one report."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision: Final = "0003"
down_revision: Final = "0002"


def upgrade() -> None:
    """Move the hashes of used invitations, sorted, into leaves; later ones are split as needed."""
    leaves = op.create_table(
        "spent",
        sa.Column("door", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("start", sa.LargeBinary, primary_key=True),
        sa.Column("packed", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.execute("ALTER TABLE spent ALTER COLUMN packed SET STORAGE EXTERNAL")
    hashes: dict[int, list[bytes]] = {}
    for door, text in connection.execute(sa.text("SELECT door, hash FROM used")):
        hashes.setdefault(door, []).append(bytes.fromhex(text))
    for door, own in hashes.items():
        row = {"door": door, "start": b"", "packed": b"".join(sorted(own))}
        connection.execute(sa.insert(leaves), row)
    op.drop_table("used")
