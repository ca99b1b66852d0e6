"""The file of a wallet: where it is, that nobody else reads it, and names and values in it."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Iterator, MutableMapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from supm._errors import SupmError
from supm._random import secure
from supm._sqlite import SqliteFile, make_for_its_owner
from supm._validation import check_kind

_MODE: Final = 0o600


class WalletError(SupmError):
    """The file of a wallet cannot be used; nothing was drawn and nothing was sent."""


def default_path() -> Path:
    """Return where the wallet is, unless the caller says otherwise."""
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


class Memory(MutableMapping[str, Any]):
    """What was answered before: a mapping that is on the disk after every change.

    Parameters
    ----------
    file : WalletFile
        Where it is kept.
    owner : str, default ""
        Whose section of the file; empty for the only one.
    """

    def __init__(self, file: WalletFile, owner: str = "") -> None:
        self._file = file
        self._owner = owner

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Say what it is, and nothing of what it holds."""
        return f"{type(self).__name__}()"

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    def step(self) -> AbstractContextManager[None]:
        """Return a context in which all changes are one: on the disk at its end, or never."""
        return self._file.step()

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  whatever JSON can hold
        query = "SELECT value FROM memory WHERE owner = ? AND name = ?"
        found = self._file.run(query, self._owner, name)
        if not found:
            raise KeyError(name)
        try:
            return json.loads(found[0][0])
        except (ValueError, TypeError):
            pass
        # Raised out here: the error behind it shows the text that it could not read.
        raise WalletError(f"the wallet {self.path} holds what no wallet writes; restore a copy.")

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401  whatever JSON can hold
        text = json.dumps(value, allow_nan=False)
        self._file.run("REPLACE INTO memory VALUES (?, ?, ?)", self._owner, name, text)

    def __delitem__(self, name: str) -> None:
        with self.step():
            if name not in self:
                raise KeyError(name)
            self._file.run("DELETE FROM memory WHERE owner = ? AND name = ?", self._owner, name)

    def __iter__(self) -> Iterator[str]:
        query = "SELECT name FROM memory WHERE owner = ? ORDER BY name"
        return iter([row[0] for row in self._file.run(query, self._owner)])

    def __len__(self) -> int:
        found = self._file.run("SELECT count(*) FROM memory WHERE owner = ?", self._owner)
        return int(found[0][0])

    def _setting(self, name: str) -> str | None:
        """Return what the whole file has under a name, or None."""
        found = self._file.run("SELECT value FROM settings WHERE name = ?", name)
        return str(found[0][0]) if found else None

    def _set(self, name: str, value: str | None) -> None:
        """Keep a text for the whole file; None takes it away."""
        self._file.run("DELETE FROM settings WHERE name = ?", name)
        if value is not None:
            self._file.run("INSERT INTO settings VALUES (?, ?)", name, value)

    def _section_name(self, owner: str) -> str:
        """Return a keyed hash of an owner's name: the name itself is not written down."""
        check_kind("owner", owner, str)
        with self.step():
            key = self._setting("key")
            if key is None:
                key = secure().words(4).tobytes().hex()
                self._set("key", key)
        return hmac.digest(bytes.fromhex(key), owner.encode(), "sha256").hex()[:32]
