"""Files that a party and a server name: read as text, and written as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from supm._errors import MessageError, ParameterError
from supm.federation import FederatedStudy

__all__ = ["check_writable", "load_study", "read_file", "write_file"]


def read_file(name: str, path: Path) -> str:
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
    """Return the study in a file."""
    text = read_file("study", path)
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
