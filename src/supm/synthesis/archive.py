"""An archive: noised records, checked against how they were noised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm._random import RandomSource, check_source
from supm._validation import check_kind
from supm.schema.columns import clipped_numbers, positions, raw_column, table_columns
from supm.synthesis.archive_schema import ArchiveSchema, ClassColumn, Column, NumberColumn

__all__ = ["Archive"]

_LARGEST = 1e150


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Archive:
    """Noised records in columns, with the schema that says how they were noised.

    Parameters
    ----------
    schema : ArchiveSchema
        Describes every column.
    reports : mapping of str to ndarray
        Numbers as floats, classes as places in their list of values. A cell that was not asked is
        NaN or -1.
    rows : int
        How many records there are.
    simulation : bool, default False
        Whether the noise is known to have come from a seed; then nothing is private.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.synthesis import LaplaceLaw
    >>> law = LaplaceLaw.for_epsilon(low=0, high=1, epsilon=2.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("share", law),))
    >>> archive = Archive.noised({"share": np.full(1000, 0.25)}, schema, simulation(1))
    >>> archive
    Archive(rows=1000, columns=1)
    >>> round(float(archive.unbiased("share").mean()), 1)
    0.2
    >>> archive.noise_variance("share")
    0.5
    """

    schema: ArchiveSchema
    reports: Mapping[str, NDArray[Any]]
    rows: int
    simulation: bool = False

    @classmethod
    def read(cls, table: object, schema: ArchiveSchema) -> Archive:
        """Check a table of noised records.

        Parameters
        ----------
        table : table
            A dataframe of any library, a mapping of columns, a list of mappings, or an array whose
            columns are those of the schema, in order.
        schema : ArchiveSchema
            How each column was noised.

        Returns
        -------
        Archive

        Raises
        ------
        RecordError
            If a column is absent, or a cell is missing or cannot have been reported. The message
            has a count, never a value.
        """
        check_kind("schema", schema, ArchiveSchema)
        columns = table_columns(table, schema.names)
        some = schema.asked is not None
        reports = {each.name: _read(each, columns[each.name], some=some) for each in schema.columns}
        return cls(schema=schema, reports=reports, rows=_check_rows(reports, schema.asked))

    @classmethod
    def noised(cls, table: object, schema: ArchiveSchema, source: RandomSource) -> Archive:
        """Make an archive from clean records, as their owners' devices would have done.

        Parameters
        ----------
        table : table
            Clean records; numbers beyond the bounds are clipped. Every cell is reported, so the
            schema has no ``asked``.
        schema : ArchiveSchema
            How to noise each column.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        Archive
        """
        check_kind("schema", schema, ArchiveSchema)
        check_source(source)
        if schema.asked is not None:
            message = "asked must be null where every cell is to be reported."
            raise SchemaError(message)
        columns = table_columns(table, schema.names)
        reports = {each.name: _noised(each, columns[each.name], source) for each in schema.columns}
        rows = _check_rows(reports, None)
        return cls(schema=schema, reports=reports, rows=rows, simulation=source.simulation)

    def unbiased(self, name: str) -> NDArray[np.float64]:
        """Return a number column without bias: the mean of each cell is the clipped truth."""
        return self._number(name).law.unbiased(self.reports[name])

    def noise_variance(self, name: str) -> float:
        """Return the mean squared noise of `unbiased`; it may depend on where the truth lies."""
        law, told = self._number(name).law, self.unbiased(name)
        known = told[~np.isnan(told)]
        mean, variance = float(known.mean()), float(known.var())
        return law.noise_variance(mean, law.true_variance(mean, variance))

    def class_counts(self, name: str) -> NDArray[np.float64]:
        """Return unbiased counts of the true classes; some may be below zero."""
        told = self.reports[name]
        return self._class(name).law.unbiased_counts(told[told >= 0])

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the reports as they would stand in a file: numbers, and values of classes."""
        return {each.name: _told(each, self.reports[each.name]) for each in self.schema.columns}

    def __repr__(self) -> str:
        """Say how large it is, and show no cell."""
        return f"Archive(rows={self.rows}, columns={len(self.schema.columns)})"

    def _number(self, name: str) -> NumberColumn:
        column = self.schema.column(name)
        if isinstance(column, NumberColumn):
            return column
        message = f"{name}: a number column is needed, and this one holds classes."
        raise SchemaError(message)

    def _class(self, name: str) -> ClassColumn:
        column = self.schema.column(name)
        if isinstance(column, ClassColumn):
            return column
        message = f"{name}: a class column is needed, and this one holds numbers."
        raise SchemaError(message)


def _read(column: Column, cells: object, *, some: bool) -> NDArray[Any]:
    raw = raw_column(column.name, cells)
    empty = int(raw.missing.sum())
    if empty and not some:
        message = (
            f"{column.name}: {empty} of {raw.missing.size} cells are missing; an archive has a "
            "report in every cell, or its schema says how many were asked."
        )
        raise RecordError(message)
    if isinstance(column, NumberColumn):
        return _read_numbers(column, clipped_numbers(column.name, raw, -_LARGEST, _LARGEST))
    codes = positions(column.name, raw, column.values)
    return np.where(raw.missing, -1, codes)


def _read_numbers(column: NumberColumn, told: NDArray[np.float64]) -> NDArray[np.float64]:
    strange = int((~column.law.supported(told) & ~np.isnan(told)).sum())
    if strange:
        message = (
            f"{column.name}: {strange} of {told.size} cells cannot have been reported by "
            f"{column.law.mechanism} with these parameters; check the bounds and the epsilon."
        )
        raise RecordError(message)
    return told


def _noised(column: Column, cells: object, source: RandomSource) -> NDArray[Any]:
    child = source.child(column.name)
    raw = raw_column(column.name, cells)
    if raw.missing.any():
        message = f"{column.name}: a clean record must have a value in every cell."
        raise RecordError(message)
    if isinstance(column, NumberColumn):
        law = column.law
        return law.randomize(clipped_numbers(column.name, raw, law.low, law.high), child)
    return column.law.randomize(positions(column.name, raw, column.values), child)


def _told(column: Column, reports: NDArray[Any]) -> NDArray[Any]:
    if isinstance(column, NumberColumn):
        return reports
    values = np.empty(len(column.values) + 1, dtype=object)
    values[:-1] = column.values
    told: NDArray[Any] = values[reports]
    return told


def _check_rows(reports: Mapping[str, NDArray[Any]], asked: int | None) -> int:
    sizes = {len(column) for column in reports.values()}
    if len(sizes) > 1 or sizes == {0}:
        message = "the columns of an archive must have the same number of rows, at least one."
        raise RecordError(message)
    if asked is not None:
        told = sum((np.isnan(c) if c.dtype.kind == "f" else c < 0) == 0 for c in reports.values())
        wrong = int((np.asarray(told) != asked).sum())
        if wrong:
            message = (
                f"{wrong} of {max(sizes)} records do not have {asked} non-empty cells, as asked."
            )
            raise RecordError(message)
    return max(sizes)
