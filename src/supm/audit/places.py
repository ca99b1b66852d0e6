"""Every row of a call is randomised: the first, the last, and those at the edges of chunks.

A loop that ends one step too early leaves one row in thousands as it was. Among all rows that is
too rare to be noticed, so calls are repeated and each place is counted by itself; in long calls the
places around every multiple of a power of two are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource
from supm.audit.events import events
from supm.audit.findings import FAMILY_ERROR, Finding, broken_by_the_impossible
from supm.audit.goodness import two_sided
from supm.audit.subjects import Auditable, cells_of, count_inputs, grid_points, values_of
from supm.mechanisms import Reports


@broken_by_the_impossible
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

    def drawn(values: NDArray[Any]) -> NDArray[np.int64]:
        """Count, for each place, in how many calls the report was among the likely ones."""
        told = [likely[cells.draw(mechanism, values, source)] for _ in range(calls)]
        return np.asarray(np.sum(told, axis=0, dtype=np.int64))

    seen = np.append(drawn(np.repeat(first, rows, axis=0)), drawn(first))
    p_values = two_sided(seen, np.full_like(seen, calls), np.array([share]))
    worst = int(p_values.argmin())
    where = f" (place {worst})" if worst < rows else " (calls of one row)"
    detail = f"{calls} calls of {rows} rows"
    return Finding.by_chance("check_positions", p_values, error=error, detail=detail, where=where)


def _likelier_half(row: NDArray[np.float64]) -> tuple[NDArray[np.bool_], float]:
    """Choose the likeliest cells that together have at least half of the probability."""
    order = np.argsort(-row, kind="stable")
    needed = int(np.searchsorted(np.cumsum(row[order]), 0.5)) + 1
    likely = np.zeros(row.size, dtype=np.bool_)
    likely[order[:needed]] = True
    return likely, float(min(row[likely].sum(), 1.0))


_ROWS = (1 << 17) + 2
_POWERS = range(10, 18)
_LONGEST_BITS = 1 << 25
_BITS = 1 << 27
_OBJECT_BITS = 128
_FEWEST, _MOST = 8, 48
_SHORT = 1000
_LENGTHS = (1, 2, 3)


def check_long_calls(
    mechanism: Auditable,
    source: RandomSource,
    *,
    rows: int | None = None,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check the edges of chunks in long calls, and the first and last place of short ones.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    rows : int, optional
        Length of a long call; by default 2^17 + 2, and less where reports are long.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if at the places of one kind an event of known probability comes too often or too
        seldom. There are 8 to 48 long calls and 1000 of each short length.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_long_calls(coin, simulation(1), rows=5000).passed
    True
    """
    length = rows or max(2, min(_ROWS, _LONGEST_BITS // mechanism.report_bits))
    held = count_inputs(mechanism) // 2
    value = values_of(mechanism, np.array([held]))
    calls = _calls(mechanism, length, value)
    p_values = list(_tests(mechanism, value, held, source, (length, calls, list(_kinds(length)))))
    for short in _LENGTHS:
        ends = [np.array([0]), np.array([short - 1])]
        p_values += _tests(mechanism, value, held, source, (short, _SHORT, ends))
    detail = f"{calls} calls of {length} rows and {_SHORT} of each of {len(_LENGTHS)} short lengths"
    return Finding.by_chance("check_long_calls", p_values, error=error, detail=detail)


def _calls(mechanism: Auditable, length: int, value: NDArray[Any]) -> int:
    bits = max(16, mechanism.report_bits, _OBJECT_BITS if value.dtype == object else 0)
    return max(_FEWEST, min(_MOST, _BITS // (length * bits)))


def _kinds(length: int) -> Iterator[NDArray[np.int64]]:
    """Yield the places of each kind: the two ends, and those around multiples of powers of two."""
    yield np.array([0])
    yield np.array([length - 1])
    for power in _POWERS:
        edges = np.arange(1 << power, length, 1 << power)
        for places in (edges - 1, edges, edges + 1):
            if places.size:
                yield places[places < length]


def _tests(
    mechanism: Auditable,
    value: NDArray[Any],
    held: int,
    source: RandomSource,
    plan: tuple[int, int, list[NDArray[np.int64]]],
) -> Iterator[float]:
    """Yield the p-value of each kind of place, for each event."""
    length, calls, kinds = plan
    places, inverse = np.unique(np.concatenate(kinds), return_inverse=True)
    values = np.repeat(value, length, axis=0)
    told = [mechanism.randomize(values, source).symbols[places] for _ in range(calls)]
    reports = Reports(symbols=np.concatenate(told), simulation=source.simulation)
    owners = np.full(len(reports), held)
    parts = np.split(inverse, np.cumsum([kind.size for kind in kinds])[:-1])
    for event in events(mechanism, reports, owners, source):
        counts = event.seen.reshape(calls, places.size).sum(axis=0)
        chance = float(event.chance[event.group[0]])
        for part in parts:
            trials = calls * part.size
            yield float(stats.binomtest(int(counts[part].sum()), trials, chance).pvalue)
