"""What the reports of one column tell: its distribution, and functions that can be read.

The distribution is learned within each class of the target.

For any weights of the true places, the singular vectors of the channel give functions ``f`` of the
true value and readings ``r`` of the report with ``E[r(report) | value] = f(value)``, in the order
of how much the noise leaves of them. The weights decide which functions these are and how noisy
their readings, never whether the readings are right (docs/proofs/noise-aware.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.synthesis.archive import Archive
from supm.synthesis.columns import Column
from supm.synthesis.distributions import Channel, Marginal
from supm.synthesis.moments import ColumnRoles
from supm.synthesis.tables import (
    ALONE,
    CellReports,
    beyond_noise,
    count_together,
    reconstruct_table,
)

Table = NDArray[np.float64]

_LEAST: Final = 1e-12
# By so many units of log-likelihood a start with spikes must do better than an even one.
_HANDICAP: Final = 2.0
# Between these slopes lies every mean that a hundred bins can have, but for the very ends.
_STEEPEST: Final = 1e3
_HALVINGS: Final = 50
# Fewer reports do not show how noisy their mean is.
_REPORTS: Final = 2
# So much is added to the estimated shares, spread evenly: no function is steep where nobody is.
_SPREAD: Final = 0.01
# A function is kept if so many clean records would tell it as well as the noisy ones.
_WORTH: Final = 4.0
# Distance at which a smooth function of a number may have changed, as a share of the range.
_REACH: Final = 0.25
# Below this share of the first one, a singular value is lost in rounding.
_RANK: Final = 1e-3
# A priori the mean of a number lies about the middle of its range, with this deviation.
_MEAN_DEVIATION: Final = 1 / 8
# A remainder of the straight line that is smaller says nothing.
_SMALL: Final = 0.03


@dataclass(frozen=True, kw_only=True, eq=False)
class Margins:
    """Shares of the classes of the target, and of each column within them."""

    root: CellReports
    prior: Table
    scaled: list[Table]
    nominal: list[Table]
    cells: list[CellReports]
    ordered: dict[int, CellReports]


def learn_margins(
    archive: Archive, layout: ColumnRoles, *, bins: int, smooth: bool = False
) -> Margins:
    """Reconstruct the distribution of each column within each class of the target."""
    root = _root(archive, layout)
    prior = _alone(root)

    def within(column: Column) -> tuple[CellReports, Table]:
        told = column.cell_reports(archive.reports[column.name], bins)
        number = column.kind == "number"
        table = _within(told, root, prior, number=number, smooth=smooth and number)
        if number and column.name == archive.schema.target:
            # A target that is a number has no classes: its table has one row.
            table = _with_known_mean(table[0], column, archive.reports[column.name])[np.newaxis]
        return told, table

    scaled = [within(column) for column in layout.scaled]
    nominal = [within(column) for column in layout.nominal]
    return Margins(
        root=root,
        prior=prior,
        scaled=[table for _, table in scaled],
        nominal=[table for _, table in nominal],
        cells=[told for told, _ in nominal],
        ordered={
            place: told
            for place, (told, _) in enumerate(scaled)
            if layout.scaled[place].kind == "ordered"
        },
    )


def marginal_of(column: Column, shares: Table) -> Marginal:
    """Return the distribution of a scaled column from its shares, which need not sum to one."""
    total = float(shares.sum())
    even = shares / total if total > 0 else np.full(shares.size, 1 / shares.size)
    return column.marginal(even)


def _root(archive: Archive, layout: ColumnRoles) -> CellReports:
    if layout.root is None:
        return CellReports(np.zeros(archive.rows, dtype=np.int64), np.ones((1, 1)))
    return layout.root.cell_reports(archive.reports[layout.root.name], 0)


def _alone(told: CellReports, *, spiked: bool = False, smooth: bool = False) -> Table:
    """Return the likeliest of the tables that the climbs from all starts end at."""
    counts = told.counts()
    if not counts.any():
        return np.full(len(told.channel), 1 / len(told.channel))
    found = [
        reconstruct_table(counts, [told.channel], start=start, stop=ALONE, smooth=smooth)
        for start in _starts(len(told.channel), spiked=spiked)
    ]
    seen = counts > 0
    heights = [float(counts[seen] @ np.log((each @ told.channel)[seen])) for each in found]
    heights[0] += _HANDICAP
    return found[int(np.argmax(heights))]


def _starts(bins: int, *, spiked: bool) -> list[Table]:
    """Return an even start, and those with half of the mass at one end or at both."""
    even = np.full(bins, 1 / bins)
    if not spiked:
        return [even]
    # An early stop smears a spike, from whatever start has none: many values are at a bound.
    low, high = np.eye(bins)[[0, -1]]
    return [even, *((even + spike) / 2 for spike in (low, high, (low + high) / 2))]


def _within(
    told: CellReports, root: CellReports, prior: Table, *, number: bool, smooth: bool
) -> Table:
    """Return shares of class and value together; where the reports say little, independent ones."""
    apart = np.outer(prior, _alone(told, spiked=number, smooth=smooth)) + _LEAST
    apart /= apart.sum()
    if prior.size == 1:
        return apart
    counts = count_together((root, told))
    if not counts.any():
        return apart
    channels = [root.channel, told.channel]
    return beyond_noise(counts, channels, apart, smooth=smooth).table


def _with_known_mean(shares: Table, column: Column, reports: NDArray[np.float64]) -> Table:
    """Return the shares with the mean that models of noised records fall back to.

    A mean is known better than shares, and what a tree on synthetic rows answers is a mean.
    """
    channel = column.channel()
    cells = channel.cells(reports)
    if (cells >= 0).sum() < _REPORTS:
        return shares
    return _tilted(shares, pulled_mean(read_functions(channel, cells, limit=1), cells)[0])


def _tilted(shares: Table, mean: float) -> Table:
    """Return the shares nearest to these (in relative entropy) that have a mean."""
    places = (np.arange(shares.size) + 0.5) / shares.size
    logs = np.log(shares)

    def tilted(slope: float) -> Table:
        raised = logs + slope * places
        grown = np.exp(raised - raised.max())
        return np.asarray(grown / grown.sum())

    low, high = -_STEEPEST, _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tilted(middle) @ places < mean else (low, middle)
    return tilted(low)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnReading:
    """Functions of a true value, orthonormal under the estimated shares, and their readings."""

    channel: Channel
    shares: Table
    functions: Table
    readings: Table
    line: Table
    straight: Table
    smooth: Table

    def tell(self, cells: NDArray[np.int64]) -> Table:
        """Return the readings of reports, by their cells; 0 where there is no report."""
        told: Table = np.where(cells[:, np.newaxis] < 0, 0.0, self.readings[cells])
        return told

    def evaluate(self, values: ArrayLike) -> Table:
        """Return the functions of clean values."""
        if self.channel.kind != "number":
            found: Table = self.functions[np.asarray(values, dtype=np.int64)]
            return found
        where, grid = self.channel.scaled(values), self.channel.places
        return np.column_stack([np.interp(where, grid, each) for each in self.functions.T])

    @property
    def mean(self) -> float:
        """Mean of the value under the shares, in units of the range."""
        return float(self.shares @ self.channel.places)

    @property
    def spread(self) -> float:
        """Standard deviation of the value under the shares, in units of the range."""
        return _deviation(self.shares, self.channel.places)


def read_functions(channel: Channel, cells: NDArray[np.int64], *, limit: int) -> ColumnReading:
    """Estimate the shares of the true places, and find the functions that the reports tell best.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=4.0)
    >>> channel = NumberColumn("share", law).channel()
    >>> cells = channel.cells(law.randomize(np.linspace(0, 1, 2000), simulation(1)))
    >>> reading = read_functions(channel, cells, limit=3)
    >>> bool(np.allclose(channel.matrix @ reading.readings, reading.functions))
    True
    """
    counts = np.bincount(cells[cells >= 0], minlength=channel.matrix.shape[1])
    shares = _shares(counts, channel)
    functions, readings, weights = _decompose(channel.matrix, shares)
    kept = _kept(weights, int(counts.sum()), limit)
    line = _line(channel, shares, functions)
    functions, readings, line = _with_remainder(functions, readings, line, kept)
    smooth = _smooth(channel, shares, functions)
    straight = smooth if channel.kind == "unordered" else np.outer(line, line)
    return ColumnReading(
        channel=channel,
        shares=shares,
        functions=functions,
        readings=readings,
        line=line,
        straight=straight,
        smooth=smooth,
    )


def pulled_mean(reading: ColumnReading, cells: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean of a number, pulled to the middle of its range as its noise demands.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import NumberColumn
    >>> for epsilon in (0.01, 10.0):
    ...     law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    ...     channel = NumberColumn("share", law).channel()
    ...     cells = channel.cells(law.randomize(np.full(500, 0.2), simulation(1)))
    ...     mean, _ = pulled_mean(read_functions(channel, cells, limit=1), cells)
    ...     print(round(mean, 2))
    0.5
    0.2
    """
    values = reading.mean + reading.spread * (reading.readings @ reading.line)
    told = values[cells[cells >= 0]]
    noise = float(told.var() / told.size)
    kept = _MEAN_DEVIATION**2 / (_MEAN_DEVIATION**2 + noise)
    return 0.5 + kept * (float(told.mean()) - 0.5), kept * noise


