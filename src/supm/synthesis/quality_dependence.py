"""How strongly columns depend on each other, and how well that can be known through the noise.

Every column is read as numbers that are right on average: a number as its unbiased reading, classes
that have an order (or are two) as their place, other classes as one indicator each. What two
columns share is then a mean of products, and its standard error is that of a mean.

Noise has a variance of its own, and no true value adds less than nothing to it. Where the records
vary less than their noise, or lie where no true value can be, epsilon or bounds are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm.schema.columns import table_columns
from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn, Column, NumberColumn
from supm.synthesis.distributions import BinnedMarginal
from supm.synthesis.tables import reconstruct_table

_CHUNK: Final = 1 << 16
# Two rows always lie on a line: over the number of rows, the least doubt of a correlation.
_FEW: Final = 2.0
KNOWN: Final = 2.0
"""How many standard errors away from zero a strength is called known."""
Plain: TypeAlias = dict[str, NDArray[np.float64]]
"""Numbers as they are and classes as their places, as floats, with NaN where there is nothing."""
_LEAST: Final = 1e-12
_BINS: Final = 50
# A variance of so many standard errors is taken as it is.
_CLEAR: Final = 10.0
_FAR: Final = 5.0
# Of fewer reports, means are too far from normal for a rule of standard errors.
_FEWEST: Final = 30
_ADVICE: Final = "check epsilon and bounds in the schema"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnValues:
    """A column as numbers of mean zero and of variance one, but for the noise."""

    name: str
    values: NDArray[np.float64]

    @property
    def freedom(self) -> int:
        """How many of the numbers are free: one, or one less than there are classes."""
        return max(1, int(self.values.shape[1]) - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Dependence:
    """The dependence of all pairs of columns.

    Parameters
    ----------
    names : tuple of str
        The columns.
    strength : ndarray of float, shape (g, g)
        Correlations; Cramér's V, which has no sign, where classes without an order are involved.
    error : ndarray of float, shape (g, g)
        Their standard errors; infinite where fewer than two rows tell both.
    signed : ndarray of bool, shape (g, g)
        Where the strength is a correlation.
    rows : ndarray of int, shape (g, g)
        How many rows tell both.

    Examples
    --------
    >>> line = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> both = [ColumnValues(name="a", values=line), ColumnValues(name="b", values=-line)]
    >>> found = dependence(both)
    >>> print(found.strength[0, 1])
    -1.0
    """

    names: tuple[str, ...]
    strength: NDArray[np.float64]
    error: NDArray[np.float64]
    signed: NDArray[np.bool_]
    rows: NDArray[np.int64]

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Where the noise leaves no doubt that there is some dependence."""
        return np.asarray(np.abs(self.strength) > KNOWN * self.error)

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs, the strongest first."""
        pairs = list(combinations(range(len(self.names)), 2))
        return sorted(pairs, key=lambda pair: -abs(self.strength[pair]))

    def strongest(self, most: int) -> list[tuple[int, int]]:
        """Return the strongest pairs of either kind: known ones first, then those that are not."""
        order = self.pairs()
        known = [pair for pair in order if self.known[pair]]
        hidden = [pair for pair in order if not self.known[pair]]
        first = known[: max(most // 2, most - len(hidden))]
        return first + hidden[: most - len(first)]

    def sentences(self) -> list[str]:
        """Say what is known of every pair, the strongest first."""
        return [self.sentence(*pair) for pair in self.pairs()]

    def sentence(self, first: int, second: int) -> str:
        """Say what is known of one pair."""
        noun = "correlation" if self.signed[first, second] else "dependence"
        pair = f"the {noun} of {self.names[first]} and {self.names[second]}"
        if not math.isfinite(self.error[first, second]):
            return f"{pair} was not told by enough owners: not known"
        if self.error[first, second] >= 1:
            return f"{pair} can be anything: not known"
        told = f"{self.strength[first, second]:.2f} ± {self.error[first, second]:.2f}"
        return f"{pair} is {told}{'' if self.known[first, second] else ': not known'}"


def dependence(readings: Sequence[ColumnValues]) -> Dependence:
    """Return the dependence of all pairs of columns, with standard errors."""
    if len({len(each.values) for each in readings}) != 1:
        raise ParameterError("readings", "of the same rows", [each.name for each in readings])
    moments = _moments(readings)
    starts = np.cumsum([0, *(each.values.shape[1] for each in readings)])
    count = len(readings)
    strength, error = np.eye(count), np.zeros((count, count))
    signed = np.zeros((count, count), dtype=np.bool_)
    for i, j in combinations(range(count), 2):
        block = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        signed[i, j] = signed[j, i] = moments.mean[block].size == 1
        freedom = min(readings[i].freedom, readings[j].freedom)
        found = moments.scalar(block) if signed[i, j] else moments.block(block, freedom)
        strength[i, j] = strength[j, i] = found[0]
        error[i, j] = error[j, i] = found[1]
    return Dependence(
        names=tuple(each.name for each in readings),
        strength=strength,
        error=error,
        signed=signed,
        rows=moments.rows[np.ix_(starts[:-1], starts[:-1])].astype(np.int64),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Moments:
    """Means of products of two readings: z w, z^2 w^2 and z^3 w, and how many rows are behind."""

    rows: NDArray[np.float64]
    mean: NDArray[np.float64]
    square: NDArray[np.float64]
    cube: NDArray[np.float64]

    def scalar(self, block: tuple[slice, slice]) -> tuple[float, float]:
        """Return a correlation, and the larger of two standard errors.

        One takes the standard deviations for known; the other lets them vary as well, as they do
        where the same noisy rows tell them.
        """
        i, j = block[0].start, block[1].start
        if self.rows[i, j] < 2:
            return 0.0, math.inf
        found = float(self.mean[i, j])
        fixed = self.square[i, j] - found**2
        own, other = self.mean[i, i], self.mean[j, j]
        spread = self.square[i, i] - own**2 + self.square[j, j] - other**2
        spread += 2 * (self.square[i, j] - own * other)
        shared = self.cube[i, j] + self.cube[j, i] - found * (own + other)
        free = fixed + found**2 / 4 * spread - found * shared
        doubt = math.sqrt(max(fixed, free, 0.0) / self.rows[i, j])
        # No correlation is beyond one, whatever the noise says.
        return min(max(found, -1.0), 1.0), max(doubt, _FEW / float(self.rows[i, j]))

    def block(self, block: tuple[slice, slice], freedom: int) -> tuple[float, float]:
        """Return Cramér's V less what noise adds to it, and a cautious standard error."""
        rows = self.rows[block].min()
        if rows < 2:
            return 0.0, math.inf
        found = self.mean[block]
        noise = np.maximum(self.square[block] - found**2, 0.0) / rows
        squared = max(float((found**2).sum() - noise.sum()), 0.0) / freedom
        doubt = math.sqrt(float((4 * found**2 * noise + 2 * noise**2).sum())) / freedom
        found_root = math.sqrt(squared)
        # What has a standard error is the square; where it is small, so is the root, but less so.
        reach = math.sqrt(doubt)
        error = min(doubt / found_root, reach) if found_root else reach
        return min(found_root, 1.0), max(error, _FEW / float(rows))


