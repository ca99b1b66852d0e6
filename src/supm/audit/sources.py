"""Randomness comes from the source that is given, from nowhere else, and its mark is passed on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, secure, simulation
from supm.audit.findings import FAMILY_ERROR, Finding
from supm.audit.subjects import (
    Auditable,
    Estimating,
    count_inputs,
    count_symbols,
    randomizers_of,
    some_inputs,
    tallied,
    values_of,
)
from supm.mechanisms import Laplace, SupportRandomizer

_INPUTS = 256
_COUNTED = 1 << 16
_SEEDS = 1 << 62


def check_mark(mechanism: Auditable) -> Finding:
    """Check that reports, tally and estimate are marked as a simulation exactly when they are one.

    One crowd is drawn from a seed and one from the operating system.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.

    Returns
    -------
    Finding
        Broken if a simulation passes for a private release, or the other way round.

    Examples
    --------
    >>> check_mark(Laplace.for_epsilon(low=0, high=100, epsilon=1.0)).passed
    True
    """
    sources = (simulation(1), secure())
    wrong = [
        f"{name} of a {'simulated' if source.simulation else 'secure'} source"
        for source in sources
        for name, marked in _marks(mechanism, source)
        if marked is not source.simulation
    ]
    detail = f"{' and '.join(wrong)} marked wrongly" if wrong else "all results marked rightly"
    return Finding(check="check_mark", passed=not wrong, detail=detail)


def check_source(
    mechanism: Auditable, source: RandomSource, *, draws: int = 1 << 15, error: float = FAMILY_ERROR
) -> Finding:
    """Check that a seed fixes all reports, and that another seed gives others.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where the two seeds come from.
    draws : int, default 2^15
        Reports that are compared.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if one seed gives different reports, so that something is drawn from elsewhere, or
        if two seeds give the same. Where reports hardly vary, the latter says nothing.

    Examples
    --------
    >>> meter = Laplace.for_epsilon(low=0, high=100, epsilon=1.0)
    >>> check_source(meter, simulation(1), draws=1000).passed
    True
    """
    first, second = source.below(_SEEDS, 2).tolist()
    numbers = np.resize(some_inputs(mechanism, _INPUTS, source), draws)
    values = values_of(mechanism, numbers)
    told, again, other = (
        mechanism.randomize(values, simulation(seed)).symbols for seed in (first, first, second)
    )
    fixed = np.array_equal(told, again)
    chance = _agreement(mechanism) ** draws if np.array_equal(told, other) else 1.0
    detail = "a seed fixes the reports" if fixed else "one seed gave two different sets of reports"
    if chance <= error:
        detail = f"two seeds gave the same {draws} reports"
    passed = fixed and chance > error
    return Finding(check="check_source", passed=passed, detail=detail, statistic=chance)


def _marks(mechanism: Auditable, source: RandomSource) -> Iterator[tuple[str, object]]:
    values = values_of(mechanism, np.array([0, 0, count_inputs(mechanism) - 1]))
    reports = mechanism.randomize(values, source)
    yield "reports", reports.simulation
    if isinstance(mechanism, Estimating) and count_symbols(mechanism) <= _COUNTED:
        for name, results in zip(("tally", "estimate"), tallied(mechanism, reports), strict=True):
            yield from ((name, each.simulation) for each in results)


def _agreement(mechanism: Auditable) -> float:
    """Bound the chance that two independent reports of one input are the same."""
    mechanism = randomizers_of(mechanism)[0]
    if isinstance(mechanism, SupportRandomizer):
        # The same report supports the own symbol or not.
        return float(mechanism.hit**2 + (1 - mechanism.hit) ** 2)
    if isinstance(mechanism, Laplace):
        middle = mechanism.steps // 2
        return float(mechanism.probability(middle, middle))
    channel: NDArray[np.float64] = mechanism.channel()
    return float(np.square(channel).sum(axis=1).max())
