"""The square-wave mechanism: reports from which a whole distribution is reconstructed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers, Reals, check_kind
from supm.mechanisms.noised_number import ContinuousWindow
from supm.mechanisms.randomizers.numeric import COUNT, PublicGrid
from supm.mechanisms.randomizers.randomizer import Reports, Tally, check_tally
from supm.mechanisms.randomizers.reconstruction import reconstruct
from supm.mechanisms.randomizers.window import SlidingWindow, WindowRandomizer

# The reconstruction needs the channel as a matrix, of about twice the square of this.
_STEPS = Integers("steps", 1, 1 << 10, "For a finer grid use Piecewise or Laplace.")
_LEVEL = Reals("level", 0.0, 1.0)
_SERIES: Final = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class DistributionEstimate:
    """A distribution over the points of a public grid.

    Parameters
    ----------
    points : ndarray of float
        The grid points.
    shares : ndarray of float
        Estimated share of the owners at each point; the shares add up to one.
    iterations : int
        Steps of the reconstruction.
    converged : bool
        False if the reconstruction was stopped by its limit of steps.
    simulation : bool
        True if any report behind it came from a seed.

    Examples
    --------
    >>> coin = DistributionEstimate(
    ...     points=np.array([0.0, 1.0]),
    ...     shares=np.array([0.25, 0.75]),
    ...     iterations=1,
    ...     converged=True,
    ...     simulation=True,
    ... )
    >>> coin.mean, coin.variance, coin.quantile(0.5)
    (0.75, 0.1875, 1.0)
    """

    points: NDArray[np.float64]
    shares: NDArray[np.float64]
    iterations: int
    converged: bool
    simulation: bool

    @property
    def mean(self) -> float:
        """Mean of the distribution."""
        return float(self.shares @ self.points)

    @property
    def variance(self) -> float:
        """Variance of the distribution."""
        return float(self.shares @ np.square(self.points - self.mean))

    def quantile(self, level: float) -> float:
        """Return the least grid point at or below which a share of at least ``level`` lies."""
        reached = np.cumsum(self.shares) >= _LEVEL.check(level) - 1e-12
        return float(self.points[int(reached.argmax())] if reached.any() else self.points[-1])


@dataclass(frozen=True, kw_only=True)
class SquareWave(WindowRandomizer):
    """Report a cell of a window around the own grid point, or a cell outside of it.

    Seeing a report changes the odds between any two values by a factor of at most e^epsilon. The
    window has the width that tells most about a distribution; the aggregator reconstructs it by EM.

    Parameters
    ----------
    grid : PublicGrid
        Public bounds of a value and the steps between them, at most 1024.
    window : int
        Number of likely cells, 1 to steps.
    threshold : int
        How many of the 2^64 words fall inside the window; more than a fair share of them.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = threshold steps / ((2^64 - threshold) window), the
    rounding to the grid included: Theorem 1 of docs/proofs/square-wave.md. Words limit it: epsilon
    is at most log(2^64 steps), about 50 with 256 steps, however large the one that was asked for.

    **Utility.** The half width b of `half_width` maximises, in the limit of many steps, an upper
    bound on the mutual information of value and report (Theorem 2). The smoothed reconstruction
    favours smooth distributions; no error bound is claimed for it.

    **Cost.** Two 64-bit words and O(1) time per report of log2(steps + window) bits. One step of
    the reconstruction takes O(steps^2) time.

    References
    ----------
    Z. Li et al., Estimating numerical distributions under local differential privacy, SIGMOD 2020.

    Examples
    --------
    >>> from supm._random import simulation
    >>> wave = SquareWave.for_epsilon(low=0, high=1, epsilon=3.0, steps=16)
    >>> wave.window, wave.outcomes
    (2, 18)
    >>> reports = wave.randomize(np.full(10_000, 0.25), simulation(1))
    >>> wave.estimate(wave.tally(reports)).quantile(0.5)
    0.25
    """

    grid: PublicGrid
    window: int
    threshold: int

    def __post_init__(self) -> None:
        check_kind("grid", self.grid, PublicGrid)
        _STEPS.check(self.steps)
        _ = self._window

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float, steps: int = 256) -> Self:
        """Make the randomizer whose reports tell most, in the limit, about a distribution."""
        grid = PublicGrid(low=low, high=high, steps=_STEPS.check(steps))
        width = max(1, round(2 * half_width(epsilon) * grid.steps))
        window = SlidingWindow.for_epsilon(steps=grid.steps, width=width, epsilon=epsilon)
        return cls(grid=grid, window=width, threshold=window.threshold)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each cell. Tallies of disjoint owners add up."""
        counts = np.bincount(self._symbols(reports), minlength=self.outcomes)
        return Tally(counts=counts, reports=len(reports), simulation=reports.simulation)

    def estimate(self, tally: Tally, *, smooth: bool = True) -> DistributionEstimate:
        """Reconstruct the distribution of the owners' values over the grid points."""
        if check_tally(tally).counts.shape != (self.outcomes,):
            raise ParameterError("tally", f"of {self.outcomes} counts", tally.counts.shape)
        COUNT.check(tally.reports)
        found = reconstruct(tally.counts, self.channel(), smooth=smooth)
        return DistributionEstimate(
            points=self.grid.points(),
            shares=found.distribution,
            iterations=found.iterations,
            converged=found.converged,
            simulation=tally.simulation,
        )

    @property
    def _window(self) -> SlidingWindow:
        return SlidingWindow(steps=self.steps, width=self.window, threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class ContinuousSquareWave(ContinuousWindow):
    """The square-wave mechanism on the real line, whose reports are positions.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    width : float
        Width of the window as a share of the span.
    outside : float
        Probability of a report outside of the window.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = (1 - outside) / (width outside), on the real line;
    `randomize` keeps it exactly, on a public grid (docs/proofs/square-wave.md).

    **Utility.** Positions, which `unbiased` stretches; the window tells most of a distribution.

    **Cost.** A likelihood takes one clipped difference for each report and bin.

    References
    ----------
    Z. Li et al., Estimating numerical distributions under local differential privacy, SIGMOD 2020:
    a report in [-b, 1 + b] for values in [0, 1], moved to the column's unit.

    Examples
    --------
    >>> age = ContinuousSquareWave.for_epsilon(low=0, high=1, epsilon=1.0)
    >>> round(age.width / 2, 6), round(age.epsilon, 9)
    (0.256083, 1.0)
    """

    name: ClassVar[str] = "square_wave"
    most: ClassVar[float] = 31.0

    @staticmethod
    def window_at(epsilon: float) -> float:
        """Return the width that tells most."""
        return 2 * half_width(epsilon)


def half_width(epsilon: float) -> float:
    """Return the half width b of the best window for values in [0, 1].

    b = (epsilon e^epsilon - e^epsilon + 1) / (2 e^epsilon (e^epsilon - 1 - epsilon)).

    Examples
    --------
    >>> round(half_width(1.0), 6)
    0.256083
    >>> round(half_width(1e-6), 9)
    0.499999667
    """
    epsilon = EPSILON.check(epsilon)
    if epsilon < 1:
        return _excess(-epsilon) / (2 * _excess(epsilon))
    decay = math.exp(-epsilon)
    return decay * (epsilon - 1 + decay) / (2 * (1 - (1 + epsilon) * decay))


def _excess(x: float) -> float:
    """Return (e^x - 1 - x) / x^2 by its series, where the difference would lose all digits."""
    return math.fsum(x**power / math.factorial(power + 2) for power in range(_SERIES))
