"""What the randomizers of one number share: checks, chunks, decoding, tally and estimate.

`GridRandomizer` turns a value into a report. `NumericRandomizer` also turns a report into an
unbiased value: a subclass says where on the grid a report points on average (`positions`) and how
far it scatters (`spread`), both in steps of the grid.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import Integers, Reals
from supm.mechanisms.randomizers.public_grid import PublicGrid
from supm.mechanisms.randomizers.randomizer import FiniteChannel, LocalRandomizer
from supm.mechanisms.randomizers.reports import Estimate, Reports, Tally, check_reports, check_tally

COUNT = Integers("reports", 1, 1 << 62)
_CHUNK = 1 << 15


class GridRandomizer(LocalRandomizer):
    """Base of the randomizers that turn one number of a public range into one whole number."""

    grid: PublicGrid

    @property
    @abstractmethod
    def alphabet(self) -> tuple[int, int]:
        """The least and the greatest report."""

    @abstractmethod
    def draw(self, indices: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Randomise one chunk of grid points."""

    @property
    def report_bits(self) -> int:
        """Enough bits to number the reports, counted from the least one."""
        least, greatest = self.alphabet
        return (greatest - least).bit_length()

    @property
    def low(self) -> float:
        """The public lower bound."""
        return self.grid.low

    @property
    def high(self) -> float:
        """The public upper bound."""
        return self.grid.high

    @property
    def steps(self) -> int:
        """Steps of the public grid."""
        return self.grid.steps

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's value into a report."""
        check_source(source)
        numbers = self.grid.check(values)
        drawn = np.empty(len(numbers), dtype=np.int64)
        for start in range(0, len(numbers), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            drawn[chunk] = self.draw(self.grid.locate(numbers[chunk], source), source)
        return Reports(symbols=drawn, simulation=source.simulation)

    def _symbols(self, reports: Reports) -> NDArray[np.int64]:
        """Return the reports as whole numbers; refuse what this randomizer cannot have sent."""
        symbols = check_reports(reports).symbols
        least, greatest = self.alphabet
        if symbols.ndim != 1 or symbols.size == 0 or symbols.dtype.kind not in "iu":
            got = f"{symbols.dtype} of shape {symbols.shape}"
            raise ParameterError("reports", "a flat array of at least one whole number", got)
        if int(symbols.min()) < least or int(symbols.max()) > greatest:
            constraint = f"whole numbers {least} … {greatest}"
            raise ParameterError("reports", constraint, "one outside", "Refuse such a report.")
        return symbols.astype(np.int64, copy=False)


class FiniteGridRandomizer(GridRandomizer, FiniteChannel):
    """Base of those with finitely many reports 0 … outcomes - 1: a report is its own outcome."""

    @property
    def alphabet(self) -> tuple[int, int]:
        """The first and the last report."""
        return 0, self.outcomes - 1

    def inputs(self) -> NDArray[np.float64]:
        """Return the values of the grid points."""
        return self.grid.points()

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the reports themselves."""
        return self._symbols(reports)


class NumericRandomizer(GridRandomizer):
    """Base of the randomizers whose every report can be read as an unbiased value."""

    @abstractmethod
    def positions(self, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, in steps above low, the unbiased reading of each report."""

    @abstractmethod
    def spread(self, position: float) -> float:
        """Return, in squared steps, the variance of that reading, rounding to the grid included."""

    def decode(self, reports: Reports) -> NDArray[np.float64]:
        """Return one unbiased value per report; it may lie far outside [low, high]."""
        return self.grid.place(self.positions(self._symbols(reports)))

    def tally(self, reports: Reports) -> Tally:
        """Add up the decoded values and their squares, both measured from the middle of the range.

        Tallies of disjoint owners add up.
        """
        positions = self.positions(self._symbols(reports))
        offset = self.grid.span * (positions / self.steps - 0.5)
        sums = np.array([offset.sum(), np.square(offset).sum()])
        return Tally(counts=sums, reports=len(reports), simulation=reports.simulation)

    def estimate(self, tally: Tally) -> Estimate:
        """Estimate, without bias, the mean of the owners' values."""
        if check_tally(tally).counts.shape != (2,):
            raise ParameterError("tally", "of 2 sums", tally.counts.shape)
        count = COUNT.check(tally.reports)
        mean, square = (float(each) / count for each in tally.counts)
        spread = max(square - mean * mean, 0.0)
        error = math.sqrt(spread / (count - 1)) if count > 1 else math.inf
        return Estimate(
            values=np.array(self.low + self.grid.span / 2 + mean),
            standard_error=np.array(error),
            simulation=tally.simulation,
        )

    def variance(self, value: float, reports: int = 1) -> float:
        """Return the exact variance of the mean of decoded reports of owners who hold one value."""
        held = np.array([Reals("value", self.low, self.high).check(value)])
        width = self.grid.span / self.steps
        position = float(self.grid.position(held)[0])
        return width * width * self.spread(position) / COUNT.check(reports)
