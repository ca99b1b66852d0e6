"""A sampler draws what its channel says: for every input, between two points, at the bounds.

Low-order bits can betray a value (Mironov 2012): a value between two grid points must be reported
as a mixture of these two points, in the proportion that keeps the expectation, and as nothing else.
And the papers' ODA gives the minimum a class of its own, which a channel from class to class cannot
show: raw values at and beyond the bounds have to be drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.findings import (
    FAMILY_ERROR,
    Finding,
    ImpossibleReportError,
    broken_by_the_impossible,
)
from supm.audit.goodness import goodness_of_fit
from supm.audit.subjects import Auditable, Cells, cells_of, grid_points
from supm.mechanisms import FiniteChannel, Hybrid, Laplace, OrderedDiscretePerturbation, PublicGrid
from supm.mechanisms.randomizers.window import WindowRandomizer
from supm.schema import Continuous

_CALL = 1 << 18


@broken_by_the_impossible
def check_sampler(
    mechanism: FiniteChannel,
    source: RandomSource,
    *,
    draws: int = 1 << 20,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check the sampler against every row of the exact channel.

    Parameters
    ----------
    mechanism : FiniteChannel
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^20
        Reports drawn for each input.
    error : float, default 1e-6
        Chance that a true sampler fails, over all rows.

    Returns
    -------
    Finding
        Broken if a report is impossible, or if the counts of a row, or of all rows together,
        differ from the channel by more than chance.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_sampler(coin, simulation(1), draws=10_000).passed
    True
    """
    inputs = range(len(mechanism.inputs()))
    return _check("check_sampler", mechanism, inputs, source, draws=draws, error=error)


@broken_by_the_impossible
def check_density(
    mechanism: Laplace, source: RandomSource, *, draws: int = 1 << 20, error: float = FAMILY_ERROR
) -> Finding:
    """Check a sampler of unbounded reports against its stated distribution function.

    The first, the middle and the last grid point are drawn from.

    Parameters
    ----------
    mechanism : Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^20
        Reports drawn for each of the three inputs.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if a report is impossible, or if the counts differ from ``cumulative`` by more than
        chance.

    Examples
    --------
    >>> from supm._random import simulation
    >>> meter = Laplace.for_epsilon(low=0, high=100, epsilon=1.0)
    >>> check_density(meter, simulation(1), draws=10_000).passed
    True
    """
    inputs = (0, mechanism.steps // 2, mechanism.steps)
    return _check("check_density", mechanism, inputs, source, draws=draws, error=error)


def _check(
    check: str,
    mechanism: Auditable,
    inputs: range | tuple[int, ...],
    source: RandomSource,
    *,
    draws: int,
    error: float,
) -> Finding:
    cells = cells_of(mechanism, inputs)
    counts = _counts(mechanism, cells, np.array(inputs), source, draws)
    p_values = [goodness_of_fit(*row) for row in zip(counts, cells.probabilities, strict=True)]
    p_values.append(_by_level(counts, cells.probabilities))
    worst = int(np.argmin(p_values))
    where = f" (row {worst})" if worst < len(inputs) else " (all rows together)"
    detail = f"{draws} draws for each of {len(inputs)} inputs"
    return Finding.by_chance(check, p_values, error=error, detail=detail, where=where)


def _by_level(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Test how often likely cells were drawn: a bias that all rows share shows here first."""
    levels, inverse = np.unique(probabilities.round(12), return_inverse=True)
    seen = np.bincount(inverse.ravel(), counts.ravel(), levels.size)
    share = np.bincount(inverse.ravel(), probabilities.ravel(), levels.size) / len(counts)
    return goodness_of_fit(seen.astype(np.int64), share)


def _counts(
    mechanism: Auditable, cells: Cells, inputs: NDArray[np.int64], source: RandomSource, draws: int
) -> NDArray[np.int64]:
    """Count cells by row; all inputs take turns within each call, as in a real crowd."""
    values = grid_points(mechanism)[inputs]
    rows, columns = cells.probabilities.shape
    counts = np.zeros(rows * columns, dtype=np.int64)
    turns = min(draws, max(1, _CALL // rows))
    row = np.tile(np.arange(rows), turns)
    held, first = values[row], row * columns
    for start in range(0, draws, turns):
        asked = rows * min(turns, draws - start)
        drawn = cells.draw(mechanism, held[:asked], source)
        counts += np.bincount(first[:asked] + drawn, minlength=counts.size)
    table = counts.reshape(rows, columns)
    _refuse_impossible(table, cells.probabilities)
    return table


def _refuse_impossible(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
    impossible = np.argwhere((probabilities == 0) & (counts > 0))
    if impossible.size:
        row, column = impossible[0]
        raise ImpossibleReportError(
            f"row {row} drew outcome {column}, which its channel gives probability zero"
        )


OnGrid: TypeAlias = WindowRandomizer | Hybrid | Laplace


@broken_by_the_impossible
def check_grid(
    mechanism: OnGrid, source: RandomSource, *, draws: int = 1 << 17, error: float = FAMILY_ERROR
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
    p_values = _fits(mechanism, values, source, draws)
    detail = f"{draws} draws for each of {len(values)} values off the grid"
    return Finding.by_chance("check_grid", p_values, error=error, detail=detail)


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
        p_values.append(cells.fit(mechanism, np.full(draws, value), source, mixture))
    return p_values


def _position(grid: PublicGrid, value: float) -> tuple[int, float]:
    """Return the grid point below a value and the exact share of a step between them."""
    low, high = Fraction(grid.low), Fraction(grid.high)
    position = (Fraction(value) - low) / (high - low) * grid.steps
    index = min(math.floor(position), grid.steps - 1)
    return index, float(position - index)


@broken_by_the_impossible
def check_raw_values(
    mechanism: OrderedDiscretePerturbation,
    source: RandomSource,
    *,
    draws: int = 1 << 16,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check that raw values at and beyond the bounds, or of a list, are reported as their class.

    Parameters
    ----------
    mechanism : OrderedDiscretePerturbation
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^16
        Reports drawn for each raw value.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if a raw value is reported outside of the alphabet, or not as its class is.

    Examples
    --------
    >>> from supm._random import simulation
    >>> age = Continuous("age", low=0, high=100)
    >>> odp = OrderedDiscretePerturbation.for_epsilon(attribute=age, classes=4, epsilon=1.0)
    >>> check_raw_values(odp, simulation(1), draws=10_000).passed
    True
    """
    cells = cells_of(mechanism, range(mechanism.outcomes))
    p_values = [
        cells.fit(mechanism, np.repeat(value, draws), source, cells.probabilities[row])
        for value, row in _expected(mechanism)
    ]
    detail = f"{draws} draws for each of {len(p_values)} raw values"
    return Finding.by_chance("check_raw_values", p_values, error=error, detail=detail)


def _expected(mechanism: OrderedDiscretePerturbation) -> Iterator[tuple[Any, int]]:
    """Yield raw values, as arrays of one, and the class that each must have."""
    attribute = mechanism.discretizer.attribute
    if not isinstance(attribute, Continuous):
        for value in attribute.values:
            one = np.array([value, None], dtype=object)[:1]
            yield one, int(mechanism.discretizer.encode(one)[0])
        return
    width = attribute.high - attribute.low
    last = mechanism.outcomes - 1 - (attribute.missing == "class")
    for value in (attribute.low - width, attribute.low, np.nextafter(attribute.low, np.inf)):
        yield np.array([value]), 0
    for value in (np.nextafter(attribute.high, -np.inf), attribute.high, attribute.high + width):
        yield np.array([value]), last
