"""All raw values are safe, the minimum and what lies beyond the bounds included.

The papers' ODA gives the minimum a class that no other value can have, so that its report proves
what it was. A channel from class to class cannot show that: the raw values themselves have to be
drawn from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from supm._random import RandomSource
from supm.audit.cells import ImpossibleReportError, cells_of
from supm.audit.finding import FAMILY_ERROR, Finding
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import OrderedDiscretePerturbation
from supm.schema import Continuous

__all__ = ["check_raw_values"]


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
    p_values = []
    for value, row in _expected(mechanism):
        try:
            drawn = cells.draw(mechanism, np.repeat(value, draws), source)
        except ImpossibleReportError as impossible:
            detail = str(impossible)
            return Finding(check="check_raw_values", passed=False, detail=detail, statistic=0.0)
        counts = np.bincount(drawn, minlength=mechanism.outcomes)
        p_values.append(goodness_of_fit(counts, cells.probabilities[row]))
    corrected = min(1.0, min(p_values) * len(p_values))
    return Finding(
        check="check_raw_values",
        passed=corrected > error,
        detail=f"{draws} draws for each of {len(p_values)} raw values, "
        f"corrected p-value {corrected:.3g}",
        statistic=corrected,
    )


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
