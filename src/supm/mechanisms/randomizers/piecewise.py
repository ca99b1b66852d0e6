"""The piecewise mechanism: report a cell near the own value, or one anywhere else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._validation import EPSILON, check_kind
from supm.mechanisms.noised_number import ContinuousWindow
from supm.mechanisms.randomizers.numeric import PublicGrid
from supm.mechanisms.randomizers.window import SlidingWindow, UnbiasedWindow, WindowShapes
from supm.mechanisms.thresholds import WORDS

# By so much the epsilon of a description in floats lies above what is spent.
_MARGIN: Final = 2.0**-45


@dataclass(frozen=True, kw_only=True)
class Piecewise(UnbiasedWindow):
    """Report a cell of a window that starts at the own grid point, or a cell outside of it.

    Seeing a report changes the odds between any two values by a factor of at most e^epsilon. This
    is the piecewise mechanism (PM, also called PW) on a public grid: the reports are whole numbers,
    so no low-order bits of the value can leak.

    Parameters
    ----------
    grid : PublicGrid
        Public bounds of a value and the steps between them.
    window : int
        Number of likely cells, 1 to steps.
    threshold : int
        How many of the 2^64 words fall inside the window; more than a fair share of them.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = threshold steps / ((2^64 - threshold) window), the
    rounding to the grid included: Theorem 1 of docs/proofs/piecewise.md. Words limit it: epsilon is
    at most log(2^64 steps), about 51 with 1024 steps, however large the one that was asked for.

    **Utility.** Unbiased (Theorem 2). `for_epsilon` takes the paper's window, steps / E cells with
    E = e^(epsilon/2), to the nearest cell: on [-1, 1], with many steps, a report has variance x^2 /
    (E - 1) + (E + 3) / (3 (E - 1)^2) (Theorem 4). `optimised` takes the window of least worst-case
    variance, about steps e^(-epsilon/3) cells: the worst case falls by 3 % at epsilon = 1, by a
    third at 4, by three quarters at 10. From an epsilon of about 2 log(steps) on, the rounding to
    the grid is what is left.

    **Cost.** Two 64-bit words and O(1) time per report of log2(steps + window) bits.

    References
    ----------
    N. Wang et al., Collecting and analyzing multidimensional data with local differential privacy,
    ICDE 2019, Algorithm 2. The wider window: Y. Zhao et al., Local differential privacy-based
    federated learning for Internet of Things, IEEE Internet of Things Journal 8 (2021). I. Mironov,
    On significance of the least significant bits for differential privacy, CCS 2012.

    Examples
    --------
    >>> import math
    >>> thermometer = Piecewise.for_epsilon(low=-1, high=1, epsilon=2 * math.log(2), steps=2)
    >>> thermometer.channel().round(3)
    array([[0.667, 0.167, 0.167],
           [0.167, 0.667, 0.167],
           [0.167, 0.167, 0.667]])
    >>> round(thermometer.variance(0.0), 9)
    1.333333333
    """

    grid: PublicGrid
    window: int
    threshold: int

    def __post_init__(self) -> None:
        check_kind("grid", self.grid, PublicGrid)
        _ = self._window

    @classmethod
    def for_epsilon(cls, *, low: float, high: float, epsilon: float, steps: int = 1024) -> Self:
        """Make the randomizer that has the paper's window and keeps epsilon."""
        grid = PublicGrid(low=low, high=high, steps=steps)
        width = max(1, round(grid.steps * math.exp(-EPSILON.check(epsilon) / 2)))
        return cls.with_window(grid, width, epsilon)

    @classmethod
    def optimised(cls, *, low: float, high: float, epsilon: float, steps: int = 1024) -> Self:
        """Make the randomizer that has the least worst-case variance and keeps epsilon."""
        grid = PublicGrid(low=low, high=high, steps=steps)
        worst = _worst_spread(WindowShapes(steps=grid.steps, epsilon=epsilon))
        return cls.with_window(grid, 1 + int(worst.argmin()), epsilon)

    @classmethod
    def with_window(cls, grid: PublicGrid, width: int, epsilon: float) -> Self:
        """Make the randomizer that has a window of the given width and keeps epsilon."""
        window = SlidingWindow.for_epsilon(steps=grid.steps, width=width, epsilon=epsilon)
        return cls(grid=grid, window=width, threshold=window.threshold)

    def continuous(self) -> ContinuousPiecewise:
        """Return the mechanism on the real line of no smaller an epsilon, to read reports by."""
        outside = float(1 - Fraction(self.threshold, WORDS)) * (1 - _MARGIN)
        width = self.window / self.steps
        return ContinuousPiecewise(low=self.low, high=self.high, width=width, outside=outside)

    @property
    def slope(self) -> float:
        """By how much the mean report moves, in cells, when the value moves by one step."""
        return float(self._window.slope)

    @property
    def _window(self) -> SlidingWindow:
        return SlidingWindow(steps=self.steps, width=self.window, threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class ContinuousPiecewise(ContinuousWindow):
    """The piecewise mechanism on the real line, whose reports are unbiased.

    Parameters
    ----------
    low, high : float
        Public bounds of the value.
    width : float
        Width of the window as a share of the span, before positions are stretched.
    outside : float
        Probability of a report outside of the window.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = (1 - outside) / (width outside), on the real line;
    `randomize` keeps it exactly, on a public grid (docs/proofs/piecewise.md).

    **Utility.** Unbiased; the variance grows with the square of the distance from the middle.

    **Cost.** A likelihood takes one clipped difference for each report and bin.

    References
    ----------
    N. Wang et al., Collecting and analyzing multidimensional data with local differential privacy,
    ICDE 2019, Algorithm 2: a report in [-C, C] for values in [-1, 1], moved to the column's unit.

    Examples
    --------
    >>> age = ContinuousPiecewise.for_epsilon(low=-1, high=1, epsilon=2 * math.log(2))
    >>> round(age.width, 3), round(float(age.report_cells([-1, 1])[2]), 3)
    (0.5, 1.0)
    >>> round(age.noise_variance(0.0, 0.0), 6)
    1.666667
    """

    name: ClassVar[str] = "piecewise"
    stretched: ClassVar[bool] = True

    @staticmethod
    def window_at(epsilon: float) -> float:
        """Return the paper's width."""
        return math.exp(-epsilon / 2)


def _worst_spread(shapes: WindowShapes) -> NDArray[np.float64]:
    """Return the largest variance over all values, which lies on the last step of the grid."""
    last, growth = shapes.steps / 2 - 1, shapes.lost / shapes.slope
    linear = 2 * last * growth + 1 / shapes.slope
    top = np.minimum(linear / 2, 1.0)
    return np.asarray(shapes.fixed + growth * last**2 + top * linear - top**2)
