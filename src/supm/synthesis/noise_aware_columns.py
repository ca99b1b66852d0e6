"""Functions of one true value that noisy reports tell best, and how to read them without bias.

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

from supm.synthesis.distributions import Channel
from supm.synthesis.em import reconstruct_table

Table = NDArray[np.float64]

# So much is added to the estimated shares, spread evenly: no function is steep where nobody is.
_SPREAD: Final = 0.01
# A function is kept if so many clean records would tell it as well as the noisy ones.
_LEAST: Final = 4.0
# Distance at which a smooth function of a number may have changed, as a share of the range.
_REACH: Final = 0.25
# Below this share of the first one, a singular value is lost in rounding.
_RANK: Final = 1e-3
# A priori the mean of a number lies about the middle of its range, with this deviation.
_MEAN_DEVIATION: Final = 1 / 8
# A remainder of the straight line that is smaller says nothing.
_SMALL: Final = 0.03


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
    return int(np.clip((reports * weights > _LEAST).sum(), 1, limit))


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
