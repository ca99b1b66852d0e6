"""The file of a wallet: where it is, what it holds, and that nobody else reads it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar, Final

from supm._errors import SupmError
from supm._sqlite import SqliteFile, make_for_its_owner

__all__ = ["WalletError", "WalletFile", "default_path"]

_MODE: Final = 0o600


class WalletError(SupmError):
    """The file of a wallet cannot be used; nothing was drawn and nothing was sent."""


def default_path() -> Path:
    """Return where the wallet is, unless the caller says otherwise.

    Returns
    -------
    Path
        What SUPM_WALLET names, or a file among the user's data.
    """
    named = os.environ.get("SUPM_WALLET")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "supm" / "wallet.db"


class WalletFile(SqliteFile):
    """The SQLite file of a wallet; it is made where it is not, for this user alone."""

    noun: ClassVar[str] = "wallet"
    hint: ClassVar[str] = "choose another file with SUPM_WALLET"
    refusal: ClassVar[type[SupmError]] = WalletError
    application: ClassVar[int] = 0x5355504D  # "SUPM"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE memory (
            owner TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (owner, name)
        ) WITHOUT ROWID""",
        """CREATE TABLE answers (
            place INTEGER PRIMARY KEY, owner TEXT NOT NULL, study TEXT NOT NULL,
            beginning TEXT NOT NULL, phase TEXT NOT NULL, epsilon REAL, purpose TEXT NOT NULL,
            server TEXT NOT NULL, report TEXT NOT NULL, answered REAL NOT NULL, acknowledged REAL,
            UNIQUE (owner, report, server)
        )""",
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    )

    @property
    def damaged(self) -> str:
        """What to say of a file that is not whole."""
        return (
            f"the wallet {self.path} is damaged or is no wallet; nothing was sent. Restore a copy; "
            "to begin with a new one is to forget what was spent."
        )

    def _make(self) -> None:
        """Make the file for this user alone, or take everybody else's rights away."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # By its name: to open and close it would drop the locks that this process holds on it.
        if not make_for_its_owner(self.path) and self.path.stat().st_mode & 0o077:
            self.path.chmod(_MODE)

    def _prepare(self) -> None:
        self.run("PRAGMA secure_delete = ON")
        super()._prepare()
        if self.run("PRAGMA quick_check(1)") != [("ok",)]:
            raise WalletError(self.damaged)
