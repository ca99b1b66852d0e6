"""Columns as a quality report reads them: reports as they are, without bias, and plain tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError
from supm.schema.columns import clipped_numbers, positions, raw_column, table_columns
from supm.synthesis._additive_law import AdditiveLaw
from supm.synthesis._number_law import NumberLaw
from supm.synthesis.archive import Archive
from supm.synthesis.archive_schema import ArchiveSchema, ClassColumn, Column, NumberColumn
from supm.synthesis.em import reconstruct_table
from supm.synthesis.marginals import BinnedMarginal
from supm.synthesis.quality_dependence import Reading

__all__ = ["Plain", "as_told", "plain_readings", "plain_table", "spread_of", "unbiased_readings"]

Plain: TypeAlias = dict[str, NDArray[np.float64]]
"""Numbers as they are and classes as their places, as floats, with NaN where there is nothing."""

_LARGEST: Final = 1e150
_LEAST: Final = 1e-12
_BINS: Final = 50
# A variance of so many standard errors is taken as it is.
_CLEAR: Final = 10.0


def plain_table(table: object, schema: ArchiveSchema, noun: str) -> Plain:
    """Read a table without noise that has the columns of an archive.

    Parameters
    ----------
    table : table
        A dataframe of any library, a mapping of columns, or an array in the schema's order.
    schema : ArchiveSchema
        What the columns are.
    noun : str
        What the table is, for the sentence of a refusal.

    Returns
    -------
    dict of str to ndarray of float
    """
    columns = table_columns(table, schema.names)
    read = {each.name: _plain(each, columns[each.name], noun) for each in schema.columns}
    if len({len(column) for column in read.values()}) != 1:
        message = f"the columns of the {noun} table must have the same number of rows."
        raise RecordError(message)
    return read


def as_told(archive: Archive) -> Plain:
    """Return the reports as if they were the truth, which is what noise-blind methods see.

    A column that fewer than two owners told is refused.

    Parameters
    ----------
    archive : Archive
        The noised records.

    Returns
    -------
    dict of str to ndarray of float
    """
    told = {name: _floats(column) for name, column in archive.reports.items()}
    for name, column in told.items():
        if int(np.isfinite(column).sum()) < 2:
            message = f"{name}: at least two owners must have told it before anything can be said."
            raise RecordError(message)
    return told


def plain_readings(
    columns: Mapping[str, NDArray[np.float64]], schema: ArchiveSchema
) -> list[Reading]:
    """Return columns as numbers of mean zero and variance one, taking them for the truth.

    Parameters
    ----------
    columns : mapping of str to ndarray of float
        As `plain_table` or `as_told` returns them.
    schema : ArchiveSchema
        What the columns are.

    Returns
    -------
    list of Reading
    """
    return [
        Reading(name=each.name, values=_standardised(_scores(each, columns[each.name])))
        for each in schema.columns
    ]


def unbiased_readings(archive: Archive) -> list[Reading]:
    """Return columns as numbers that are right on average about what the owners held.

    Parameters
    ----------
    archive : Archive
        The noised records.

    Returns
    -------
    list of Reading
        Of mean zero and, but for the noise, of variance one.
    """
    return [_unbiased(each, archive.reports[each.name]) for each in archive.schema.columns]


def spread_of(column: NumberColumn, told: NDArray[np.float64]) -> tuple[float, float]:
    """Return the variance of what the owners held, and its standard error.

    Parameters
    ----------
    column : NumberColumn
        How it was noised.
    told : ndarray of float
        Unbiased readings, with NaN where an owner was not asked.

    Returns
    -------
    tuple of float
    """
    law, known = column.law, told[~np.isnan(told)]
    mean = float(known.mean())
    away = known - mean
    found = law.true_variance(mean, float((away**2).mean()))
    # Noise that grows with the value takes a share of the variance, and shifts it with the mean.
    growing = law.noise_terms[1]
    terms = away * (away - 2 * growing * (mean - law.low - law.span / 2))
    # Squares of noise vary at least so much, whatever few records say.
    least = _varying(law) * law.noise_variance(mean, found)
    # In units of the largest: for bounds of 1e100, squares of squares are beyond floats.
    unit = float(np.abs(terms).max()) or 1.0
    doubt = max(float((terms / unit).std()) * unit, least) / math.sqrt(known.size)
    return found, doubt / (1 + growing)


def _varying(law: NumberLaw) -> float:
    """Return the least standard deviation of squared noise, in units of their mean."""
    # That of a normal number, or of a uniform one where noise has bounds.
    return math.sqrt(2.0 if isinstance(law, AdditiveLaw) else 0.8)


def ordinal(column: Column) -> bool:
    """Say whether a column can be read as one number for each row."""
    return isinstance(column, NumberColumn) or column.ordered or len(column.values) == 2


def _plain(column: Column, cells: object, noun: str) -> NDArray[np.float64]:
    raw = raw_column(column.name, cells)
    if raw.missing.any():
        message = f"{column.name}: a cell of the {noun} table is missing; every cell is needed."
        raise RecordError(message)
    if isinstance(column, NumberColumn):
        return clipped_numbers(column.name, raw, -_LARGEST, _LARGEST)
    return positions(column.name, raw, column.values).astype(np.float64)


def _floats(column: NDArray[Any]) -> NDArray[np.float64]:
    if column.dtype.kind == "f":
        return column
    return np.where(column < 0, np.nan, column).astype(np.float64)


def _scores(column: Column, held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one number for each row, or one for each class."""
    if ordinal(column):
        return held[:, np.newaxis]
    places = np.arange(len(getattr(column, "values", ())))
    one = np.where(held[:, np.newaxis] == places, 1.0, 0.0)
    one[np.isnan(held)] = np.nan
    return np.asarray(one)


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = np.nanmean(scores, axis=0)
    if scores.shape[1] > 1:
        # An indicator less its share, over the root of the share: Cramér's V is made of these.
        return np.asarray((scores - mean) / np.sqrt(np.maximum(mean, _LEAST)))
    return np.asarray((scores - mean) / max(float(np.nanstd(scores)), _LEAST))


