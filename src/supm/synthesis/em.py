"""Tables of true values from counts of noisy reports: EM over a product of channels.

The noise of each column is independent of that of the others, so a table of reports follows from
the table of true values by one channel along each axis. Nothing here depends on the number of
records: they were counted before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError

__all__ = ["ALONE", "PAPER", "STRICT", "Stop", "reconstruct_table"]

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Stop:
    """When a climb ends: going on would fit the noise.

    Parameters
    ----------
    gain : float
        Least gain in the log-likelihood of one more step.
    steps : int
        Steps at most.
    relative : bool
        Whether the gain is a share of the log-likelihood, or is that of all reports together.
    least : int
        Steps at least: from a start that is far from the truth the first steps gain little.
    """

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

    Parameters
    ----------
    counts : array-like, of one axis for each channel
        How often each combination of reports was seen; cells that were never seen cost nothing.
    channels : sequence of ndarray
        For each axis the probability of a report (column) for a true value (row).
    start : array-like, optional
        Where the climb begins: a positive table that sums to one. Uniform by default. It ends
        early on purpose, so where the reports say little, the start is what remains.
    stop : Stop
        When the climb ends.
    smooth : bool, default False
        Blur along the last axis by the kernel (1/4, 1/2, 1/4) after each step (EMS). It helps
        smooth distributions and hurts those with spikes.

    Returns
    -------
    ndarray of float
        Shares that sum to one.

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
