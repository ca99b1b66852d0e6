"""From counts of reports back to the distribution of what was held: EM and EMS.

Expectation maximisation climbs the exact likelihood of the counts under a known channel. Stopped
early it does not yet fit the noise; with smoothing (EMS) each step is followed by a small blur,
which suits distributions without spikes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import Integers

# In units of log-likelihood over all reports, where the noise of the data is of order one at any
# number of reports. A gain relative to the likelihood would stop ever earlier as reports come in.
_GAIN: Final = 0.01
_ROUNDING: Final = 1e-9
_LIMIT = Integers("limit", 1, 1 << 20)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconstruction:
    """What was found, and whether the search ended by itself.

    Parameters
    ----------
    distribution : ndarray of float
        Share of each input; the shares add up to one.
    iterations : int
        Steps taken.
    converged : bool
        True if the likelihood stopped growing; False if the limit of steps was reached.
    """

    distribution: NDArray[np.float64]
    iterations: int
    converged: bool


def reconstruct(
    counts: NDArray[Any], channel: NDArray[np.float64], *, smooth: bool, limit: int = 10_000
) -> Reconstruction:
    """Find the distribution of inputs that makes the counted outputs likely.

    Parameters
    ----------
    counts : ndarray
        How often each output was reported.
    channel : ndarray of float
        Probability of each output (column) for each input (row).
    smooth : bool
        Blur by the kernel (1/4, 1/2, 1/4) after each step: good for smooth distributions, bad for
        spikes and for inputs so few that the distribution changes much from one to the next.
    limit : int, default 10,000
        Steps at most.

    Returns
    -------
    Reconstruction
        The distribution after the first step that changed the log-likelihood of all reports by less
        than 0.01. Going on would fit the noise.

    References
    ----------
    Z. Li et al., Estimating numerical distributions under local differential privacy, SIGMOD 2020.

    Examples
    --------
    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> reconstruct(np.array([600, 400]), channel, smooth=False).distribution.round(2)
    array([0.7, 0.3])
    """
    counts, channel = np.asarray(counts), np.asarray(channel)
    seen, rates = _seen_columns(counts, channel)
    total = float(counts.sum())
    shares = np.full(len(channel), 1 / len(channel))
    likelihood = _log_likelihood(rates, shares @ seen)
    for iteration in range(1, _LIMIT.check(limit) + 1):
        shares *= seen @ (rates / (shares @ seen))
        shares = _blurred(shares) if smooth else shares
        shares /= shares.sum()
        before, likelihood = likelihood, _log_likelihood(rates, shares @ seen)
        if abs(likelihood - before) * total < _GAIN:
            return Reconstruction(distribution=shares, iterations=iteration, converged=True)
    return Reconstruction(distribution=shares, iterations=limit, converged=False)


def _log_likelihood(rates: NDArray[np.float64], mixture: NDArray[np.float64]) -> float:
    return float(rates @ np.log(mixture))


def _blurred(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average each share with its neighbours; what would leave at an end stays there."""
    padded = np.pad(shares, 1, mode="edge")
    blurred: NDArray[np.float64] = (padded[:-2] + 2 * shares + padded[2:]) / 4
    return blurred


def _seen_columns(
    counts: NDArray[Any], channel: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns that were reported, with their rates; the others say nothing."""
    if channel.ndim != 2 or not _are_distributions(channel):
        raise ParameterError("channel", "rows that each sum to one, none negative", channel)
    if counts.shape != channel.shape[1:]:
        raise ParameterError("counts", f"{channel.shape[1]} numbers", counts.shape)
    total = float(counts.sum())
    if not (0 < total < np.inf and counts.min() >= 0):
        raise ParameterError("counts", "non-negative and not all zero", counts)
    seen = counts > 0
    if not channel[:, seen].any(axis=0).all():
        raise ParameterError("counts", "zero where the channel never reports", counts)
    return channel[:, seen], counts[seen] / total


def _are_distributions(channel: NDArray[np.float64]) -> bool:
    sums = channel.sum(axis=1)
    return channel.size > 0 and bool(channel.min() >= 0 and np.abs(sums - 1).max() <= _ROUNDING)
