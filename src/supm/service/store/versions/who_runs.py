"""Who runs a study, and how to reach them."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision: Final = "0002"
down_revision: Final = "0001"


def upgrade() -> None:
    """Add what an owner may want to know; of studies that are there, nobody said it."""
    for name in ("run_by", "contact"):
        op.add_column("studies", sa.Column(name, sa.Text, nullable=False, server_default=""))
