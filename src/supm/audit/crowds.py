"""Every input is randomised, and independently, where there are too many to test each row.

A crowd holds all inputs, each some tens of times, given as whole numbers of several widths, as
floats and as a list. Events of known probability are counted for each input by itself: at an input
that is not randomised they come always or never. Reports of mixed inputs must not correlate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.events import KnownEvent, events
from supm.audit.findings import FAMILY_ERROR, Finding
from supm.audit.goodness import two_sided
from supm.audit.independence import correlation_bound
from supm.audit.subjects import Auditable, some_inputs, values_of
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


_INPUTS = 256


def check_mixed(
    mechanism: Auditable, source: RandomSource, *, draws: int = 1 << 15, error: float = FAMILY_ERROR
) -> Finding:
    """Check that reports of a mixed crowd are independent, within a call and between two.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^15
        Reports in each of the two calls, of inputs in random order. Reuse is noticed up to a lag of
        half of them.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if a lag correlates.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import LocalHashing
    >>> hashing = LocalHashing.for_epsilon(size=1000, epsilon=1.0)
    >>> check_mixed(hashing, simulation(1), draws=10_000).passed
    True
    """
    inputs = some_inputs(mechanism, _INPUTS, source)
    held = inputs[source.below(inputs.size, draws).astype(np.int64)]
    values = values_of(mechanism, held)
    calls = [mechanism.randomize(values, source) for _ in range(2)]
    bounds = []
    for first, second in zip(
        *(events(mechanism, call, held, source) for call in calls), strict=True
    ):
        chances = np.concatenate([each.chance for each in (first, second)])
        scores = [each.seen - each.chance[each.group] for each in (first, second)]
        variance = float((chances * (1.0 - chances)).max())
        reach = float(np.maximum(chances, 1.0 - chances).max())
        bounds.append(correlation_bound(*scores, variance=variance, reach=reach))
    crowd = f"two calls of {draws} reports of {inputs.size} inputs"
    detail = f"{crowd}, {len(bounds)} events at all lags to {draws // 2}"
    return Finding.by_chance("check_mixed", bounds, error=error, detail=detail)
