"""From a file of noised records to a synthesizer, and from synthetic rows to a file."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TextIO

from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError, SchemaError
from supm.cli._files import read_text
from supm.cli._output import lines_read
from supm.estimators import CopulaSynthesizer
from supm.schema import Categorical
from supm.schema.cells import is_number, missing, numbers, read_column
from supm.schema.text_table import TextTable, read_csv
from supm.synthesis import Archive, ArchiveSchema, ClassColumn
from supm.synthesis.archive_schema import Column
from supm.synthesis.quality_readings import as_told

__all__ = ["fitted", "read_archive", "read_archive_schema", "written"]

_DIGITS: Final = 7
_CHUNK: Final = 1 << 14


def read_archive_schema(path: str) -> ArchiveSchema:
    """Read how each column of an archive was noised.

    Parameters
    ----------
    path : str
        The name of the file.

    Returns
    -------
    ArchiveSchema
    """
    text = read_text("--schema", path)
    try:
        return ArchiveSchema.from_json(text)
    except (SchemaError, ParameterError) as error:
        message = f"{path}: {error}"
        raise SchemaError(message) from None


def read_archive(path: str, schema_path: str) -> Archive:
    """Read noised records, each column of which must be described.

    Parameters
    ----------
    path : str
        A CSV file with a header.
    schema_path : str
        The file that says how each column was noised.

    Returns
    -------
    Archive
    """
    schema = read_archive_schema(schema_path)
    table = read_csv(path, progress=lines_read)
    _check_described(table, schema, schema_path)
    columns = {each.name: _cells(table, each) for each in schema.columns}
    archive = Archive.read(columns, schema)
    # It refuses columns of which nothing can be said, before any work is done.
    as_told(archive)
    return archive


def fitted(archive: Archive, arguments: argparse.Namespace) -> CopulaSynthesizer:
    """Return the synthesizer that learned from an archive.

    Parameters
    ----------
    archive : Archive
        The noised records.
    arguments : Namespace
        The mode and the seed.

    Returns
    -------
    CopulaSynthesizer
    """
    made = CopulaSynthesizer(
        schema=archive.schema, mode=arguments.mode, random_state=arguments.seed
    )
    return made.fit(archive)


def written(rows: Mapping[str, NDArray[Any]], target: str) -> None:
    """Write rows as CSV.

    Parameters
    ----------
    rows : mapping of str to ndarray
        The columns.
    target : str
        The name of the file, or "-".
    """
    if target == "-":
        _write(rows, sys.stdout)
        return
    try:
        with Path(target).open("w", encoding="utf-8", newline="") as file:
            _write(rows, file)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError("-o", "a file that can be written", target, hint) from None


def _write(rows: Mapping[str, NDArray[Any]], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(rows)
    for part in _parts(rows):
        writer.writerows(zip(*part, strict=True))


def _parts(rows: Mapping[str, NDArray[Any]]) -> Iterator[list[list[Any]]]:
    count = len(next(iter(rows.values())))
    for start in range(0, count, _CHUNK):
        yield [_texts(column[start : start + _CHUNK]) for column in rows.values()]


def _texts(column: NDArray[Any]) -> list[Any]:
    if column.dtype.kind != "f":
        return list(column.tolist())
    return [f"{number:.{_DIGITS}g}" for number in column.tolist()]


def _cells(table: TextTable, column: Column) -> NDArray[Any]:
    if isinstance(column, ClassColumn):
        return read_column(table, Categorical(column.name, values=column.values))
    text = table.column(column.name)
    found = numbers(text)
    if found is None:
        raise RecordError(_text_for_numbers(table, column, text))
    return found


def _text_for_numbers(table: TextTable, column: Column, text: NDArray[Any]) -> str:
    held = ~missing(text)
    pairs = zip(text[held].tolist(), table.lines[held].tolist(), strict=True)
    cell, line = next(pair for pair in pairs if not is_number(pair[0]))
    remedy = 'correct it, or describe the column with "kind": "class"'
    if is_number(cell.replace(",", ".")):
        remedy = "write decimals with a point instead of a comma"
    return (
        f"{column.name}: the column holds text where numbers are expected, first in line {line} "
        f"of {table.path}; {remedy}."
    )


def _check_described(table: TextTable, schema: ArchiveSchema, path: str) -> None:
    absent = [name for name in schema.names if name not in table.names]
    if absent:
        message = f"{table.path} has no column {absent[0]!r}, which {path} describes."
        raise RecordError(message)
    strange = [place for place, name in enumerate(table.names, 1) if name not in schema.names]
    if strange:
        # By number: in a file without a header these names would be values.
        message = (
            f"{path} does not say how column {strange[0]} of {table.path} was noised; describe its "
            "mechanism and epsilon, or leave the column out."
        )
        raise SchemaError(message)