def _moments(readings: Sequence[ColumnValues]) -> _Moments:
    width = sum(each.values.shape[1] for each in readings)
    sums = np.zeros((4, width, width))
    for start in range(0, len(readings[0].values), _CHUNK):
        chunk = np.hstack([each.values[start : start + _CHUNK] for each in readings])
        told = np.isfinite(chunk).astype(np.float64)
        held = np.where(told > 0, chunk, 0.0)
        squares = held**2
        sums += [told.T @ told, held.T @ held, squares.T @ squares, (squares * held).T @ held]
    rows, *others = sums
    mean, square, cube = (each / np.maximum(rows, 1.0) for each in others)
    return _Moments(rows=rows, mean=mean, square=square, cube=cube)


def plain_table(table: object, schema: ArchiveSchema, noun: str) -> Plain:
    """Read a table without noise that has the columns of an archive."""
    columns = table_columns(table, schema.names)
    read = {each.name: each.plain(columns[each.name], noun) for each in schema.columns}
    if len({len(column) for column in read.values()}) != 1:
        raise RecordError(f"the columns of the {noun} table must have the same number of rows.")
    return read


def as_told(archive: Archive) -> Plain:
    """Return the reports as if they were the truth, which is what noise-blind methods see.

    A column that fewer than two owners told is refused.
    """
    told = {name: _floats(column) for name, column in archive.reports.items()}
    for name, column in told.items():
        if int(np.isfinite(column).sum()) < 2:
            raise RecordError(
                f"{name}: at least two owners must have told it before anything can be said."
            )
    return told


def plain_readings(
    columns: Mapping[str, NDArray[np.float64]], schema: ArchiveSchema
) -> list[ColumnValues]:
    """Return columns as numbers of mean zero and variance one, taking them for the truth."""
    return [
        ColumnValues(name=each.name, values=_standardised(_scores(each, columns[each.name])))
        for each in schema.columns
    ]


def unbiased_readings(
    archive: Archive, variances: Mapping[str, float] | None = None
) -> list[ColumnValues]:
    """Return columns as numbers that are right on average about what the owners held."""
    return [
        _unbiased(each, archive.reports[each.name], (variances or {}).get(each.name))
        for each in archive.schema.columns
    ]


def spread_of(column: NumberColumn, told: NDArray[np.float64]) -> tuple[float, float]:
    """Return the variance of what the owners held, and its standard error."""
    law, known = column.mechanism, told[~np.isnan(told)]
    mean = float(known.mean())
    away = known - mean
    found = law.true_variance(mean, float((away**2).mean()))
    # Noise that grows with the value takes a share of the variance, and shifts it with the mean.
    growing = law.noise_terms[1]
    terms = away * (away - 2 * growing * (mean - law.low - law.span / 2))
    # Squares of noise vary at least so much, whatever few records say.
    least = law.least_variation * law.noise_variance(mean, found)
    # In units of the largest: for bounds of 1e100, squares of squares are beyond floats.
    unit = float(np.abs(terms).max()) or 1.0
    doubt = max(float((terms / unit).std()) * unit, least) / math.sqrt(known.size)
    return found, doubt / (1 + growing)