def _shares(counts: NDArray[np.int64], channel: Channel) -> Table:
    size = len(channel.places)
    if not counts.sum():
        return np.full(size, 1 / size)
    found = reconstruct_table(counts, [channel.matrix])
    return np.asarray((1 - _SPREAD) * found + _SPREAD / size)


def _decompose(matrix: Table, shares: Table) -> tuple[Table, Table, Table]:
    """Return functions, unbiased readings and reliabilities; the constant is taken off before."""
    reports = shares @ matrix
    used = reports > 0
    scale = np.sqrt(reports[used])
    root = np.sqrt(shares)
    whitened = root[:, np.newaxis] * matrix[:, used] / scale - np.outer(root, scale)
    _, strength, right = np.linalg.svd(whitened, full_matrices=False)
    found = strength > _RANK * strength[0]
    readings = np.zeros((matrix.shape[1], int(found.sum())))
    readings[used] = (right[found] / scale).T / strength[found]
    return matrix @ readings, readings, np.square(strength[found])


def _kept(weights: Table, reports: int, limit: int) -> int:
    return int(np.clip((reports * weights > _WORTH).sum(), 1, limit))


def _line(channel: Channel, shares: Table, functions: Table) -> Table:
    if channel.kind == "unordered":
        return np.zeros(functions.shape[1])
    centred = channel.places - shares @ channel.places
    line: Table = functions.T @ (shares * centred) / _deviation(shares, channel.places)
    return line


