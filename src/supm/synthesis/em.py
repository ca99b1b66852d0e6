"""Tables of true values from counts of noisy reports: EM over a product of channels.

The noise of each column is independent of that of the others, so a table of reports follows from
the table of true values by one channel along each axis. Nothing here depends on the number of
records: they were counted before.

How far EM moves from independence by noise alone depends on the channels, on the number of reports
and on where it ends. All of that is seen by taking the same steps with counts as independent
columns would make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import normals, simulation

Table = NDArray[np.float64]
_LEAST: Final = 1e-12


@dataclass(frozen=True)
class Stop:
    """When a climb ends: going on would fit the noise."""

    gain: float
    steps: int
    relative: bool = False
    least: int = 0

    def reached(self, before: float, after: float, reports: float) -> bool:
        """Say whether the step from one mean log-likelihood to another was the last one."""
        scale = 1 / max(abs(before), 1e-300) if self.relative else reports
        return abs(after - before) * scale < self.gain


STRICT: Final = Stop(gain=0.01, steps=3000)
"""Of all reports together, where the noise is of order one: more reports are fitted closer."""
ALONE: Final = Stop(gain=0.01, steps=3000, least=100)
"""The same for one column, whose climb begins at a uniform distribution."""
PAPER: Final = Stop(gain=1e-6, steps=300, relative=True)
"""What was found best for tables of some hundred records."""


def reconstruct_table(
    counts: ArrayLike,
    channels: Sequence[Table],
    *,
    start: ArrayLike | None = None,
    stop: Stop = STRICT,
    smooth: bool = False,
) -> Table:
    """Find the table of true values that makes the counted reports likely.

    Examples
    --------
    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> reconstruct_table([[300, 100], [100, 300]], [coin, coin]).round(2)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    told = np.asarray(counts, dtype=np.float64)
    rates, seen = _seen(told, channels)
    reports = float(told.sum())
    shape = tuple(len(channel) for channel in channels)
    shares = np.full(shape, 1 / np.prod(shape)) if start is None else np.array(start, dtype=float)
    mixture = _forward(shares, seen)
    likelihood = _log_likelihood(rates, mixture)
    for step in range(1, stop.steps + 1):
        shares *= _backward(_ratio(rates, mixture), seen)
        shares = _blurred(shares) if smooth else shares
        shares /= shares.sum()
        mixture = _forward(shares, seen)
        before, likelihood = likelihood, _log_likelihood(rates, mixture)
        if step >= stop.least and stop.reached(before, likelihood, reports):
            break
    return shares


def _seen(counts: Table, channels: Sequence[Table]) -> tuple[Table, list[Table]]:
    """Return the rates of reports that occur, and the columns of the channels for them."""
    if counts.shape != tuple(channel.shape[1] for channel in channels):
        raise ParameterError("counts", "one for each combination of reports", counts.shape)
    if not counts.sum() > 0:
        raise ParameterError("counts", "not all zero", counts.shape)
    kept = []
    for axis, channel in enumerate(channels):
        others = tuple(each for each in range(counts.ndim) if each != axis)
        used = counts.any(axis=others)
        counts = counts.compress(used, axis=axis)
        kept.append(np.ascontiguousarray(channel[:, used]))
    return counts / counts.sum(), kept


def _forward(shares: Table, channels: Sequence[Table]) -> Table:
    # Each product takes the first axis away and puts the new one last: after all, order is kept.
    for channel in channels:
        shares = np.tensordot(shares, channel, axes=(0, 0))
    return shares


def _backward(ratio: Table, channels: Sequence[Table]) -> Table:
    for channel in channels:
        ratio = np.tensordot(ratio, channel, axes=(0, 1))
    return ratio


def _ratio(rates: Table, mixture: Table) -> Table:
    return np.divide(rates, mixture, out=np.zeros_like(rates), where=rates > 0)


def _log_likelihood(rates: Table, mixture: Table) -> float:
    told = rates > 0
    return float(rates[told] @ np.log(mixture[told]))


def _blurred(shares: Table) -> Table:
    """Average each share with its neighbours; what would leave at an end stays there."""
    padded = np.concatenate((shares[..., :1], shares, shares[..., -1:]), axis=-1)
    blurred: Table = (padded[..., :-2] + 2 * shares + padded[..., 2:]) / 4
    return blurred


@dataclass(frozen=True, eq=False)
class Beyond:
    """A table, and what noise alone would have made of independent columns."""

    table: Table
    found: Table
    noise: Table


def beyond_noise(
    counts: ArrayLike, channels: Sequence[Table], apart: Table, *, smooth: bool = False
) -> Beyond:
    """Reconstruct a table from independence on, and keep what is beyond the noise.

    Examples
    --------
    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> apart = np.full((2, 2), 0.25)
    >>> beyond_noise([[2300, 1700], [1700, 2300]], [coin, coin], apart).table.round(1)
    array([[0.4, 0.1],
           [0.1, 0.4]])
    """
    told = np.asarray(counts, dtype=np.float64)
    found = reconstruct_table(told, channels, start=apart, smooth=smooth)
    alike = _independent_counts(apart, channels, float(told.sum()))
    noise = reconstruct_table(alike, channels, start=apart, smooth=smooth)
    gain = _gain(told, channels, found, apart)
    share = min(1.0, max(0.0, _gain(alike, channels, noise, apart)) / max(gain, _LEAST))
    return Beyond(np.asarray((1 - share) * found + share * apart), found, noise)


def _gain(counts: Table, channels: Sequence[Table], table: Table, apart: Table) -> float:
    """Return by how much a table makes the counts more likely than independence does."""
    seen = counts > 0
    ratio = _reports(table, channels)[seen] / _reports(apart, channels)[seen]
    return float(counts[seen] @ np.log(ratio))


def _reports(table: Table, channels: Sequence[Table]) -> Table:
    for channel in channels:
        table = np.tensordot(table, channel, axes=(0, 0))
    return table


def _independent_counts(apart: Table, channels: Sequence[Table], reports: float) -> Table:
    """Return counts of noisy reports of independent columns, nearly Poisson, always the same."""
    expected = reports * _reports(apart, channels)
    noise = normals(expected.size, simulation(0)).reshape(expected.shape)
    # The square root of a Poisson number has nearly the same spread whatever its mean.
    counts = np.round(np.square(np.maximum(np.sqrt(expected) + noise / 2, 0.0)))
    return np.asarray(counts if counts.any() else expected)
