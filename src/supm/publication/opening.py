"""What a caller names, opened: logs by file or address, keys by line or file, files, times."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from supm._errors import ParameterError, PublicationError
from supm.publication.log import Log
from supm.publication.proof import Proof
from supm.publication.remote import RemoteLog
from supm.publication.signing import SigningKey, VerifierKey

AnyLog: TypeAlias = Log | RemoteLog
_LARGEST: Final = 1 << 26


def open_log(where: str | Path | AnyLog) -> AnyLog:
    """Return a log to read, from its file or its address."""
    if isinstance(where, Log | RemoteLog):
        return where
    named = str(where)
    if named.startswith(("http://", "https://")):
        return RemoteLog(named)
    if "://" in named or not Path(named).is_file():
        wanted = "a file that is there, or an address (http://… or https://…)"
        raise ParameterError("log", wanted, _without_password(named))
    return Log(Path(named), read_only=True)


def own_log(where: str | Path, name: str = "log") -> Log:
    """Return the log in a file of this machine, to add to it."""
    if "://" in str(where):
        hint = "Only its publisher adds to a log."
        raise ParameterError(name, "a file here", _without_password(str(where)), hint)
    return Log(Path(where))


def _without_password(named: str) -> str:
    scheme, mark, _ = named.partition("://")
    return f"{scheme}{mark}…" if mark else named


def read_verifier_key(given: str | Path | VerifierKey, name: str = "key") -> VerifierKey:
    """Return the public key of a log: a line, or a file that holds it."""
    if isinstance(given, VerifierKey):
        return given
    path, line = Path(given), str(given)
    wanted = "the log's public key, or a file that holds it"
    if "+" not in line or path.is_file():
        try:
            line = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise ParameterError(name, wanted, str(given)) from None
    try:
        return VerifierKey.parse(line)
    except PublicationError:
        hint = "It is one line of the form name+hash+key."
        raise ParameterError(name, wanted, str(given), hint) from None


def read_signing_key(path: str | Path) -> SigningKey:
    """Return the publisher's key from its file."""
    try:
        return SigningKey.read(Path(path))
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError("signing_key", "a file that can be read", str(path), hint) from None


def file_bytes(path: str | Path, name: str = "file") -> bytes:
    """Read a file that is published or to be published."""
    file = Path(path)
    if file.exists() and not file.is_file():
        raise ParameterError(name, "a file that can be read", str(path), "It is no plain file.")
    try:
        size, content = file.stat().st_size, b""
        if size <= _LARGEST:
            content = file.read_bytes()
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError(name, "a file that can be read", str(path), hint) from None
    if size > _LARGEST:
        raise ParameterError(name, f"a file of at most {_LARGEST} bytes", size)
    return content


def file_text(path: str | Path, name: str) -> str:
    """Read a small file of text."""
    try:
        return file_bytes(path, name).decode()
    except UnicodeDecodeError:
        hint = "It is not UTF-8 text."
        raise ParameterError(name, "a file that can be read", str(path), hint) from None


def proof_of_file(log: AnyLog, content: bytes) -> Proof:
    """Return the proof of a file, under the newest checkpoint that is on a chain, if any is."""
    digest = hashlib.sha256(content).hexdigest()
    place = log.find(digest)
    if place is None:
        raise PublicationError(
            "the log has no entry for this file: it was not published there, or altered."
        )
    if isinstance(log, RemoteLog):
        return log.proof(digest)
    return log.proof_at(place)


def now_in_utc() -> str:
    """Return the time of this machine, as entries write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of_entry(given: str | None, log: Log) -> tuple[str, str]:
    """Return when an entry is dated, and a warning where a clock was wrong.

    A time that is given must not be in the future. If the last entry is dated later than now, by a
    clock that was wrong, its time is taken: nothing can be dated before it, and a log must not stop
    for years.
    """
    present, last = now_in_utc(), log.last_time
    if given is not None and given > present and given != last:
        raise ParameterError("time", f"a time that has passed; it is {present} now", given)
    if given is None and last > present:
        warning = (
            f"WARNING: the last entry of the log is dated {last}, and it is {present} by the clock "
            "of this machine: the new entry is dated as the last one."
        )
        return last, warning
    return given or present, ""