def _floats(column: NDArray[Any]) -> NDArray[np.float64]:
    if column.dtype.kind == "f":
        return column
    return np.where(column < 0, np.nan, column).astype(np.float64)


def _scores(column: Column, held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one number for each row, or one for each class."""
    if column.scalar:
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


def _unbiased(column: Column, reports: NDArray[Any], likely: float | None) -> ColumnValues:
    if isinstance(column, NumberColumn):
        told = column.unbiased(reports)
        found, error = spread_of(column, told)
        if found <= _CLEAR * error:
            # Little or nothing may be left of a variance less its noise; this one is always there.
            found = column.mechanism.span**2 * max(
                likely or _likely_variance(column, reports), _LEAST
            )
        values = ((told - np.nanmean(told)) / math.sqrt(found))[:, np.newaxis]
        return ColumnValues(name=column.name, values=values)
    return ColumnValues(name=column.name, values=_unbiased_classes(column, reports))


def _unbiased_classes(column: ClassColumn, reports: NDArray[Any]) -> NDArray[np.float64]:
    rows = column.unbiased(reports)
    shares = _likely_shares(column, reports[reports >= 0])
    if not column.scalar:
        return (rows - shares) / np.sqrt(shares)
    places = np.arange(len(column.values))
    mean = shares @ places
    spread = math.sqrt(max(float(shares @ (places - mean) ** 2), _LEAST))
    return ((rows @ places - mean) / spread)[:, np.newaxis]


def _likely_variance(column: NumberColumn, reports: NDArray[np.float64]) -> float:
    """Return the variance of the likeliest distribution, in squared ranges."""
    edges = column.mechanism.edges(_BINS)
    counted = column.mechanism.bin_reports(reports[~np.isnan(reports)], edges)
    shares = reconstruct_table(counted.counts, [counted.channel])
    return BinnedMarginal(0.0, 1.0, shares).variance


def _likely_shares(column: ClassColumn, reports: NDArray[Any]) -> NDArray[np.float64]:
    """Return shares of the true classes, none below that of a single owner."""
    counts = np.bincount(reports, minlength=len(column.values))
    shares = reconstruct_table(counts, [column.matrix()])
    shares = np.maximum(shares, 1 / counts.sum())
    return np.asarray(shares / shares.sum())


def noise_doubts(archive: Archive) -> dict[str, str]:
    """Say which columns cannot have been noised as the schema says.

    Examples
    --------
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import ArchiveSchema
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=1.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("age", law),))
    >>> print(noise_doubts(Archive.read({"age": np.linspace(20, 60, 500)}, schema))["age"])
    age varies less than the noise that the schema states: check epsilon and bounds in the schema.
    """
    found = {each.name: _doubt(each, archive.reports[each.name]) for each in archive.schema.columns}
    return {name: f"{doubt}: {_ADVICE}." for name, doubt in found.items() if doubt}


def _doubt(column: Column, reports: NDArray[Any]) -> str:
    if isinstance(column, NumberColumn):
        return _of_number(column, reports)
    return _of_classes(column, reports)


def _of_number(column: NumberColumn, reports: NDArray[np.float64]) -> str:
    law, told = column.mechanism, column.mechanism.unbiased(reports[~np.isnan(reports)])
    if told.size < _FEWEST:
        return ""
    mean, spread, root = float(told.mean()), float(told.var()), math.sqrt(told.size)
    middle = min(max(mean, law.low), law.high)
    noise = law.noise_variance(middle, 0.0)
    room = (middle - law.low) * (law.high - middle)
    least = law.most_variation(noise) / root
    # In units of the larger variance: squares of squares are beyond floats for bounds of 1e100.
    unit = max(spread, noise)
    doubt = max(least, float(((told - mean) ** 2 / unit).std()) * unit / root)
    if spread < noise - _FAR * least:
        return f"{column.name} varies less than the noise that the schema states"
    if abs(mean - middle) > _FAR * math.sqrt(max(spread, noise)) / root:
        error = math.sqrt(spread) / root
        return f"the mean of {column.name} is {mean:.3g} ± {error:.2g}, beyond its bounds"
    if spread > law.noise_variance(middle, room) + room + _FAR * doubt:
        return f"{column.name} varies more than its bounds and the stated noise allow"
    return ""


def _of_classes(column: ClassColumn, reports: NDArray[np.int64]) -> str:
    told, lie = reports[reports >= 0], float(column.mechanism.miss)
    if told.size < _FEWEST:
        return ""
    shares = np.bincount(told, minlength=len(column.values)) / told.size
    if shares.min() < lie - _FAR * math.sqrt(lie * (1 - lie) / told.size):
        return f"{column.name} has a class that is rarer than the stated noise alone would make it"
    return ""
