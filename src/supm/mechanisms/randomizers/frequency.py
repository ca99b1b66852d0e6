"""What every randomizer of a finite alphabet shares: checks, chunks, tally, estimate and variance.

A report *supports* some of the symbols. A report of an owner who holds v supports v with
probability `hit` and any other given symbol with probability `miss`; both are exact fractions
derived from the sampler's thresholds. Then ``(supports / n - miss) / (hit - miss)`` is an unbiased
estimate of the share of owners who hold the symbol (docs/proofs/frequency-estimation.md).
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, check_source
from supm._validation import Integers, Reals
from supm.mechanisms.randomizers.randomizer import LISTED, FiniteChannel
from supm.mechanisms.randomizers.reports import (
    Estimate,
    Reports,
    Tally,
    as_array,
    check_reports,
    check_tally,
)
from supm.mechanisms.two_level import MAX_CELLS

__all__ = ["SIZE", "FrequencyRandomizer", "as_numbers", "check_symbols", "check_told"]

SIZE = Integers(
    "size", 2, MAX_CELLS, "An alphabet of one symbol says nothing: leave the attribute out."
)
_FREQUENCY = Reals("frequency", 0.0, 1.0)
_COUNT = Integers("reports", 1, 1 << 62)
_TABLE = 1 << 26
_FEWER = "Ask for fewer attributes or fewer classes at a time."


class FrequencyRandomizer(FiniteChannel):
    """Base of the randomizers that turn one symbol of a finite alphabet into one report."""

    size: int

    @property
    @abstractmethod
    def hit(self) -> Fraction:
        """Exact probability that a report supports the owner's own symbol."""

    @property
    @abstractmethod
    def miss(self) -> Fraction:
        """Exact probability that a report supports a given other symbol."""

    @abstractmethod
    def _draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[Any]:
        """Randomise one chunk of checked symbols."""

    @abstractmethod
    def _supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count, for each symbol, the reports that support it."""

    def inputs(self) -> NDArray[np.int64]:
        """Return the symbols in order."""
        return np.arange(LISTED.check(self.size), dtype=np.int64)

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's symbol into a report.

        Parameters
        ----------
        values : array-like of int
            One symbol per owner, 0 … size - 1.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        Reports
            One row per owner.
        """
        check_source(source)
        symbols = check_symbols(values, self.size)
        step = max(1, self._chunk)
        first = self._draw(symbols[:step], source)
        drawn = np.empty((len(symbols), *first.shape[1:]), dtype=first.dtype)
        drawn[:step] = first
        for start in range(step, len(symbols), step):
            drawn[start : start + step] = self._draw(symbols[start : start + step], source)
        return Reports(symbols=drawn, simulation=source.simulation)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each symbol. Tallies of disjoint owners add up."""
        if self.size > _TABLE:
            raise ParameterError(
                "size", "at most 2^26 to be counted symbol by symbol", self.size, _FEWER
            )
        counts = self._supports(reports)
        return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)

    def estimate(self, tally: Tally) -> Estimate:
        """Estimate, without bias, the share of owners who hold each symbol.

        Parameters
        ----------
        tally : Tally
            Made by `tally`, or a sum of such.

        Returns
        -------
        Estimate
            Shares and standard errors. A share may fall outside [0, 1]: that is what unbiased
            means.
        """
        if check_tally(tally).counts.shape != (self.size,):
            raise ParameterError("tally", f"of {self.size} counts", tally.counts.shape)
        rate = tally.counts / _COUNT.check(tally.reports)
        shares = (rate - float(self.miss)) / float(self.hit - self.miss)
        spread = np.sqrt(self._variance(np.clip(shares, 0.0, 1.0)) / tally.reports)
        return Estimate(values=shares, standard_error=spread, simulation=tally.simulation)

    def variance(self, frequency: float, reports: int = 1) -> float:
        """Return the exact variance of an estimated share.

        Parameters
        ----------
        frequency : float
            The true share of the symbol among the owners.
        reports : int, default 1
            How many owners report.

        Returns
        -------
        float
            Variance over the randomizer's coins, the owners being given.
        """
        share = np.array(_FREQUENCY.check(frequency))
        return float(self._variance(share)) / _COUNT.check(reports)

    def _variance(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        own, other = float(self.hit * (1 - self.hit)), float(self.miss * (1 - self.miss))
        gap = float(self.hit - self.miss)
        spread: NDArray[np.float64] = (share * own + (1.0 - share) * other) / gap**2
        return spread

    @property
    def _chunk(self) -> int:
        return 1 << 15


def check_symbols(values: ArrayLike, size: int) -> NDArray[np.int64]:
    """Return the values as symbols, or raise RecordError that does not show them."""
    symbols = as_numbers(values)
    if symbols is None or symbols.ndim != 1:
        message = f"values must be a flat array of whole numbers 0 … {size - 1}; check its type."
        raise RecordError(message)
    if symbols.size == 0:
        message = "values must hold at least one symbol, got none; check what was passed."
        raise RecordError(message)
    if int(symbols.min()) < 0 or int(symbols.max()) >= size:
        message = f"values must be symbols 0 … {size - 1}; at least one is outside the alphabet."
        raise RecordError(message)
    return symbols.astype(np.int64, copy=False)


def as_numbers(values: ArrayLike) -> NDArray[np.integer] | None:
    """Return the values as an array of whole numbers, or None where they are something else."""
    numbers = as_array(values)
    return numbers if numbers is not None and numbers.dtype.kind in "iu" else None


def check_told(reports: Reports, *, width: int, below: int) -> NDArray[Any]:
    """Return the reports as rows if each could have been told, else raise ParameterError.

    Reports come from strangers: one symbol outside the alphabet would be counted as something else.
    """
    told = check_reports(reports).symbols
    shape = told.shape if told.ndim > 1 else (len(told), 1)
    if told.dtype.kind not in "iu" or shape[1:] != (width,) or len(told) == 0:
        raise ParameterError(
            "reports", f"rows of {width} whole numbers", f"{told.dtype} of shape {told.shape}"
        )
    if int(told.min()) < 0 or int(told.max()) >= below:
        raise ParameterError(
            "reports", f"symbols 0 … {below - 1}", "a symbol outside", "Refuse such a report."
        )
    return told.reshape(len(told), width)
