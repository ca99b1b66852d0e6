"""What every randomizer of a finite alphabet shares: checks, chunks, tally, estimate and variance.

`FrequencyRandomizer` derives all of it from the exact channel, which is what to build one's own on.
`SupportRandomizer` does without writing the channel down, so that alphabets may be large: a report
*supports* some of the symbols. A report of an owner who holds v supports v with
probability `hit` and any other given symbol with probability `miss`; both are exact fractions
derived from the sampler's thresholds. Then ``(supports / n - miss) / (hit - miss)`` is an unbiased
estimate of the share of owners who hold the symbol (docs/proofs/frequency-estimation.md).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import Integers, Reals
from supm.mechanisms.randomizers.randomizer import (
    LISTED,
    Estimate,
    FiniteChannel,
    Reports,
    Tally,
    check_symbols,
    check_tally,
    check_told,
)
from supm.mechanisms.thresholds import MAX_CELLS, epsilon_of

SIZE = Integers(
    "size", 2, MAX_CELLS, "An alphabet of one symbol says nothing: leave the attribute out."
)
_FREQUENCY = Reals("frequency", 0.0, 1.0)
_COUNT = Integers("reports", 1, 1 << 62)
_TABLE = 1 << 26
_ROUNDING = 1e-9
_PARTS = Integers(
    "denominator of the channel", 1, 1 << 63, "Round each entry to a multiple of 2^-32."
)
_ZERO = "A report that only some inputs can lead to tells them from the others for certain."
_FEWER = "Ask for fewer attributes or fewer classes at a time."


class FrequencyRandomizer(FiniteChannel):
    """Base of the randomizers that turn one symbol of a finite alphabet into one report.

    To make one of your own, state ``size``, the number of symbols, and write `exact_channel`.
    Epsilon, the sampler, the estimate and its error are then derived from that matrix, so that they
    cannot contradict it. Override what your randomizer can do faster; the audit compares.

    Notes
    -----
    **Guarantee.** epsilon-LDP with the largest ratio within a column of the channel.

    **Utility.** Unbiased: the pseudo-inverse of the channel applied to the shares of the reports.

    **Cost.** Time and memory grow with the entries of the channel, at most 2^22. The entries need a
    common denominator of at most 2^63.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from supm._random import simulation
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Shy(FrequencyRandomizer):
    ...     "No, yes, or a third report that says neither."
    ...     size: int = 2
    ...
    ...     def exact_channel(self) -> list[list[Fraction]]:
    ...         tenths = [[6, 3, 1], [2, 6, 2]]
    ...         return [[Fraction(entry, 10) for entry in row] for row in tenths]
    >>> shy = Shy()
    >>> round(shy.epsilon, 3), shy.outcomes, shy.report_bits
    (1.099, 3, 2)
    >>> reports = shy.randomize([0] * 800 + [1] * 200, simulation(1))
    >>> shy.estimate(shy.tally(reports)).values.round(1)
    array([0.8, 0.2])
    """

    size: int

    @property
    def epsilon(self) -> float:
        """Logarithm of the largest ratio within a column of the channel, rounded up."""
        told = [column for column in zip(*self.exact_channel(), strict=True) if max(column) > 0]
        if min(map(min, told)) <= 0:
            raise ParameterError(
                "channel", "positive wherever any row of a column is", "a zero", _ZERO
            )
        return max(epsilon_of(max(column) / min(column)) for column in told)

    @property
    def outcomes(self) -> int:
        """As many as the channel has columns."""
        return len(self.exact_channel()[0])

    @property
    def report_bits(self) -> int:
        """Enough bits to number the reports."""
        return (self.outcomes - 1).bit_length()

    def inputs(self) -> NDArray[np.int64]:
        """Return the symbols in order."""
        return np.arange(LISTED.check(self.size), dtype=np.int64)

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the reports themselves: a report is the number of a column."""
        return check_told(reports, width=1, below=self.outcomes)[:, 0].astype(np.int64, copy=False)

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's symbol into a report."""
        check_source(source)
        symbols = check_symbols(values, self.size)
        step = max(1, self._chunk)
        first = self.draw(symbols[:step], source)
        drawn = np.empty((len(symbols), *first.shape[1:]), dtype=first.dtype)
        drawn[:step] = first
        for start in range(step, len(symbols), step):
            drawn[start : start + step] = self.draw(symbols[start : start + step], source)
        return Reports(symbols=drawn, simulation=source.simulation)

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[Any]:
        """Randomise one chunk of checked symbols: one whole number picks a column of each row."""
        parts, edges = _edges(self.exact_channel())
        drawn = source.below(parts, len(symbols))
        passed = drawn[:, np.newaxis] >= edges[symbols]
        return np.asarray(passed.sum(axis=1, dtype=np.int64))

    def tally(self, reports: Reports) -> Tally:
        """Count how often each outcome was reported. Tallies of disjoint owners add up."""
        counts = np.bincount(self.outcome(reports), minlength=self.outcomes)
        return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)

    def estimate(self, tally: Tally) -> Estimate:
        """Estimate, without bias, the share of owners who hold each symbol."""
        if check_tally(tally).counts.shape != (self._counted,):
            raise ParameterError("tally", f"of {self._counted} counts", tally.counts.shape)
        shares = self._shares(tally.counts / _COUNT.check(tally.reports))
        spread = np.sqrt(self._variance(np.clip(shares, 0.0, 1.0)) / tally.reports)
        return Estimate(values=shares, standard_error=spread, simulation=tally.simulation)

    def variance(self, frequency: float, reports: int = 1) -> float:
        """Return the variance of an estimated share: exact, or a bound from the channel alone."""
        share = np.array(_FREQUENCY.check(frequency))
        return float(self._variance(share)) / _COUNT.check(reports)

    @property
    def _counted(self) -> int:
        """How many counts a tally has."""
        return self.outcomes

    def _shares(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return unbiased shares of the symbols from the rates of what is counted."""
        return np.asarray(rates @ self._readings())

    def _variance(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the variance of a share from one report; the variances of symbols bound it."""
        channel, reading = self.channel(), self._readings()
        spreads = np.maximum(channel @ reading**2 - (channel @ reading) ** 2, 0.0)
        own, same = np.diag(spreads), np.eye(self.size, dtype=np.bool_)
        others = np.where(same, 0.0, spreads).max(axis=0)
        each = share[..., np.newaxis] * own + (1.0 - share[..., np.newaxis]) * others
        return np.asarray(each.max(axis=-1))

    def _readings(self) -> NDArray[np.float64]:
        """Return what each outcome (row) says, without bias, of the share of each symbol."""
        channel = self.channel()
        reading = np.linalg.pinv(channel)
        if np.abs(channel @ reading - np.eye(self.size)).max() > _ROUNDING:
            hint = "Two symbols whose reports are alike cannot be told apart: make them one."
            raise ParameterError("channel", "with rows that differ enough", "alike rows", hint)
        return np.asarray(reading)

    @property
    def _chunk(self) -> int:
        return 1 << 15


class SupportRandomizer(FrequencyRandomizer):
    """Base of the randomizers whose report supports the own symbol more often than others."""

    @property
    @abstractmethod
    def hit(self) -> Fraction:
        """Exact probability that a report supports the owner's own symbol."""

    @property
    @abstractmethod
    def miss(self) -> Fraction:
        """Exact probability that a report supports a given other symbol."""

    @abstractmethod
    def supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count, for each symbol, the reports that support it."""

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each symbol. Tallies of disjoint owners add up."""
        if self.size > _TABLE:
            raise ParameterError(
                "size", "at most 2^26 to be counted symbol by symbol", self.size, _FEWER
            )
        counts = self.supports(reports)
        return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)

    @property
    def _counted(self) -> int:
        return self.size

    def _shares(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        return (rates - float(self.miss)) / float(self.hit - self.miss)

    def _variance(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        own, other = float(self.hit * (1 - self.hit)), float(self.miss * (1 - self.miss))
        gap = float(self.hit - self.miss)
        spread: NDArray[np.float64] = (share * own + (1.0 - share) * other) / gap**2
        return spread


class SymbolReport(FiniteChannel):
    """Base of those that turn a value into a symbol, and leave the symbol to a randomizer."""

    @property
    @abstractmethod
    def _told_by(self) -> FrequencyRandomizer:
        """What randomises the symbol."""

    @property
    def epsilon(self) -> float:
        """That of the symbol's randomizer."""
        return self._told_by.epsilon

    @property
    def report_bits(self) -> int:
        """As many as the symbol's randomizer needs."""
        return self._told_by.report_bits

    @property
    def outcomes(self) -> int:
        """As many as those of the symbol."""
        return self._told_by.outcomes

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the symbol's outcome."""
        return self._told_by.outcome(reports)

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the channel of the symbols: all values of a symbol share a row."""
        return self._told_by.exact_channel()

    def tally(self, reports: Reports) -> Tally:
        """Count the reports that support each symbol."""
        return self._told_by.tally(reports)

    def estimate(self, tally: Tally) -> Estimate:
        """Estimate, without bias, the share of each symbol."""
        return self._told_by.estimate(tally)


def _edges(rows: list[list[Fraction]]) -> tuple[int, NDArray[np.uint64]]:
    """Return a common denominator and, per row, below which numerator each column but the last is.

    The sampler is exact because the denominator is the number of equally likely draws.
    """
    if any(sum(row) != 1 or min(row) < 0 for row in rows):
        raise ParameterError("channel", "rows that each sum to one, none negative", "another row")
    parts = _PARTS.check(math.lcm(*(entry.denominator for row in rows for entry in row)))
    heights = [[int(total * parts) for total in accumulate(row[:-1])] for row in rows]
    return parts, np.array(heights, dtype=np.uint64)
