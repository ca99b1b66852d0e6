"""What all laws of a noised number share: bins, likelihoods and the noise matrix.

A value is known up to a bin of a public partition, and is uniform within it. Everything that EM
needs follows from two antiderivatives of the density of a report: the first one gives the
likelihood of a report given a bin, the second one the probability of a cell of reports given a bin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource
from supm._validation import Reals
from supm.privacy import Guarantee, PureLDP

__all__ = ["HIGH", "LOW", "BinnedReports", "NumberLaw", "check_edges"]

_HINT: Final = "A bound is public: it was fixed before the records were noised."
LOW = Reals("low", -1e100, 1e100, _HINT)
HIGH = Reals("high", -1e100, 1e100, _HINT)
_NARROWEST: Final = 1e-100
# Of a narrower range, relative to its bounds, floats cannot tell the borders of bins apart.
_FINEST: Final = 1e-10
_NARROW_HINT: Final = "Take low off both bounds and off all values before they are noised."
_MARGIN: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class BinnedReports:
    """Reports counted in public cells, and what each bin of values makes of the cells.

    Parameters
    ----------
    counts : ndarray of int, shape (cells,)
        How many reports fell into each cell.
    channel : ndarray of float, shape (bins, cells)
        Probability of each cell for a value that is uniform in a bin; rows sum to one.
    """

    counts: NDArray[np.int64]
    channel: NDArray[np.float64]


class NumberLaw(ABC):
    """How a number between public bounds was noised. Frozen; epsilon follows from the parameters.

    The law is that of the mechanism on the real line. Values beyond the bounds were clipped before
    the noise was added; reports were not clipped after it.
    """

    mechanism: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    low: float
    high: float

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """What one report costs its owner, from the parameters of the law."""

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one report."""
        return PureLDP(self.epsilon)

    @property
    def span(self) -> float:
        """Distance from low to high."""
        return self.high - self.low

    @abstractmethod
    def likelihood(self, reports: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
        """Return the density of each report given a value that is uniform in each bin.

        Parameters
        ----------
        reports : array-like of float, shape (m,)
            What was stored.
        edges : array-like of float, shape (b + 1,)
            Increasing borders of the bins, within [low, high].

        Returns
        -------
        ndarray of float, shape (m, b)
            Exact up to rounding.
        """

    @abstractmethod
    def transition(self, edges: ArrayLike, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a report falls into a cell, given a bin of values.

        Parameters
        ----------
        edges : array-like of float, shape (b + 1,)
            Increasing borders of the bins, within [low, high].
        cells : array-like of float, shape (c + 1,)
            Increasing borders of the cells of reports; the first and last may be infinite.

        Returns
        -------
        ndarray of float, shape (b, c)
            Exact up to rounding. If the cells cover all reports, rows sum to one.
        """

    @abstractmethod
    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return borders of cells of reports that lose next to nothing about these bins.

        They depend on the law and the bins only, never on the reports.
        """

    @abstractmethod
    def unbiased(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return one number per report whose mean is the clipped true value."""

    @abstractmethod
    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values to the bounds and noise them, as an owner's device would have done."""

    @abstractmethod
    def supported(self, reports: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say of each number whether this law can have reported it."""

    @property
    @abstractmethod
    def noise_terms(self) -> tuple[float, float]:
        """Two numbers A, B: a value x gets noise of variance A + B (x - middle)^2."""

    def noise_variance(self, mean: float, variance: float) -> float:
        """Return the mean squared noise of `unbiased` over truths of a mean and a variance.

        Parameters
        ----------
        mean, variance : float
            Of the true values.

        Returns
        -------
        float
            Exact, since the variance of the noise is at most quadratic in the true value.
        """
        fixed, growing = self.noise_terms
        return fixed + growing * (variance + (mean - self._middle) ** 2)

    def true_variance(self, mean: float, variance: float) -> float:
        """Return the variance of the truth, given mean and variance of `unbiased`; not below 0.

        Parameters
        ----------
        mean, variance : float
            Of the unbiased reports.

        Returns
        -------
        float
            Between 0 and the most that the bounds allow.
        """
        fixed, growing = self.noise_terms
        left = (variance - fixed - growing * (mean - self._middle) ** 2) / (1 + growing)
        return float(np.clip(left, 0.0, self.span**2 / 4))

    def edges(self, bins: int) -> NDArray[np.float64]:
        """Return the borders of equal bins from low to high."""
        places = self.low + self.span * (np.arange(bins + 1) / bins)
        places[-1] = self.high
        return places

    def bin_reports(self, reports: ArrayLike, edges: ArrayLike) -> BinnedReports:
        """Count reports in public cells, so that later steps do not depend on their number.

        Parameters
        ----------
        reports : array-like of float
            What was stored.
        edges : array-like of float
            Borders of the bins of values.

        Returns
        -------
        BinnedReports
        """
        cells = self.report_cells(edges)
        places = np.searchsorted(cells[1:-1], np.asarray(reports, dtype=np.float64), side="right")
        counts = np.bincount(places, minlength=len(cells) - 1)
        return BinnedReports(counts=counts, channel=self.transition(edges, cells))

    def to_form(self) -> dict[str, Any]:
        """Return the law as plain values for JSON."""
        named = {name: getattr(self, name) for name in ("low", "high", *self.parameters)}
        return {"mechanism": self.mechanism, **named}

    @property
    def _middle(self) -> float:
        return self.low + self.span / 2

    def _clipped(self, values: ArrayLike) -> NDArray[np.float64]:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.ndim != 1 or np.isnan(numbers).any():
            message = "values must be a flat array of numbers, none of them missing."
            raise RecordError(message)
        return np.clip(numbers, self.low, self.high)

    def _check_bounds(self) -> None:
        low, high = LOW.check(self.low), HIGH.check(self.high)
        if not high - low >= _NARROWEST:
            raise ParameterError("high", f"above low = {low:g}", high, _HINT)
        least = _FINEST * max(abs(low), abs(high))
        if high - low < least:
            wanted = f"above low = {low:.17g} by at least {least:.3g}"
            raise ParameterError("high", wanted, high, _NARROW_HINT)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)


def check_edges(law: NumberLaw, edges: ArrayLike) -> NDArray[np.float64]:
    """Return the borders of bins, or raise where they do not increase or leave the bounds."""
    borders = np.asarray(edges, dtype=np.float64)
    rising = borders.ndim == 1 and borders.size > 1 and bool((np.diff(borders) > 0).all())
    slack = _MARGIN * law.span
    if not (rising and law.low - slack <= borders[0] and borders[-1] <= law.high + slack):
        wanted = f"increasing numbers in [{law.low:g}, {law.high:g}]"
        raise ParameterError("edges", wanted, f"an array of shape {borders.shape}")
    return borders
