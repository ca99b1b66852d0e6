"""Files that verbs read and write: checked before the work, and errors in one sentence."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

from supm._errors import ParameterError
from supm.reporting import json_text

__all__ = [
    "check_picture",
    "check_target",
    "read_text",
    "write_bytes",
    "write_json",
    "write_text",
]

_FORMATS = (".png", ".pdf", ".svg")


def check_target(option: str, target: str | None) -> None:
    """Refuse a file that cannot be written before the work is done.

    Parameters
    ----------
    option : str
        The option that names the file.
    target : str or None
        The name of the file, "-" for the standard output, or None for nothing.
    """
    if target is None or target == "-":
        return
    path = Path(target)
    if not target or path.is_dir() or not path.parent.is_dir():
        raise ParameterError(option, "a file in a folder that exists", target)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(option, "a file that may be written", target)


def check_picture(option: str, target: str | None) -> None:
    """Refuse a picture that cannot be drawn before the work is done.

    Parameters
    ----------
    option : str
        The option that names the file.
    target : str or None
        The name of the file, or None for no picture.
    """
    if target is not None and not target.lower().endswith(_FORMATS):
        raise ParameterError(option, f"a file that ends in {', '.join(_FORMATS)}", target)
    check_target(option, target)


def read_text(name: str, path: str) -> str:
    """Read a small file of text.

    Parameters
    ----------
    name : str
        The argument that names the file.
    path : str
        The name of the file.

    Returns
    -------
    str
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        hint = f"{error.strerror}."
    except UnicodeDecodeError:
        hint = "It is not UTF-8 text."
    raise ParameterError(name, "a file that can be read", path, hint)


def write_json(value: Any, target: str) -> None:  # noqa: ANN401  whatever JSON can hold
    """Write JSON to a file, or to the standard output if the target is a dash.

    Parameters
    ----------
    value : object
        What JSON can hold; an infinite number is written as text.
    target : str
        The name of the file, or "-".
    """
    write_text("--json", json_text(value), target)


def write_text(option: str, text: str, target: str) -> None:
    """Write text to a file, or to the standard output if the target is a dash.

    Parameters
    ----------
    option : str
        The option that names the file.
    text : str
        What to write.
    target : str
        The name of the file, or "-".
    """
    if target == "-":
        sys.stdout.write(text)
        return
    write_bytes(option, text.encode(), target)


def write_bytes(option: str, content: bytes, target: str) -> None:
    """Write a file that is no text.

    Parameters
    ----------
    option : str
        The option that names the file.
    content : bytes
        What to write.
    target : str
        The name of the file.
    """
    try:
        _replace(Path(target).resolve(), content)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError(option, "a file that can be written", target, hint) from None


def _replace(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all: a full disk leaves the one that was there."""
    if not os.access(path.parent, os.W_OK) or (path.exists() and not path.is_file()):
        path.write_bytes(content)  # into a device, or where no file can be made beside it
        return
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    fresh = path.with_name(f".supm-{os.getpid()}-{time.monotonic_ns()}")
    try:
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