def _unbiased(column: Column, reports: NDArray[Any]) -> Reading:
    if isinstance(column, NumberColumn):
        told = column.law.unbiased(reports)
        found, error = spread_of(column, told)
        if found <= _CLEAR * error:
            # Little or nothing may be left of a variance less its noise; this one is always there.
            found = column.law.span**2 * max(_likely_variance(column, reports), _LEAST)
        values = ((told - np.nanmean(told)) / math.sqrt(found))[:, np.newaxis]
        return Reading(name=column.name, values=values)
    return Reading(name=column.name, values=_unbiased_classes(column, reports))


def _unbiased_classes(column: ClassColumn, reports: NDArray[Any]) -> NDArray[np.float64]:
    asked = reports >= 0
    rows = np.full((reports.size, len(column.values)), np.nan)
    rows[asked] = column.law.unbiased(reports[asked])
    shares = _likely_shares(column, reports[asked])
    if not ordinal(column):
        return (rows - shares) / np.sqrt(shares)
    places = np.arange(len(column.values))
    mean = shares @ places
    spread = math.sqrt(max(float(shares @ (places - mean) ** 2), _LEAST))
    return ((rows @ places - mean) / spread)[:, np.newaxis]


def _likely_variance(column: NumberColumn, reports: NDArray[np.float64]) -> float:
    """Return the variance of the likeliest distribution, in squared ranges."""
    edges = column.law.edges(_BINS)
    counted = column.law.bin_reports(reports[~np.isnan(reports)], edges)
    shares = reconstruct_table(counted.counts, [counted.channel])
    return BinnedMarginal(0.0, 1.0, shares).variance


def _likely_shares(column: ClassColumn, reports: NDArray[Any]) -> NDArray[np.float64]:
    """Return shares of the true classes, none below that of a single owner."""
    counts = np.bincount(reports, minlength=len(column.values))
    shares = reconstruct_table(counts, [column.law.channel()])
    shares = np.maximum(shares, 1 / counts.sum())
    return np.asarray(shares / shares.sum())
