"""Rows of a CSV file as records of owners. No error shows what a cell holds."""

from __future__ import annotations

from pathlib import Path

from supm._errors import ParameterError, RecordError
from supm.owner.words import saying_what_is_allowed
from supm.schema import Attribute
from supm.schema.text_table import TextTable, missing, spelled_column


def records(table: TextTable, attributes: tuple[Attribute, ...]) -> list[dict[str, object]]:
    """Return one record for each row, with the attributes that are asked and no others."""
    for each in attributes:
        check_column(table, each.name)
    with saying_what_is_allowed(attributes):
        columns = {each.name: spelled_column(table, each).tolist() for each in attributes}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def one_row(table: TextTable, row: int | None) -> TextTable:
    """Return the part of a table that is one owner's record; rows are counted from 1."""
    if row is not None and row > table.rows:
        raise ParameterError("row", f"at most {table.rows}, the number of records", row)
    place = (row or 1) - 1
    for chunk in table.chunks:
        if place < len(chunk):
            held = (chunk[place : place + 1],)
            line = table.lines[(row or 1) - 1 : (row or 1)]
            return TextTable(path=table.path, names=table.names, chunks=held, lines=line)
        place -= len(chunk)
    raise RecordError(f"{table.path} has no such record.")


def owner_names(table: TextTable, column: str | None) -> list[str]:
    """Return what each row's owner is called in the wallet, which keeps a keyed hash of it.

    Without a column that names owners, an owner is a place in the file.
    """
    if column is None:
        where = Path(table.path).resolve()
        return [f"row {place} of {where}" for place in range(1, table.rows + 1)]
    check_column(table, column)
    names = table.column(column)
    seen: set[str] = set()
    for name, absent, line in zip(names.tolist(), missing(names), table.lines, strict=True):
        if absent or name in seen:
            fault = "names no owner" if absent else "names an owner who was named before"
            raise RecordError(
                f"{column}: line {line} of {table.path} {fault}; each row needs its own."
            )
        seen.add(name)
    return [f"owner {name}" for name in names.tolist()]


def check_column(table: TextTable, name: str) -> None:
    """Refuse a table without a column."""
    # The names that there are stay unsaid: in a file without a header they would be values.
    if name not in table.names:
        raise RecordError(
            f"{table.path} has no column {name!r}; its first line must name the columns as the "
            "study does."
        )
