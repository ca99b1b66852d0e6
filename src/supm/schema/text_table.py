"""A CSV file as columns of text, and what its cells say. No error shows what a cell holds."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np
from numpy.dtypes import StringDType
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._validation import suggestion
from supm.schema.attributes import Attribute, Continuous

_DELIMITERS: Final = (",", ";", "\t")
# So many lines go by between two looks at how far it is.
_PIECE: Final = 1 << 12
Progress: TypeAlias = Callable[[Iterable[list[bytes]]], Iterable[list[bytes]]]
# Cells that are held as Python's text at one time: about 130 MB.
_CHUNK: Final = 1 << 21


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TextTable:
    """A table of text, as `read_csv` makes it.

    Parameters
    ----------
    path : str
        Where it came from.
    names : tuple of str
        The names of the columns: none is blank, and no two are equal.
    chunks : tuple of ndarray
        The records, in pieces of many rows each.
    lines : ndarray of int
        The line of the file on which each record ends.
    """

    path: str
    names: tuple[str, ...]
    chunks: tuple[NDArray[Any], ...]
    lines: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """The number of records."""
        return sum(len(chunk) for chunk in self.chunks)

    def column(self, name: str) -> NDArray[Any]:
        """Return the text of the column of exactly this name."""
        place = self._places.get(name)
        if place is None:
            raise RecordError(f"{self.path} has no column {name!r}. {suggestion(name, self.names)}")
        return np.concatenate([chunk[:, place] for chunk in self.chunks])

    def columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Go through all columns, each with its name."""
        for name in self.names:
            yield name, self.column(name)

    def spelled_columns(
        self, attributes: Iterable[Attribute], target: Attribute | None
    ) -> dict[str, NDArray[Any]]:
        """Return the values of the columns that a schema names, the target's if it is wanted."""
        held = {}
        if target is not None:
            held[target.name] = spelled_column(self, target)
            self._check_labels(target)
        return held | {each.name: spelled_column(self, each) for each in attributes}

    def _check_labels(self, target: Attribute) -> None:
        unlabelled = int(missing(self.column(target.name)).sum())
        if unlabelled and "" not in getattr(target, "values", ()):
            name = target.name
            raise RecordError(
                f"{name}: {unlabelled} of {self.rows} records have no label; leave them out."
            )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


def read_csv(
    path: str | PathLike[str], *, target: str | None = None, progress: Progress = iter
) -> TextTable:
    """Read a CSV file, also one packed with gzip.

    The first line names the columns. The values are separated by commas, semicolons or tabs,
    whichever the first line has most of; spaces around a value do not count.

    Parameters
    ----------
    path : path-like
        The name of the file.
    target : str, optional
        A column that must be there, which is checked before the records are read.
    progress : callable, optional
        Goes through the file in pieces of many lines and may show how far it is.

    Returns
    -------
    TextTable

    Raises
    ------
    ParameterError
        If the file cannot be read, or has no such column.
    RecordError
        If it is not a table with a header; the message names the line or the column.
    """
    name = fspath(path)
    try:
        with _opened(name) as lines:
            pieces = iter(lambda: list(islice(lines, _PIECE)), [])
            return _parsed(name, _decoded(name, progress(pieces)), target)
    except (OSError, EOFError, zlib.error) as error:
        hint = f"{getattr(error, 'strerror', None) or 'It is damaged'}."
        raise ParameterError("data", "a file that can be read", name, hint) from None


def read_frame(path: str | PathLike[str]) -> object:
    """Read a Parquet or Feather file as a frame of pyarrow, which is loaded when it is needed."""
    name = fspath(path)
    try:
        from pyarrow import feather, parquet  # noqa: PLC0415  few owners have such files
    except ImportError:
        hint = "Install pyarrow, or save the file as CSV."
        raise ParameterError("data", "a CSV file where there is no pyarrow", name, hint) from None
    try:
        return parquet.read_table(name) if name.endswith(".parquet") else feather.read_table(name)
    except (OSError, ValueError) as error:  # pyarrow's own error is a ValueError
        hint = f"{getattr(error, 'strerror', None) or 'It is damaged'}."
        raise ParameterError("data", "a file that can be read", name, hint) from None


def _opened(path: str) -> gzip.GzipFile | BinaryIO:
    packed = path.lower().endswith(".gz")
    return gzip.open(path, "rb") if packed else Path(path).open("rb")


