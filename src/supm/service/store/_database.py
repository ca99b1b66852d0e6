"""The database behind the store: how it is opened, and what a transaction is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from supm._errors import ParameterError
from supm._sqlite import SECONDS_FOR_A_LOCK, keep_a_log_ahead, make_for_its_owner
from supm.service.errors import StoreError
from supm.service.store._tables import METADATA

_AGAIN: Final = "nothing was stored; send again later."
_REASONS: Final = {
    "SQLITE_FULL": f"the disk of the database is full; {_AGAIN}",
    "SQLITE_BUSY": f"the database is locked by another program; {_AGAIN}",
    "53100": f"the disk of the database is full; {_AGAIN}",
    "55P03": f"the database is locked by another program; {_AGAIN}",
}
_GONE: Final = f"the database does not answer; {_AGAIN}"


@dataclass(frozen=True, kw_only=True, repr=False)
class DatabaseAddress:
    """Where a database is, without showing the password that its address may hold."""

    url: sa.URL

    @classmethod
    def parse(cls, text: str) -> DatabaseAddress:
        """Return an address, or raise ParameterError where no database could be there."""
        try:
            url = sa.make_url(text)
            kind, name = url.get_backend_name(), url.database
        except (SQLAlchemyError, ValueError):
            kind, name = "", None
        if kind in ("postgresql", "postgres") or (
            kind == "sqlite" and name not in (None, "", ":memory:")
        ):
            return cls(url=url)
        scheme, sign, _ = text.partition("://")
        file = "@" not in text and Path(text).suffix
        got = f"{scheme}://…" if sign else text if file else "an address"
        wanted = "sqlite:///FILE or postgresql://USER@HOST/NAME"
        # Neither the cause nor the address is shown whole: both may hold a password.
        hint = "A file is written as sqlite:///studies.db."
        raise ParameterError("url", wanted, got, hint) from None

    @property
    def shown(self) -> str:
        """The address without what may be secret in it."""
        return self.url.set(password="", query={}).render_as_string().replace(":***@", "@")

    @property
    def is_absent(self) -> bool:
        """Whether it is a file that is not there."""
        sqlite = self.url.get_backend_name() == "sqlite"
        return sqlite and not Path(self.url.database or "").is_file()


class Database:
    """An engine with two kinds of transactions; each database error leaves as a StoreError."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._engine = _engine(address)
        # Waiting here is fair and quick; waiting for SQLite's own lock is a sleep.
        self._one_writer = threading.Lock()
        try:
            with self.writing() as connection:
                _migrate(connection)
        except StoreError:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that sees what was committed and commits when the block ends."""
        if self._engine.dialect.name == "sqlite":
            with self._one_writer, self._transaction({"supm_begin": "BEGIN IMMEDIATE"}) as begun:
                yield begun
        else:
            with self._transaction({"isolation_level": "READ COMMITTED"}) as begun:
                yield begun

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Begin a transaction in which all reads see one moment."""
        sqlite = self._engine.dialect.name == "sqlite"
        options = {} if sqlite else {"isolation_level": "REPEATABLE READ"}
        with self._transaction(options) as begun:
            yield begun

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect().execution_options(**options) as begun, begun.begin():
                yield begun
        except SQLAlchemyError as error:
            # The cause is dropped: it may hold what was to be stored, or where.
            raise StoreError(_sentence(error)) from None


def _sentence(error: SQLAlchemyError) -> str:
    if not isinstance(error, DBAPIError) or error.orig is None:
        return _GONE
    code = getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None)
    if code is None or error.connection_invalidated:
        return _GONE
    return _REASONS.get(code, f"the database refused with {code}; {_AGAIN}")


def _engine(address: DatabaseAddress) -> sa.Engine:
    if address.url.get_backend_name() == "sqlite":
        return _sqlite(address.url.set(drivername="sqlite+pysqlite"))
    return _postgresql(address.url.set(drivername="postgresql+psycopg"))


def _sqlite(url: sa.URL) -> sa.Engine:
    # A folder that is not there is the driver's to refuse.
    with suppress(OSError):
        make_for_its_owner(Path(url.database or ""))
    waiting = {"timeout": SECONDS_FOR_A_LOCK, "check_same_thread": False}
    engine = sa.create_engine(url, connect_args=waiting, hide_parameters=True, pool_size=8)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401  a driver's connection
    # The driver would begin transactions by itself, and too late for a consistent reading.
    connection.isolation_level = None
    keep_a_log_ahead(connection)
    connection.execute("PRAGMA wal_autocheckpoint=4000")


def _begin_sqlite(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    connection.exec_driver_sql(options.get("supm_begin", "BEGIN"))


def _postgresql(url: sa.URL) -> sa.Engine:
    # synchronous_commit: an acknowledged report survives, whatever the server's default is.
    settings = f"-c lock_timeout={SECONDS_FOR_A_LOCK}s -c synchronous_commit=on"
    # What the address asks for stays; of two words for one setting the last one counts.
    options = " ".join((*url.normalized_query.get("options", ()), settings))
    arguments = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "options": options}
    return sa.create_engine(
        url, connect_args=arguments, hide_parameters=True, pool_pre_ping=True, pool_size=8
    )


NEWEST: Final = "0001"
"""The revision that this release works with; the tables of a new database are of it."""

_SCRIPTS: Final = Path(__file__).parent
# Any number will do; it only has to be the same in each server of one database.
_LOCK: Final = 5_872_310_466


def _migrate(connection: sa.Connection) -> None:
    """Make the tables, or bring them to the newest revision, within the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    found = _revision(connection)
    if found != NEWEST:
        _upgrade(connection, found)


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: sa.Connection, found: str | None) -> None:
    # Only a database that is not current needs them.
    from alembic.config import Config  # noqa: PLC0415  as above
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415  as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415  as above
    from alembic.util import CommandError  # noqa: PLC0415  as above

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def steps(revision: Any, _context: object) -> Any:  # noqa: ANN401  alembic's own kinds
        if found is None:
            return scripts._stamp_revs(NEWEST, revision)  # noqa: SLF001  alembic documents it
        return scripts._upgrade_revs(NEWEST, revision)  # noqa: SLF001  the same

    if found is None:
        METADATA.create_all(connection)
    try:
        with EnvironmentContext(config, scripts, fn=steps) as environment:
            environment.configure(connection=connection, transactional_ddl=False)
            environment.run_migrations()
    except CommandError:
        raise StoreError(
            "the database was made by another release; use the newest release of SUPM."
        ) from None