def _with_remainder(
    functions: Table, readings: Table, line: Table, kept: int
) -> tuple[Table, Table, Table]:
    """Keep the first functions, and what is left of the straight line as one more."""
    left = float(np.linalg.norm(line[kept:]))
    if left < _SMALL:
        return functions[:, :kept], readings[:, :kept], line[:kept]
    share = line[kept:] / left
    functions = np.column_stack((functions[:, :kept], functions[:, kept:] @ share))
    readings = np.column_stack((readings[:, :kept], readings[:, kept:] @ share))
    return functions, readings, np.append(line[:kept], left)


def _smooth(channel: Channel, shares: Table, functions: Table) -> Table:
    """Return the covariance of the coefficients of a random curve of variance 1."""
    apart = np.subtract.outer(channel.places, channel.places) / _REACH
    kernel = np.eye(len(shares)) if channel.kind == "unordered" else np.exp(-np.square(apart) / 2)
    centred = kernel - shares @ kernel
    centred = centred - (centred @ shares)[:, np.newaxis]
    weighted = functions * shares[:, np.newaxis]
    smooth: Table = weighted.T @ centred @ weighted / (np.diag(centred) @ shares)
    return smooth


def _deviation(shares: Table, places: Table) -> float:
    return float(np.sqrt(shares @ np.square(places - shares @ places)))
