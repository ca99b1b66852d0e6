"""The first tables: a new database gets all tables at once, from `supm.service.store._tables`."""

from __future__ import annotations

from typing import Final

revision: Final = "0001"
down_revision: Final = None


def upgrade() -> None:
    """Change nothing: no database is older."""
