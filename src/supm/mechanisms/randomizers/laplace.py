"""The Laplace mechanism on a public grid: the grid point plus exact discrete noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, check_kind
from supm.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
from supm.mechanisms.randomizers.numeric import NumericRandomizer
from supm.mechanisms.randomizers.public_grid import PublicGrid
from supm.mechanisms.thresholds import least_reading, stated

__all__ = ["Laplace"]

_REACH: Final = 64
_FINEST: Final = 1 << 47


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

    def probability(self, index: int, symbols: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each report of an owner at a grid point.

        Parameters
        ----------
        index : int
            The grid point, 0 … steps.
        symbols : array-like of int
            Reports.

        Returns
        -------
        ndarray of float
            Zero outside of the alphabet. The ends of the alphabet hold all that lies beyond them.
        """
        least, greatest = self.alphabet
        told = np.asarray(symbols, dtype=np.int64)
        noise = told - self._index(index)
        inner = self._noise.probability(noise)
        upper = np.where(told == greatest, self._noise.survival(noise), 0.0)
        ends = np.where(told == least, self._noise.cumulative(noise), upper)
        return np.where((least < told) & (told < greatest), inner, ends)

    def cumulative(self, index: int, symbols: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that an owner at a grid point reports each symbol or a lower one.

        Parameters
        ----------
        index : int
            The grid point, 0 … steps.
        symbols : array-like of int
            Reports.

        Returns
        -------
        ndarray of float
            The exact distribution function.
        """
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
