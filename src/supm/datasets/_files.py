"""Files that are found, or fetched, and trusted by their SHA-256 only."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import tempfile
import urllib.request
from pathlib import Path
from typing import Final

from supm._errors import DatasetError
from supm.datasets._sources import File, Source

__all__ = ["cache_folder", "compact_file", "original_files"]

_PATIENCE: Final = 60.0
_LARGEST: Final = 1 << 28


def compact_file(source: Source) -> bytes | None:
    """Return the compact file from the folder that SUPM_DATA names, or None if it is not there."""
    named = os.environ.get("SUPM_DATA", "")
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        message = f"SUPM_DATA must name a folder, got {named!r}, which is none."
        raise DatasetError(message)
    path = folder / source.compact.name
    return _verified(path.read_bytes(), source.compact, path) if path.is_file() else None


def original_files(source: Source) -> tuple[bytes, ...]:
    """Return the originals, from the cache or from where they are published."""
    if not source.originals:
        message = (
            f"{source.compact.name} was not found, and no public file has its content; "
            "set SUPM_DATA to the folder that holds it."
        )
        raise DatasetError(message)
    return tuple(_original(file, source) for file in source.originals)


def cache_folder() -> Path:
    """Return the folder of downloads: ``supm`` in the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if home else Path.home() / ".cache") / "supm"


def _original(file: File, source: Source) -> bytes:
    # Two sets may have files of one name; the digest keeps them apart.
    path = cache_folder() / f"{file.sha256[:16]}-{file.name}"
    if path.is_file():
        return _verified(path.read_bytes(), file, path)
    content = _verified(_downloaded(file, source), file, file.address)
    # A cache that cannot be written costs time and nothing else.
    with contextlib.suppress(OSError):
        _store(content, path)
    return content


def _downloaded(file: File, source: Source) -> bytes:
    try:
        with urllib.request.urlopen(  # noqa: S310  the address is from this package's own table
            file.address, timeout=_PATIENCE
        ) as response:
            return bytes(response.read(_LARGEST))
    except (OSError, http.client.HTTPException) as error:
        message = (
            f"{file.address} could not be downloaded ({type(error).__name__}); download it later, "
            f"or set SUPM_DATA to a folder that holds {source.compact.name}."
        )
        raise DatasetError(message) from error


def _verified(content: bytes, file: File, place: Path | str) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        message = (
            f"{place} must have the SHA-256 {file.sha256}, got {digest}; "
            "it is damaged or another version, so remove it or get it again."
        )
        raise DatasetError(message)
    return content


def _store(content: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".download-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
