"""From noised records to synthetic rows and what they are worth: one call."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, TextIO, TypeAlias

from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError, SchemaError
from supm._random import secure, simulation
from supm.messages import ReleaseStatement
from supm.reporting import Result, Table, counted
from supm.schema.text_table import (
    Progress,
    TextTable,
    is_number,
    missing,
    numbers,
    read_csv,
    spelled,
)
from supm.synthesis.archive import Archive, ArchiveSchema, archive_statement
from supm.synthesis.columns import ClassColumn, Column
from supm.synthesis.paper_model import learn_paper_model
from supm.synthesis.quality import Quality, assess
from supm.synthesis.quality_dependence import as_told
from supm.synthesis.quality_page import quality_page
from supm.synthesis.synthetic_model import MODES, SyntheticModel, learn_model

Mode: TypeAlias = Literal["strict", "faithful"]

_SPENT: Final = "Synthesis spends nothing more: it reads what was told already, and no record."
_DIGITS: Final = 7
_CHUNK: Final = 1 << 14


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synthesis(Result):
    """Synthetic rows, the model they were drawn from, and what they are worth.

    Parameters
    ----------
    rows : mapping of str to ndarray
        The synthetic rows, by columns.
    model : SyntheticModel
        What was learned; more rows can be drawn from it.
    quality : Quality
        The report about the rows.
    simulation : bool
        Whether the noise of the records is known to have come from a seed.
    mode : {"strict", "faithful"}
        The best we know, or what paper 004 printed, corrected.
    name : str
        What the archive is called.
    """

    rows: Mapping[str, NDArray[Any]]
    model: SyntheticModel
    quality: Quality
    simulation: bool
    mode: Mode = "strict"
    name: str = "an archive"

    @property
    def headline(self) -> str:
        """How many records there were, of how many columns."""
        columns = counted(len(self.quality.schema.columns), "column")
        return f"{counted(self.quality.rows, 'noised record')} of {columns}"

    @property
    def statement(self) -> ReleaseStatement:
        """What each record spent when it was noised, in total."""
        return archive_statement(self.quality.schema, simulation=self.simulation)

    def to_form(self) -> dict[str, Any]:
        """Return the report and the statement as plain values for JSON."""
        stated = {"mode": self.mode, "statement": self.statement.to_form()}
        return {**stated, **self.quality.to_form()}

    def tables(self) -> tuple[Table, ...]:
        """Return the figures of all columns."""
        return self.quality.tables()

    def words(self) -> tuple[str, ...]:
        """Return what was spent, and what can and cannot be known."""
        return (*self.spent, *self.quality.sentences)

    @property
    def spent(self) -> tuple[str, str]:
        """What each record had spent, and that this spends nothing more."""
        return f"What each record had spent: {self.quality.spent}", _SPENT

    def page(self) -> str:
        """Return the report as a page of HTML that needs nothing else."""
        made = f"Made in {self.mode} mode by supm synthesize."
        return quality_page(self.quality, name=self.name, made=made)

    def write_rows(self, file: TextIO) -> None:
        """Write the rows as CSV; numbers have seven digits."""
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.rows)
        for start in range(0, self.quality.synthetic_rows, _CHUNK):
            part = [_texts(column[start : start + _CHUNK]) for column in self.rows.values()]
            writer.writerows(zip(*part, strict=True))


def synthesize(  # noqa: PLR0913  each has a default that suits most
    records: object,
    schema: ArchiveSchema | str | PathLike[str] | None = None,
    *,
    rows: int | None = None,
    mode: Mode = "strict",
    seed: int | None = None,
    name: str | None = None,
    report: str | None = None,
    progress: Callable[[str], object] = str,
) -> Synthesis:
    """Learn from noised records, draw synthetic rows and say what they are worth.

    It reads what was told already, so it spends nothing.

    Parameters
    ----------
    records : Archive, table or path-like
        Noised records; a text is the name of a CSV file.
    schema : ArchiveSchema or path-like, optional
        How each column was noised, or the file that says it; an archive knows it.
    rows : int, optional
        How many rows to draw; as many as records by default.
    mode : {"strict", "faithful"}, default "strict"
        The best we know, or what paper 004 printed, corrected; it takes numbers only.
    seed : int, optional
        Repeat a run; by default rows are drawn from secure randomness.
    name : str, optional
        What the archive is called in the report; by default the name of the file.
    report : str, optional
        Where to write the report, a page of HTML.
    progress : callable, optional
        Is told what is under way.

    Returns
    -------
    Synthesis

    Examples
    --------
    >>> import numpy as np
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=8.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("a", law), NumberColumn("b", law)))
    >>> clean = np.linspace(0, 1, 2000)
    >>> archive = Archive.noised({"a": clean, "b": 1 - clean}, schema, simulation(1))
    >>> made = synthesize(archive, rows=1000, seed=1)
    >>> made
    <2000 noised records of 2 columns>
    >>> bool(np.corrcoef(made.rows["a"], made.rows["b"])[0, 1] < -0.9)
    True
    """
    if mode not in MODES:
        raise ParameterError("mode", f"one of {', '.join(MODES)}", mode)
    archive = _archive(records, schema)
    progress("estimating")
    model = learn_paper_model(archive) if mode == "faithful" else learn_model(archive)
    progress("drawing rows")
    source = secure() if seed is None else simulation(seed).child("sample")
    drawn = model.sample(archive.rows if rows is None else rows, source)
    progress("judging")
    made = Synthesis(
        rows=drawn,
        model=model,
        quality=assess(archive, drawn, model=model),
        simulation=archive.simulation,
        mode=mode,
        name=name or (Path(records).name if isinstance(records, str) else Synthesis.name),
    )
    if report is not None:
        Path(report).write_text(made.page(), encoding="utf-8")
    return made


def read_archive(
    path: str, schema: ArchiveSchema, *, described: str = "the schema", progress: Progress = iter
) -> Archive:
    """Read noised records from a CSV file, each column of which must be described.

    Parameters
    ----------
    path : str
        The name of the file.
    schema : ArchiveSchema
        How each column was noised.
    described : str, default "the schema"
        What the schema is called in an error.
    progress : callable, optional
        Goes through the file in pieces of many lines.

    Returns
    -------
    Archive
    """
    table = read_csv(path, progress=progress)
    _check_described(table, schema, described)
    archive = Archive.read({each.name: _cells(table, each) for each in schema.columns}, schema)
    # It refuses columns of which nothing can be said, before any work is done.
    as_told(archive)
    return archive


def _archive(records: object, schema: ArchiveSchema | str | PathLike[str] | None) -> Archive:
    if isinstance(records, Archive):
        return records
    if schema is None:
        raise ParameterError("schema", "given where the records are no Archive", schema)
    described = schema if isinstance(schema, ArchiveSchema) else ArchiveSchema.load(schema)
    if isinstance(records, str | PathLike):
        return read_archive(str(records), described)
    return Archive.read(records, described)


def _texts(column: NDArray[Any]) -> list[Any]:
    if column.dtype.kind != "f":
        return list(column.tolist())
    return [f"{number:.{_DIGITS}g}" for number in column.tolist()]


def _cells(table: TextTable, column: Column) -> NDArray[Any]:
    if isinstance(column, ClassColumn):
        return spelled(table.column(column.name), column.values)
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
        raise RecordError(f"{table.path} has no column {absent[0]!r}, which {path} describes.")
    strange = [place for place, name in enumerate(table.names, 1) if name not in schema.names]
    if strange:
        # By number: in a file without a header these names would be values.
        raise SchemaError(
            f"{path} does not say how column {strange[0]} of {table.path} was noised; describe its "
            "mechanism and epsilon, or leave the column out."
        )
