"""Reports depend on nothing but their values and the given source, and not on each other.

Noise that is used twice can be subtracted. So two calls are made with one source; each report is
turned into a bounded score, and the scores are correlated at every lag, within the first call and
between the two, by one fast Fourier transform: a seed that is reused after any number of rows shows
as a correlation near one at that lag. Randomness comes from the source that is given, from nowhere
else, and its mark is passed on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, secure, simulation
from supm.audit.events import events
from supm.audit.findings import FAMILY_ERROR, Finding, broken_by_the_impossible
from supm.audit.goodness import correlation_bound, goodness_of_fit, scored_bound
from supm.audit.subjects import (
    Auditable,
    Estimating,
    cells_of,
    count_inputs,
    count_symbols,
    crowd,
    grid_points,
    randomizers_of,
    some_inputs,
    tallied,
    values_of,
)
from supm.mechanisms import Laplace, SupportRandomizer

_GROUPS = 8


@broken_by_the_impossible
def check_independence(
    mechanism: Auditable, source: RandomSource, *, draws: int = 1 << 18, error: float = FAMILY_ERROR
) -> Finding:
    """Check that successive reports, and reports of two calls, are independent.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^18
        Reports in each of the two calls. Reuse is noticed up to a lag of half of them.
    error : float, default 1e-6
        Chance that a true sampler fails.

    Returns
    -------
    Finding
        Broken if pairs of reports are not as frequent as independence makes them, or if a lag
        correlates.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_independence(coin, simulation(1), draws=10_000).passed
    True
    """
    values = np.repeat(grid_points(mechanism)[:1], draws, axis=0)
    cells = cells_of(mechanism, [0])
    calls = [cells.draw(mechanism, values, source) for _ in range(2)]
    row = cells.probabilities[0]
    bounds = [scored_bound(calls, row, score) for score in (_rank(row), _level(row))]
    bounds += _pairs(calls, row)
    detail = f"two calls of {draws} reports, all lags to {draws // 2}"
    return Finding.by_chance("check_independence", bounds, error=error, detail=detail)


def _rank(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score outcomes by their place: the middle of their step of the distribution function."""
    return np.cumsum(row) - row / 2 - 0.5


def _level(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score outcomes by how likely they are: a coin may be reused and the rest drawn afresh."""
    order = np.argsort(row, kind="stable")
    score = np.empty_like(row)
    score[order] = _rank(row[order])
    # Equal levels get equal scores.
    levels, inverse = np.unique(row, return_inverse=True)
    mass = np.bincount(inverse, row, levels.size)
    middle = np.bincount(inverse, row * score, levels.size) / np.where(mass > 0, mass, 1.0)
    level: NDArray[np.float64] = middle[inverse]
    return level


def _pairs(calls: list[NDArray[np.int64]], row: NDArray[np.float64]) -> list[float]:
    """Test pairs of neighbours, and pairs of the same place in two calls, group by group."""
    group = np.minimum((np.cumsum(row) - row / 2) * _GROUPS, _GROUPS - 1).astype(np.int64)
    weight = np.bincount(group, row, _GROUPS).astype(np.float64)
    expected = np.outer(weight, weight).ravel()
    first, second = (group[call] for call in calls)
    # Pairs that do not overlap: overlapping ones would not be independent of each other.
    even = len(first) // 2 * 2
    pairings = ((first[0:even:2], first[1:even:2]), (first, second))
    counted = [np.bincount(a * _GROUPS + b, minlength=_GROUPS**2) for a, b in pairings]
    return [goodness_of_fit(counts, expected) for counts in counted]


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
    values = crowd(mechanism, draws, source)
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
