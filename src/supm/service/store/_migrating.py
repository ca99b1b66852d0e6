"""Bringing the tables of a database to what this release expects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from supm.service.errors import StoreError

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

__all__ = ["NEWEST", "migrate", "scripts"]

NEWEST: Final = "0004"
"""The revision that this release works with."""

# Any number will do; it only has to be the same in each server of one database.
_LOCK: Final = 5_872_310_466


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest revision, within the caller's transaction.

    Raises
    ------
    StoreError
        If the database is of a revision that this release does not know.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    if _revision(connection) != NEWEST:
        _upgrade(connection)


def scripts() -> tuple[ScriptDirectory, Config]:
    """Return the migrations of this release as alembic sees them."""
    from alembic.config import Config  # noqa: PLC0415  only a database that is not current needs it
    from alembic.script import ScriptDirectory  # noqa: PLC0415  the same

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config), config


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: sa.Connection) -> None:
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415  as above
    from alembic.util import CommandError  # noqa: PLC0415  the same

    directory, config = scripts()

    def steps(revision: Any, _context: object) -> Any:  # noqa: ANN401  alembic's own kinds
        return directory._upgrade_revs("head", revision)  # noqa: SLF001  alembic documents it

    try:
        with EnvironmentContext(config, directory, fn=steps) as environment:
            environment.configure(connection=connection, transactional_ddl=False)
            environment.run_migrations()
    except CommandError:
        message = "the database was made by another release; use the newest release of SUPM."
        raise StoreError(message) from None
