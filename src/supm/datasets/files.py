"""Files that are found, or fetched, and trusted by their SHA-256 only; and tables of text.

``sets.toml`` says where each set comes from: the compact file that SUPM_DATA may hold, and the
public originals that have the same content.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import http.client
import io
import os
import tempfile
import tomllib
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import DatasetError

_PATIENCE: Final = 60.0
_LARGEST: Final = 1 << 28
Text = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class File:
    """A file that is known by its digest. ``address`` is a name or a URL."""

    address: str
    sha256: str

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class Source:
    """The compact file, and the originals that have the same content (none if there are none)."""

    compact: File
    originals: tuple[File, ...] = ()


@cache
def about() -> Mapping[str, Mapping[str, Any]]:
    """Return what ``sets.toml`` says of each set."""
    return tomllib.loads(resources.files("supm.datasets").joinpath("sets.toml").read_text())


def source_of(name: str) -> Source:
    """Return where a set comes from."""
    told = about()[name]
    originals = tuple(File(**each) for each in told.get("originals", ()))
    return Source(compact=File(**told["compact"]), originals=originals)


def compact_file(source: Source) -> bytes | None:
    """Return the compact file from the folder that SUPM_DATA names, or None if it is not there."""
    named = os.environ.get("SUPM_DATA", "")
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise DatasetError(f"SUPM_DATA must name a folder, got {named!r}, which is none.")
    path = folder / source.compact.name
    return _verified(path.read_bytes(), source.compact, path) if path.is_file() else None


def original_files(source: Source) -> tuple[bytes, ...]:
    """Return the originals, from the cache or from where they are published."""
    if not source.originals:
        raise DatasetError(
            f"{source.compact.name} was not found, and no public file has its content; "
            "set SUPM_DATA to the folder that holds it."
        )
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
        raise DatasetError(
            f"{file.address} could not be downloaded ({type(error).__name__}); download it later, "
            f"or set SUPM_DATA to a folder that holds {source.compact.name}."
        ) from error


def _verified(content: bytes, file: File, place: Path | str) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        raise DatasetError(
            f"{place} must have the SHA-256 {file.sha256}, got {digest}; "
            "it is damaged or another version, so remove it or get it again."
        )
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


def published_text(name: str, from_originals: Callable[..., Text]) -> Text:
    """Read the compact file (gzip CSV with a header), or else make the same of the originals."""
    source = source_of(name)
    compact = compact_file(source)
    if compact is None:
        return from_originals(*original_files(source))
    return text_columns(gzip.decompress(compact).decode())


def text_columns(text: str, names: Sequence[str] = (), *, delimiter: str = ",") -> Text:
    """Read CSV. Without names, the first row has them."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    rows = [row for row in reader if row]
    header = list(names) or rows.pop(0)
    columns = zip(*rows, strict=True)
    return {name: list(column) for name, column in zip(header, columns, strict=True)}


def decimals(column: Sequence[str]) -> NDArray[np.float64]:
    """Return numbers as float64."""
    return np.fromiter(map(float, column), dtype=np.float64, count=len(column))


def whole_numbers(column: Sequence[str]) -> NDArray[np.int64]:
    """Return whole numbers as int64."""
    return np.fromiter(map(int, column), dtype=np.int64, count=len(column))


def optional_text(column: Sequence[str], absent: str) -> NDArray[Any]:
    """Return text as objects, with None for the mark of a missing value."""
    return np.array([None if word == absent else word for word in column], dtype=object)