def _decoded(path: str, pieces: Iterable[list[bytes]]) -> Iterator[str]:
    for number, line in enumerate(chain.from_iterable(pieces), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise RecordError(
                f"{path}, line {number}: this is not UTF-8 text; save the file as UTF-8 CSV."
            ) from None
        yield text


def _parsed(path: str, lines: Iterator[str], target: str | None) -> TextTable:
    first = next(lines, "")
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(
        chain([first], lines), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    try:
        names = _header(path, next(reader, []))
        if target is not None and target not in names:
            raise ParameterError("target", f"a column of {path}", target, suggestion(target, names))
        places: list[int] = []
        chunks = tuple(_chunks(path, reader, len(names), places))
    except csv.Error as error:
        # The messages of the csv module name the fault and never the text.
        raise RecordError(
            f"{path}, line {reader.line_num}: this is not CSV ({error}); is a quote unclosed?"
        ) from None
    if not chunks:
        raise RecordError(
            f"{path} has a header and no records; at least one line of values is needed."
        )
    return TextTable(path=path, names=names, chunks=chunks, lines=np.array(places, dtype=np.int64))


def _header(path: str, cells: Sequence[str]) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in cells)
    if not any(names):
        raise RecordError(
            f"{path}, line 1: there must be the names of the columns, and it is empty."
        )
    if "" in names:
        place = names.index("") + 1
        raise RecordError(
            f"{path}, line 1: column {place} has no name; name it or leave the column out."
        )
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        earlier = places.setdefault(name, place)
        if earlier < place:
            # By number: in a file without a header these names would be values.
            raise RecordError(
                f"{path}, line 1: columns {earlier} and {place} have one name; rename one."
            )
    return names


def _chunks(
    path: str,
    reader: Any,  # noqa: ANN401  the csv module has no public name for its reader
    width: int,
    places: list[int],
) -> Iterator[NDArray[Any]]:
    """Yield the records in pieces, and write down the line of each."""
    held: list[list[str]] = []
    most = max(1, _CHUNK // width)
    for cells in reader:
        if len(cells) == width:
            held.append(cells)
            places.append(reader.line_num)
        elif cells:
            raise RecordError(
                f"{path}, line {reader.line_num}: {len(cells)} values where the header has "
                f"{width} columns."
            )
        if len(held) == most:
            yield _compact(held)
            held = []
    if held:
        yield _compact(held)


def _compact(rows: list[list[str]]) -> NDArray[Any]:
    """Hold text in 16 bytes a cell, where Python's own takes 60."""
    return np.strings.strip(np.array(rows, dtype=StringDType()))


MISSING: Final = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
_TRUTH: Final = {"true": True, "false": False}


def missing(text: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has no value."""
    absent = np.zeros(text.shape, dtype=np.bool_)
    for mark in MISSING:
        absent |= text == mark
    return absent


def is_number(cell: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    # Python reads 1_000 as a number, and nobody writes measurements so.
    return "_" not in cell


def numbers(text: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column as numbers, or None where a value is none."""
    present = np.where(missing(text), "nan", text)
    try:
        found: NDArray[np.float64] = present.astype(np.float64)
    except ValueError:
        return None
    return None if (np.strings.find(text, "_") >= 0).any() else found


def spelled_column(table: TextTable, attribute: Attribute) -> NDArray[Any]:
    """Read the values of one attribute: numbers, or the declared values that the cells spell."""
    text = table.column(attribute.name)
    if not isinstance(attribute, Continuous):
        return spelled(text, attribute.values)
    found = numbers(text)
    if found is None:
        fact = (
            f"{attribute.name}: the column holds text where numbers are expected, first in "
            f"line {_first_text(text, table.lines)} of {table.path}"
        )
        advice = "correct it, or declare the attribute as categorical"
        raise RecordError(fact, advice, attribute=attribute.name)
    return found


def _first_text(text: NDArray[Any], lines: NDArray[np.int64]) -> int:
    held = ~missing(text)
    pairs = zip(text[held].tolist(), lines[held].tolist(), strict=True)
    return int(next(line for cell, line in pairs if not is_number(cell)))


def spelled(text: NDArray[Any], values: Sequence[object]) -> NDArray[Any]:
    """Turn each text into the declared value that it spells; what spells none stays text."""
    cells = text.tolist()
    meaning = {cell: _meaning(cell, values) for cell in set(cells)}
    return np.fromiter(map(meaning.__getitem__, cells), dtype=object, count=len(cells))


def _meaning(cell: str, values: Sequence[object]) -> object:
    if cell in values:
        return cell
    if cell in MISSING:
        return None
    if cell.lower() in _TRUTH and _TRUTH[cell.lower()] in values:
        return _TRUTH[cell.lower()]
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if number in values else cell
