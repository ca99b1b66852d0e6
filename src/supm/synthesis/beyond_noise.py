"""What a table of noisy reports says beyond what noise alone would make of independent columns.

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

from supm._random import simulation
from supm.mechanisms.noise.continuous import normals
from supm.synthesis.em import reconstruct_table

__all__ = ["Beyond", "beyond_noise"]

Table = NDArray[np.float64]

_LEAST: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Beyond:
    """A table, and what noise alone would have made of independent columns.

    Parameters
    ----------
    table : ndarray of float
        What was found, moved to independence by the share of its gain that noise explains.
    found : ndarray of float
        What EM found.
    noise : ndarray of float
        What the same steps find where the columns are independent.
    """

    table: Table
    found: Table
    noise: Table


def beyond_noise(
    counts: ArrayLike, channels: Sequence[Table], apart: Table, *, smooth: bool = False
) -> Beyond:
    """Reconstruct a table from independence on, and keep what is beyond the noise.

    Parameters
    ----------
    counts : array-like, of one axis for each channel
        How often each combination of reports was seen.
    channels : sequence of ndarray of float
        For each axis the probability of a report (column) for a true value (row).
    apart : ndarray of float
        The table of independent columns, positive.
    smooth : bool, default False
        As in `reconstruct_table`.

    Returns
    -------
    Beyond

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
