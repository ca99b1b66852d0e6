"""What the randomizers of one number share: checks, chunks, decoding, tally and estimate.

`GridRandomizer` turns a value into a report. `NumericRandomizer` also turns a report into an
unbiased value: a subclass says where on the grid a report points on average (`positions`) and how
far it scatters (`spread`), both in steps of the grid.

A report that is a float can betray the value in its low-order bits (Mironov 2012). Here a value is
first moved to a point of a public grid, and everything after that is arithmetic on whole numbers.
The move is random and keeps the expectation; being a mixture of grid points, it can only lower
epsilon (docs/proofs/public-grid.md).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, check_source
from supm._validation import Integers, Reals, keep_checked
from supm.mechanisms.randomizers.randomizer import (
    Estimate,
    FiniteChannel,
    LocalRandomizer,
    Reports,
    Tally,
    as_array,
    check_reports,
    check_tally,
)

STEPS = Integers("steps", 1, 1 << 20)
# Squares of a range between 1e-100 and 2e100 neither overflow nor vanish.
_LOW = Reals("low", -1e100, 1e100, "A bound is public: take it from the schema, not from the data.")
_HIGH = Reals("high", -1e100, 1e100, _LOW.hint)
_NARROWEST: Final = 1e-100


@dataclass(frozen=True, kw_only=True)
class PublicGrid:
    """Equally spaced public points from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        Public bounds of a value, low < high.
    steps : int
        How many steps lead from low to high; there are steps + 1 points.

    Examples
    --------
    >>> PublicGrid(low=-1, high=1, steps=4).points()
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    """

    low: float
    high: float
    steps: int

    def __post_init__(self) -> None:
        keep_checked(self, _LOW, _HIGH)
        if not self.span >= _NARROWEST:
            raise ParameterError("high", f"above low = {self.low:g}", self.high, _LOW.hint)
        keep_checked(self, STEPS)

    @property
    def span(self) -> float:
        """Distance from low to high."""
        return self.high - self.low

    def points(self) -> NDArray[np.float64]:
        """Return the values of the grid points in order."""
        places = self.place(np.arange(self.steps + 1, dtype=np.float64))
        # Where the bounds differ much in size, low + span may round to a little above high.
        return np.minimum(places, self.high)

    def place(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that lie so many steps above low; positions may be fractions."""
        return self.low + self.span * (positions / self.steps)

    def position(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many steps each value lies above low: 0 at low, exactly ``steps`` at high."""
        return (values - self.low) / self.span * self.steps

    def check(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the values as floats, or raise RecordError that does not show them."""
        numbers = _flat_numbers(values)
        # NaN fails both comparisons; so the question is what is inside, not what is outside.
        if not (self.low <= numbers.min() and numbers.max() <= self.high):
            raise RecordError(
                f"values must be numbers in [{self.low:g}, {self.high:g}], at least one is not; "
                "clip them, or read them with a schema."
            )
        return numbers.astype(np.float64, copy=False)

    def locate(self, values: NDArray[np.float64], source: RandomSource) -> NDArray[np.int64]:
        """Move each checked value to one of its two neighbouring points, keeping the expectation.

        Examples
        --------
        >>> from supm._random import simulation
        >>> grid = PublicGrid(low=0, high=1, steps=2)
        >>> grid.locate(np.array([0.0, 0.5, 1.0]), simulation(1))
        array([0, 1, 2])
        """
        # What a denormal number does must not depend on how the caller set NumPy's warnings.
        with np.errstate(all="ignore"):
            position = self.position(values)
        index = position.astype(np.int64)
        position -= index
        # The fraction is below 1 by at least 2^-53, so its threshold is below 2^64.
        upward = (position * 2.0**64).astype(np.uint64)
        index += source.words(len(values)) < upward
        return index


def _flat_numbers(values: ArrayLike) -> NDArray[np.number]:
    numbers = as_array(values)
    if numbers is None or numbers.dtype.kind not in "iuf":
        raise RecordError("values must be a flat array of numbers; check its type.")
    if numbers.ndim != 1 or numbers.size == 0:
        raise RecordError("values must be a flat array of at least one number; check its shape.")
    return numbers


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
