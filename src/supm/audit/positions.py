"""Every row of a call is randomised: the first, the last, and those at the edges of chunks.

A loop that ends one step too early leaves one row in thousands as it was. Among all rows that is
too rare to be noticed, so here calls are repeated and each place of a call is counted by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource
from supm.audit.cells import Auditable, Cells, ImpossibleReportError, cells_of, grid_points
from supm.audit.finding import FAMILY_ERROR, Finding

__all__ = ["check_positions"]


def check_positions(
    mechanism: Auditable,
    source: RandomSource,
    *,
    calls: int = 100,
    rows: int = (1 << 15) + (1 << 12),
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check each place of a call by itself, and calls of one row.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    calls : int, default 100
        How often a call is repeated. At a place that is not randomised, all of them agree.
    rows : int, default 36864
        Reports in a call: more than any shipped mechanism draws at once.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if at some place the likelier half of the reports comes too often or too seldom. A
        mechanism of large epsilon hardly varies, and then there is nothing to be seen.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_positions(coin, simulation(1), rows=1000).passed
    True
    """
    cells = cells_of(mechanism, [0])
    likely, share = _likelier_half(cells.probabilities[0])
    first = grid_points(mechanism)[:1]
    try:
        counts = _count(mechanism, cells, likely, np.repeat(first, rows, axis=0), calls, source)
        alone = _count(mechanism, cells, likely, first, calls, source)
    except ImpossibleReportError as impossible:
        detail = str(impossible)
        return Finding(check="check_positions", passed=False, detail=detail, statistic=0.0)
    p_values = _two_sided(np.append(counts, alone), calls, share)
    worst = int(p_values.argmin())
    corrected = min(1.0, float(p_values[worst]) * p_values.size)
    where = f"place {worst}" if worst < rows else "calls of one row"
    return Finding(
        check="check_positions",
        passed=corrected > error,
        detail=f"{calls} calls of {rows} rows, corrected p-value {corrected:.3g} ({where})",
        statistic=corrected,
    )


def _likelier_half(row: NDArray[np.float64]) -> tuple[NDArray[np.bool_], float]:
    """Choose the likeliest cells that together have at least half of the probability."""
    order = np.argsort(-row, kind="stable")
    needed = int(np.searchsorted(np.cumsum(row[order]), 0.5)) + 1
    likely = np.zeros(row.size, dtype=np.bool_)
    likely[order[:needed]] = True
    return likely, float(min(row[likely].sum(), 1.0))


def _count(
    mechanism: Auditable,
    cells: Cells,
    likely: NDArray[np.bool_],
    values: NDArray[np.generic],
    calls: int,
    source: RandomSource,
) -> NDArray[np.int64]:
    """Count, for each place, in how many calls the report was among the likely ones."""
    counts = np.zeros(len(values), dtype=np.int64)
    for _ in range(calls):
        counts += likely[cells.draw(mechanism, values, source)]
    return counts


def _two_sided(counts: NDArray[np.int64], total: int, share: float) -> NDArray[np.float64]:
    possible = np.arange(total + 1)
    below = stats.binom.cdf(possible, total, share)
    above = stats.binom.sf(possible - 1, total, share)
    p_values: NDArray[np.float64] = np.minimum(1.0, 2.0 * np.minimum(below, above))[counts]
    return p_values
