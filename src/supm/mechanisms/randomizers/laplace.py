"""The Laplace mechanism: on a public grid, with exact discrete noise, and on the real line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, Reals, check_kind, keep_checked
from supm.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
from supm.mechanisms.noised_number import HIGH, LOW, AdditiveNumber
from supm.mechanisms.randomizers.numeric import NumericRandomizer, PublicGrid
from supm.mechanisms.thresholds import least_reading, stated

_REACH: Final = 64
_FINEST: Final = 1 << 47
_LINE_SCALE = Reals("scale", 1e-104, 1e108)
_LINE_STEPS: Final = 1 << 20
_SERIES: Final = 0.1
# By so much the epsilon of a description in floats lies above what is spent.
_MARGIN: Final = 2.0**-45


@dataclass(frozen=True, kw_only=True)
class Laplace(NumericRandomizer):
    """Report the own grid point plus discrete Laplace noise.

    Seeing a report changes the odds between any two values by a factor of at most e^epsilon. Noise
    is drawn with whole numbers only, so neither its low-order bits nor those of the value can leak.

    Parameters
    ----------
    grid : PublicGrid
        Public bounds of a value and the steps between them.
    scale : Fraction
        Scale of the noise in steps of the grid; steps / scale is at most 10^4.

    Notes
    -----
    **Guarantee.** epsilon-LDP with epsilon = steps / scale: Theorem 2 of
    docs/proofs/discrete-laplace.md. The scale is rounded up, so epsilon is never above the one that
    was asked for.

    **Utility.** Unbiased; a report has variance 2 q / (1 - q)^2 squared steps, q = exp(-1 / scale),
    about 2 ((high - low) / epsilon)^2. For a mean, `Hybrid` is better. A report is cut at 64 scales
    beyond the range, which happens with probability below 2 e^-64 and moves the mean by less than
    10^-27 (1 + 1 / epsilon) ranges (Theorem 3).

    **Cost.** About ten 64-bit words and O(1) time per report. A report is a whole number of
    -64 scale … steps + 64 scale; counted from the least one it fits `report_bits` bits.

    References
    ----------
    C. Dwork et al., Calibrating noise to sensitivity in private data analysis, TCC 2006.
    C. Canonne, G. Kamath, T. Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020,
    Algorithms 1 and 2.

    Examples
    --------
    >>> meter = Laplace.for_epsilon(low=0, high=100, epsilon=1.0)
    >>> meter.epsilon
    1.0
    >>> round(meter.variance(50.0))
    20000
    >>> meter.report_bits
    18
    """

    grid: PublicGrid
    scale: Fraction

    def __post_init__(self) -> None:
        check_kind("grid", self.grid, PublicGrid)
        DiscreteLaplaceNoise(self.scale)
        if self.grid.steps > self.scale * Fraction(EPSILON.high):
            least = self.grid.steps / EPSILON.high
            raise ParameterError("scale", f"at least {least:g} steps", float(self.scale))

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float, steps: int = 1024) -> Self:
        """Make the randomizer of the least scale that keeps epsilon."""
        grid = PublicGrid(low=low, high=high, steps=steps)
        exact = grid.steps / Fraction(least_reading(EPSILON.check(epsilon)))
        parts = max(1, int(_FINEST / exact))
        return cls(grid=grid, scale=Fraction(math.ceil(exact * parts), parts))

    @property
    def epsilon(self) -> float:
        """Steps divided by the scale, rounded up."""
        return stated(self.steps / self.scale)

    @property
    def alphabet(self) -> tuple[int, int]:
        """The range, and 64 scales to either side."""
        reach = math.floor(_REACH * self.scale)
        return -reach, self.steps + reach

    def continuous(self) -> ContinuousLaplace:
        """Return the mechanism on the real line of no smaller an epsilon, to read reports by."""
        width = Fraction(self.grid.span) / self.steps
        scale = float(self.scale * width) * (1 - _MARGIN)
        return ContinuousLaplace(low=self.low, high=self.high, scale=scale)

    def probability(self, index: int, symbols: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each report of an owner at a grid point."""
        least, greatest = self.alphabet
        told = np.asarray(symbols, dtype=np.int64)
        noise = told - self._index(index)
        inner = self._noise.probability(noise)
        upper = np.where(told == greatest, self._noise.survival(noise), 0.0)
        ends = np.where(told == least, self._noise.cumulative(noise), upper)
        return np.where((least < told) & (told < greatest), inner, ends)

    def cumulative(self, index: int, symbols: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that an owner at a grid point reports at most each symbol."""
        least, greatest = self.alphabet
        told = np.asarray(symbols, dtype=np.int64)
        below = self._noise.cumulative(told - self._index(index))
        return np.where(told < least, 0.0, np.where(told < greatest, below, 1.0))

    def draw(self, indices: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Randomise one chunk of grid points."""
        told = self._noise.draw(len(indices), source)
        told += indices
        # Cutting a report is post-processing: it happens after the noise and cannot raise epsilon.
        return np.clip(told, *self.alphabet, out=told)

    def positions(self, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, in steps above low, the unbiased reading of each report."""
        return symbols.astype(np.float64)

    def spread(self, position: float) -> float:
        """Return, in squared steps, the variance of that reading."""
        fraction = position - math.floor(position)
        return self._noise.variance + fraction * (1 - fraction)

    @property
    def _noise(self) -> DiscreteLaplaceNoise:
        return DiscreteLaplaceNoise(self.scale)

    def _index(self, index: int) -> int:
        return Integers("index", 0, self.steps).check(index)


@dataclass(frozen=True, kw_only=True)
class ContinuousLaplace(AdditiveNumber):
    """The clipped value plus Laplace noise of a scale, on the real line.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    scale : float
        Scale of the noise, in the unit of the value.

    Notes
    -----
    **Guarantee.** epsilon-LDP with epsilon = (high - low) / scale, on the real line; `randomize`
    keeps it exactly, on a public grid (docs/proofs/discrete-laplace.md).

    **Utility.** Unbiased, with variance 2 scale^2. A report beyond the bounds says the same
    whatever it is, since the tails fall at one rate: one cell on either side loses nothing.

    **Cost.** A likelihood takes two exponentials for each report and bin.

    References
    ----------
    C. Dwork et al., Calibrating noise to sensitivity in private data analysis, TCC 2006.

    Examples
    --------
    >>> age = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=2.0)
    >>> age.scale, age.epsilon
    (50.0, 2.0)
    >>> age.transition(age.edges(2), [-np.inf, 0, 50, 100, np.inf]).round(4)
    array([[0.3161, 0.3679, 0.1998, 0.1163],
           [0.1163, 0.1998, 0.3679, 0.3161]])
    """

    name: ClassVar[str] = "laplace"
    parameters: ClassVar[tuple[str, ...]] = ("scale",)
    scale: float

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_checked(self, _LINE_SCALE)
        EPSILON.check(self.epsilon)

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float) -> Self:
        """Describe the least scale that keeps epsilon."""
        # The bounds are checked before anything is computed from them.
        span = HIGH.check(high) - LOW.check(low)
        unit = cls(low=low, high=high, scale=max(abs(span), 1e-100))
        scale = unit.span / EPSILON.check(epsilon)
        return cls._keeping(epsilon, math.inf, low=low, high=high, scale=scale)

    @property
    def epsilon(self) -> float:
        """Span divided by the scale, rounded up."""
        return stated(Fraction(self.span) / Fraction(self.scale))

    def likelihood(self, reports: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
        """Return the density of each report given a value that is uniform in each bin."""
        borders = self._borders(edges)
        above = (np.asarray(reports, dtype=np.float64)[:, np.newaxis] - borders) / self.scale
        from_left, from_right = above[:, :-1], above[:, 1:]
        widths = np.diff(borders)
        # One of three cases holds: the report lies left of the bin, right of it, or inside.
        distance = np.maximum(np.maximum(-from_left, from_right), 0.0)
        outside = np.exp(-distance) * -np.expm1(-widths / self.scale)
        inside = -np.expm1(-np.maximum(from_left, 0)) - np.expm1(np.minimum(from_right, 0))
        beyond = (from_left <= 0) | (from_right >= 0)
        return np.asarray(np.where(beyond, outside, inside) / (2 * widths))

    def transition(self, edges: ArrayLike, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that a report falls into a cell, given a bin of values."""
        borders = self._borders(edges) / self.scale
        limits = np.asarray(cells, dtype=np.float64) / self.scale
        starts, ends = borders[:-1, np.newaxis], borders[1:, np.newaxis]
        first, last = limits[:-1], limits[1:]
        widths = ends - starts
        distance = np.maximum(np.maximum(first - ends, starts - last), 0.0)
        apart = np.exp(-distance) * np.expm1(-widths) * np.expm1(first - last) / 2
        beside = (first >= ends) | (last <= starts)
        mixed = np.where(beside, apart, self._overlapping(starts, ends, first, last))
        return np.asarray(mixed / widths)

    def _overlapping(
        self,
        starts: NDArray[np.float64],
        ends: NDArray[np.float64],
        first: NDArray[np.float64],
        last: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the integral of the density over bin and cell, in units of the scale."""
        # Noise beyond 700 scales has probability zero in floats.
        lower = np.maximum(first, starts - 700.0)
        upper = np.minimum(last, ends + 700.0)
        outer = _bend(upper - starts) + _bend(lower - ends)
        return np.asarray((outer - _bend(lower - starts) - _bend(upper - ends)) / 2)

    def report_cells(self, edges: ArrayLike) -> NDArray[np.float64]:
        """Return cells over the bins, and one for all that lies beyond on either side."""
        core = self._core(self._borders(edges), self.scale)
        return np.concatenate(([-np.inf], core, [np.inf]))

    def randomize(self, values: ArrayLike, source: RandomSource) -> NDArray[np.float64]:
        """Clip values and noise them exactly, on a public grid of 2^20 steps."""
        maker = Laplace.for_epsilon(
            low=self.low, high=self.high, epsilon=self.epsilon, steps=_LINE_STEPS
        )
        return maker.decode(maker.randomize(self._clipped(values), source))

    @property
    def noise_terms(self) -> tuple[float, float]:
        """Twice the squared scale, whatever the value."""
        return 2 * self.scale**2, 0.0


def _bend(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x - 1 + e^-x of x = abs(distance): twice integrated, it is the Laplace density."""
    size = np.abs(distance)
    small = np.minimum(size, _SERIES)
    series = small**2 * (
        1 / 2 - small * (1 / 6 - small * (1 / 24 - small * (1 / 120 - small / 720)))
    )
    series += small**7 * (-1 / 5040 + small / 40320)
    return np.where(size < _SERIES, series, np.expm1(-size) + size)
