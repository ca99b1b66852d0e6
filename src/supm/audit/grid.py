"""Numbers stay on their public grid: low-order bits can betray a value (Mironov 2012).

A value between two grid points must be reported as a mixture of these two points, in the
proportion that keeps the expectation, and as nothing else. So a value that differs from a grid
point in its last bit must be reported as that point is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from supm._random import RandomSource
from supm.audit.cells import ImpossibleReportError, cells_of
from supm.audit.finding import FAMILY_ERROR, Finding
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms.randomizers.hybrid import Hybrid
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.public_grid import PublicGrid
from supm.mechanisms.randomizers.window import WindowRandomizer

__all__ = ["OnGrid", "check_grid"]

OnGrid: TypeAlias = WindowRandomizer | Hybrid | Laplace


def check_grid(
    mechanism: OnGrid,
    source: RandomSource,
    *,
    draws: int = 1 << 17,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check that a value between two grid points is reported as a mixture of them and no more.

    Parameters
    ----------
    mechanism : Duchi, Hybrid, Laplace, Piecewise or SquareWave
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^17
        Reports drawn for each of nine values: a quarter of a step above a grid point, and one last
        bit above and below one, at the start, in the middle and at the end of the grid.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if a report is not a whole number of the alphabet, or not drawn from the mixture.

    Examples
    --------
    >>> from supm._random import simulation
    >>> meter = Laplace.for_epsilon(low=0, high=100, epsilon=1.0)
    >>> check_grid(meter, simulation(1), draws=10_000).passed
    True
    """
    values = list(_between(mechanism.grid))
    try:
        p_values = _fits(mechanism, values, source, draws)
    except ImpossibleReportError as impossible:
        return Finding(check="check_grid", passed=False, detail=str(impossible), statistic=0.0)
    corrected = min(1.0, min(p_values) * len(p_values))
    return Finding(
        check="check_grid",
        passed=corrected > error,
        detail=f"{draws} draws for each of {len(values)} values off the grid, "
        f"corrected p-value {corrected:.3g}",
        statistic=corrected,
    )


def _between(grid: PublicGrid) -> Iterator[float]:
    for index in sorted({0, grid.steps // 2, grid.steps - 1}):
        first, second = grid.place(np.array([index, index + 1.0])).tolist()
        yield first + (second - first) / 4
        yield math.nextafter(first, second)
        yield math.nextafter(second, first)


def _fits(mechanism: OnGrid, values: list[float], source: RandomSource, draws: int) -> list[float]:
    places = [_position(mechanism.grid, value) for value in values]
    points = sorted({point for index, _ in places for point in (index, index + 1)})
    cells = cells_of(mechanism, points)
    p_values = []
    for value, (index, fraction) in zip(values, places, strict=True):
        first, second = cells.probabilities[[points.index(index), points.index(index + 1)]]
        mixture = (1.0 - fraction) * first + fraction * second
        drawn = cells.draw(mechanism, np.full(draws, value), source)
        counts = np.bincount(drawn, minlength=mixture.size)
        p_values.append(goodness_of_fit(counts, mixture))
    return p_values


def _position(grid: PublicGrid, value: float) -> tuple[int, float]:
    """Return the grid point below a value and the exact share of a step between them."""
    low, high = Fraction(grid.low), Fraction(grid.high)
    position = (Fraction(value) - low) / (high - low) * grid.steps
    index = min(math.floor(position), grid.steps - 1)
    return index, float(position - index)
