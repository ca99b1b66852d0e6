"""Files that a party and a server name: read as text, and written as a whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from supm._errors import MessageError, ParameterError
from supm.federation import FederatedStudy, Rows
from supm.schema import Schema, read_csv
from supm.schema.text_table import Progress


def text_of_file(name: str, path: Path) -> str:
    """Return the text of a small file, or raise ParameterError about the argument that named it."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        hint = f"{error.strerror}."
    except UnicodeDecodeError:
        hint = "It is not UTF-8 text."
    raise ParameterError(name, "a file that can be read", str(path), hint)


def write_file(name: str, path: Path, text: str) -> None:
    """Put a text in the place of a file; where that fails, the one that was there stays."""
    fresh = path.with_name(f".supm-{os.getpid()}-{path.name}")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        hint = f"{error.strerror}."
        raise ParameterError(name, "a file that can be written", str(path), hint) from None


def load_study(path: Path) -> FederatedStudy:
    """Return the study in a file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    FederatedStudy
    """
    text = text_of_file("study", path)
    try:
        return FederatedStudy.from_json(text)
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None


def check_writable(name: str, path: Path) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if path.is_dir() or not path.parent.is_dir():
        raise ParameterError(name, "a file in a folder that exists", str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(name, "a file that may be written", str(path))


def read_tables(
    study: FederatedStudy,
    paths: Sequence[str],
    *,
    schema: Schema | None = None,
    progress: Progress = iter,
) -> dict[str, Rows]:
    """Return the tables of all parties, each from a CSV file, as `run_study` takes them.

    Parameters
    ----------
    study : FederatedStudy
        What the parties would consent to.
    paths : sequence of str
        One file for each party. A table that is there twice is refused: the promise is for a record
        in one of the tables.
    schema : Schema, optional
        What the study is expected to have.
    progress : callable, optional
        Goes through a file in pieces of many lines and may show how far it is.

    Returns
    -------
    dict of str to Rows
    """
    parties = study.protocol.circle.parties
    if len(paths) != parties:
        raise ParameterError("data", f"{parties} tables, one for each party", len(paths))
    _check_apart(paths)
    return {
        f"party {number}": study.read_rows(read_csv(path, progress=progress), schema)
        for number, path in enumerate(paths)
    }


def _check_apart(paths: Sequence[str]) -> None:
    seen: dict[bytes, str] = {}
    # A pipe can be read once only, and what cannot be read is said when the tables are.
    for path in (each for each in paths if Path(each).is_file() and os.access(each, os.R_OK)):
        with Path(path).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        if content in seen:
            hint = (
                f"{seen[content]} and {path} are one table, whose records would count twice, and "
                "the promise is for records that count once."
            )
            raise ParameterError("data", "a table of its own for each party", path, hint)
        seen[content] = path
