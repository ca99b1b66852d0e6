"""Tables of text, column by column."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm.datasets._files import compact_file, original_files
from supm.datasets._sources import Source

__all__ = ["Text", "decimals", "optional_text", "published_text", "text_columns", "whole_numbers"]

Text = dict[str, list[str]]


def published_text(source: Source, from_originals: Callable[..., Text]) -> Text:
    """Read the compact file (gzip CSV with a header), or else make the same of the originals."""
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
