"""What flows between owner and aggregator: reports, their tally, and the estimate made from it.

Each of the three carries the mark of a simulation, so that nothing made from a seed can later pass
for a private release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from supm._errors import ParameterError
from supm._validation import Reals

__all__ = ["Estimate", "Reports", "Tally"]

_CONFIDENCE = Reals("confidence", 0.5, 1 - 1e-12)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reports:
    """What a crowd of owners sent: one row each, already randomised.

    Parameters
    ----------
    symbols : ndarray of integers
        One report per row.
    simulation : bool
        True if the randomness came from a seed.
    """

    symbols: NDArray[Any]
    simulation: bool

    def __post_init__(self) -> None:
        if not _has_rows(self.symbols):
            kind = type(self.symbols).__name__
            raise ParameterError("reports", "an array with one row per owner", kind)

    def __len__(self) -> int:
        """Return how many owners reported."""
        return len(self.symbols)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """Additive counts of reports: all that an aggregator has to keep.

    Parameters
    ----------
    counts : ndarray
        What the reports add up to; its meaning is the randomizer's.
    reports : int
        How many reports were counted.
    simulation : bool
        True if any of them came from a seed.

    Examples
    --------
    >>> monday = Tally(counts=np.array([3, 1]), reports=4, simulation=True)
    >>> tuesday = Tally(counts=np.array([2, 2]), reports=4, simulation=True)
    >>> (monday + tuesday).counts
    array([5, 3])
    """

    counts: NDArray[Any]
    reports: int
    simulation: bool

    def __add__(self, other: Tally) -> Tally:
        """Merge two tallies; the order of merging does not matter."""
        if self.counts.shape != other.counts.shape:
            raise ParameterError(
                "tally", f"of shape {self.counts.shape} to be merged", other.counts.shape
            )
        return Tally(
            counts=self.counts + other.counts,
            reports=self.reports + other.reports,
            simulation=self.simulation or other.simulation,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """An estimate with its standard error.

    Parameters
    ----------
    values : ndarray of float
        The estimates.
    standard_error : ndarray of float
        One standard error each: the noise of the randomizer, for these owners.
    simulation : bool
        True if any report behind it came from a seed.

    Examples
    --------
    >>> half = Estimate(values=np.array([0.5]), standard_error=np.array([0.1]), simulation=True)
    >>> low, high = half.interval(0.95)
    >>> print(low.round(3), high.round(3))
    [0.304] [0.696]
    """

    values: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    simulation: bool

    def interval(self, confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two ends of each value's normal confidence interval."""
        reach = ndtri(0.5 + _CONFIDENCE.check(confidence) / 2) * self.standard_error
        return self.values - reach, self.values + reach


def _has_rows(value: object) -> bool:
    """Say whether it is an array with rows; what strangers sent may be anything."""
    return isinstance(value, np.ndarray) and value.ndim > 0
