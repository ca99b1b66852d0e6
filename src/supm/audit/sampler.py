"""A sampler draws what its channel says, for every input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.cells import Auditable, Cells, ImpossibleReportError, cells_of, grid_points
from supm.audit.finding import FAMILY_ERROR, Finding
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import FiniteChannel
from supm.mechanisms.randomizers.laplace import Laplace

__all__ = ["check_density", "check_sampler"]

_CALL = 1 << 18


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


def check_density(
    mechanism: Laplace,
    source: RandomSource,
    *,
    draws: int = 1 << 20,
    error: float = FAMILY_ERROR,
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
    try:
        counts = _counts(mechanism, cells, np.array(inputs), source, draws)
    except ImpossibleReportError as impossible:
        return Finding(check=check, passed=False, detail=str(impossible), statistic=0.0)
    p_values = [goodness_of_fit(*row) for row in zip(counts, cells.probabilities, strict=True)]
    p_values.append(_by_level(counts, cells.probabilities))
    worst = int(np.argmin(p_values))
    corrected = min(1.0, p_values[worst] * len(p_values))
    where = f"row {worst}" if worst < len(inputs) else "all rows together"
    return Finding(
        check=check,
        passed=corrected > error,
        detail=f"{draws} draws for each of {len(inputs)} inputs, corrected p-value {corrected:.3g} "
        f"({where})",
        statistic=corrected,
    )


def _by_level(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Test how often likely cells were drawn: a bias that all rows share shows here first."""
    levels, inverse = np.unique(probabilities.round(12), return_inverse=True)
    seen = np.bincount(inverse.ravel(), counts.ravel(), levels.size)
    share = np.bincount(inverse.ravel(), probabilities.ravel(), levels.size) / len(counts)
    return goodness_of_fit(seen.astype(np.int64), share)


def _counts(
    mechanism: Auditable,
    cells: Cells,
    inputs: NDArray[np.int64],
    source: RandomSource,
    draws: int,
) -> NDArray[np.int64]:
    """Count cells by row; all inputs take turns within each call, as in a real crowd."""
    values = grid_points(mechanism)[inputs]
    rows, columns = cells.probabilities.shape
    counts = np.zeros(rows * columns, dtype=np.int64)
    turns = max(1, _CALL // rows)
    for start in range(0, draws, turns):
        row = np.tile(np.arange(rows), min(turns, draws - start))
        drawn = cells.draw(mechanism, values[row], source)
        counts += np.bincount(row * columns + drawn, minlength=counts.size)
    table = counts.reshape(rows, columns)
    _refuse_impossible(table, cells.probabilities)
    return table


def _refuse_impossible(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
    impossible = np.argwhere((probabilities == 0) & (counts > 0))
    if impossible.size:
        row, column = impossible[0]
        message = f"row {row} drew outcome {column}, which its channel gives probability zero"
        raise ImpossibleReportError(message)
