"""Reports of owners who hold different values are independent too.

`check_independence` looks at one input, so noise that is reused at the others escapes it. Here all
inputs are mixed, and what is correlated is whether an event of known probability came.
"""

from __future__ import annotations

import numpy as np

from supm._random import RandomSource
from supm.audit.cells import Auditable
from supm.audit.events import events
from supm.audit.finding import FAMILY_ERROR, Finding
from supm.audit.holders import some_inputs, values_of
from supm.audit.independence import correlation_bound

__all__ = ["check_mixed"]

_INPUTS = 256


def check_mixed(
    mechanism: Auditable,
    source: RandomSource,
    *,
    draws: int = 1 << 15,
    error: float = FAMILY_ERROR,
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
    corrected = min(1.0, len(bounds) * min(bounds))
    return Finding(
        check="check_mixed",
        passed=corrected > error,
        detail=f"two calls of {draws} reports of {inputs.size} inputs, {len(bounds)} events at all "
        f"lags to {draws // 2}, corrected p-value {corrected:.3g}",
        statistic=corrected,
    )
