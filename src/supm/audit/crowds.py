"""Every input and every place of a call is randomised, where there are too many to test each row.

A crowd holds all inputs, each some tens of times, given as whole numbers of several widths, as
floats and as a list. Events of known probability are counted for each input by itself: at an input
that is not randomised they come always or never.

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
from supm.audit.events import KnownEvent, events
from supm.audit.findings import FAMILY_ERROR, Finding, broken_by_the_impossible
from supm.audit.goodness import two_sided
from supm.audit.subjects import (
    Auditable,
    cells_of,
    count_inputs,
    grid_points,
    some_inputs,
    values_of,
)
from supm.mechanisms import Reports

_MOST = 1 << 22


_BITS = 1 << 26


_FEWEST = 64


_ENOUGH = 256


_AT_LEAST = 1 << 14


_LIST = 1 << 14


_WHOLE = ("int64", "int32", "uint8", "int8")


_REAL = ("float64", "float32")


def check_crowd(
    mechanism: Auditable,
    source: RandomSource,
    *,
    draws: int | None = None,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check events of known probability input by input, in a crowd that holds all of them.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, optional
        Owners in the crowd; by default 256 for each input, and less where reports are long or
        inputs many. With fewer than 64 for each, the inputs are a random selection.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if for some input, or for some type of values, an event comes too often or too
        seldom.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import LocalHashing
    >>> hashing = LocalHashing.for_epsilon(size=1000, epsilon=1.0)
    >>> check_crowd(hashing, simulation(1)).passed
    True
    """
    most = max(1, min(_MOST, _BITS // max(16, mechanism.report_bits)) if draws is None else draws)
    inputs = some_inputs(mechanism, max(2, most // _FEWEST), source)
    size = draws or min(most, max(_AT_LEAST, _ENOUGH * inputs.size))
    held = np.resize(inputs, size)
    form, reports = _randomize(mechanism, held, source)
    p_values = np.concatenate(
        [_p_values(each, form) for each in events(mechanism, reports, held, source)]
    )
    detail = f"{size} owners of {inputs.size} inputs, {p_values.size} counts"
    return Finding.by_chance("check_crowd", p_values, error=error, detail=detail)


def _randomize(
    mechanism: Auditable, held: NDArray[np.int64], source: RandomSource
) -> tuple[NDArray[np.int64], Reports]:
    """Randomise the crowd in several calls, each with values of another type."""
    values = values_of(mechanism, held)
    forms = list(_forms(values))
    # Lists are slow: their part is a small one.
    listed = min(len(values) // (len(forms) + 1), _LIST)
    parts = np.array_split(values[listed:], len(forms))
    given: list[Any] = [part.astype(kind) for part, kind in zip(parts, forms, strict=True)]
    given = [values[:listed].tolist(), *given]
    # To refuse a type is safe: such a part is given in the type that the mechanism lists.
    for place, native in enumerate((values[:listed], *parts)):
        if not _takes(mechanism, given[place], source):
            given[place] = native
    told = [mechanism.randomize(each, source).symbols for each in given]
    form = np.repeat(np.arange(len(told)), [len(each) for each in told])
    return form, Reports(symbols=np.concatenate(told), simulation=source.simulation)


def _takes(mechanism: Auditable, values: Any, source: RandomSource) -> bool:  # noqa: ANN401  an array or a list
    try:
        mechanism.randomize(values[:2], source)
    except Exception:  # noqa: BLE001  a refusal of any kind
        return False
    return True


def _forms(values: NDArray[Any]) -> Iterator[str]:
    """Yield the types that hold all values without rounding."""
    if values.dtype.kind == "O":
        yield "object"
        return
    for kind in _WHOLE if values.dtype.kind in "iu" else _REAL:
        with np.errstate(over="ignore"):
            if np.array_equal(values.astype(kind), values, equal_nan=True):
                yield kind


def _p_values(event: KnownEvent, form: NDArray[np.int64]) -> NDArray[np.float64]:
    """Test the groups within each form, over all forms, and all groups together."""
    forms, groups = int(form.max()) + 1, event.chance.size
    place = form * groups + event.group
    total = np.bincount(place, minlength=forms * groups).reshape(forms, groups)
    count = np.bincount(place, event.seen, forms * groups).reshape(forms, groups)
    p_values = [two_sided(count, total, event.chance)]
    p_values.append(two_sided(count.sum(axis=0), total.sum(axis=0), event.chance))
    if np.ptp(event.chance) == 0.0:
        seen, of = (np.append(each.sum(axis=1), each.sum()) for each in (count, total))
        p_values.append(two_sided(seen, of, event.chance[:1]))
    return np.concatenate(p_values)


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


_REPEATED_BITS = 1 << 27


_OBJECT_BITS = 128


_FEWEST_CALLS, _MOST_CALLS = 8, 48


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
    return max(_FEWEST_CALLS, min(_MOST_CALLS, _REPEATED_BITS // (length * bits)))


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
