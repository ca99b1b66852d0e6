"""Owners for the checks of crowds: inputs by number, without a list of all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.cells import Auditable, grid_points
from supm.mechanisms import FrequencyRandomizer, IndependentReports, JointReport
from supm.mechanisms.randomizers.records import record_numbers

__all__ = ["count_inputs", "some_inputs", "values_of"]


def count_inputs(mechanism: Auditable) -> int:
    """Return how many inputs there are; it may be as many as 2^40.

    Examples
    --------
    >>> count_inputs(JointReport.for_epsilon(sizes=(2, 3), epsilon=1.0))
    6
    """
    if isinstance(mechanism, FrequencyRandomizer):
        return mechanism.size
    if isinstance(mechanism, JointReport | IndependentReports):
        return math.prod(mechanism.sizes)
    return len(grid_points(mechanism))


def values_of(mechanism: Auditable, numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return the inputs of the given numbers, as `randomize` takes them.

    Examples
    --------
    >>> joint = JointReport.for_epsilon(sizes=(2, 3), epsilon=1.0)
    >>> values_of(joint, np.array([0, 5])).tolist()
    [[0, 0], [1, 2]]
    """
    if isinstance(mechanism, FrequencyRandomizer):
        return numbers
    if isinstance(mechanism, JointReport | IndependentReports):
        return record_numbers(numbers, mechanism.sizes)
    return grid_points(mechanism)[numbers]


def some_inputs(mechanism: Auditable, most: int, source: RandomSource) -> NDArray[np.int64]:
    """Return the numbers of all inputs, or of the first, the last and random ones.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import LocalHashing
    >>> hashing = LocalHashing.for_epsilon(size=1000, epsilon=1.0)
    >>> some_inputs(hashing, 5000, simulation(1)).size
    1000
    >>> some_inputs(hashing, 10, simulation(1)).max()
    np.int64(999)
    """
    count = count_inputs(mechanism)
    if count <= most:
        return np.arange(count, dtype=np.int64)
    chosen = source.below(count, most).astype(np.int64)
    return np.unique(np.append(chosen[2:], (0, count - 1)))
