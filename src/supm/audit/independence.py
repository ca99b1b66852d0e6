"""Reports do not depend on each other: noise that is used twice can be subtracted.

Two calls are made with one source and one input. Each report is turned into a bounded score, and
the scores are correlated at every lag, within the first call and between the two, by one fast
Fourier transform: a seed that is reused after any number of rows shows as a correlation near one
at that lag. The p-values are bounds from Freedman's inequality for martingales and hold for any
distribution of the scores.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from supm._random import RandomSource
from supm.audit.findings import FAMILY_ERROR, Finding, broken_by_the_impossible
from supm.audit.goodness import goodness_of_fit
from supm.audit.subjects import Auditable, cells_of, grid_points

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


def correlation_bound(
    first: NDArray[np.float64], second: NDArray[np.float64], *, variance: float, reach: float
) -> float:
    """Bound the p-value of the largest correlation at any lag, within a call and between two calls.

    The scores have mean zero if the reports are as promised; a variance and the largest absolute
    value of one are given. The bound is corrected for the number of lags.

    Examples
    --------
    >>> from supm._random import simulation
    >>> noise = simulation(1).below(1000, 20_000) / 999.0 - 0.5
    >>> correlation_bound(noise[:10_000], noise[10_000:], variance=1 / 12, reach=0.5) > 0.01
    True
    >>> correlation_bound(noise[:10_000], noise[:10_000], variance=1 / 12, reach=0.5) < 1e-100
    True
    """
    count = len(first)
    size = fft.next_fast_len(2 * count, real=True)
    spectra = [fft.rfft(scores, size) for scores in (first, second)]
    within = fft.irfft(np.conj(spectra[0]) * spectra[0], size)[1 : count // 2]
    between = fft.irfft(np.conj(spectra[0]) * spectra[1], size)
    sums = np.abs(np.concatenate((within, between[: count // 2], between[size - count // 2 :])))
    if variance == 0.0:
        return 1.0
    # A term has mean zero, is at most reach^2, and its variances add up to this, whatever came
    # before.
    spread = variance * max(float((first**2).sum()), float((second**2).sum()), count * variance)
    largest = float(sums.max(initial=0.0))
    exponent = largest**2 / (2.0 * (spread + reach**2 * largest / 3.0))
    return float(min(1.0, 2.0 * sums.size * math.exp(-exponent)))


def scored_bound(
    calls: list[NDArray[np.int64]], row: NDArray[np.float64], score: NDArray[np.float64]
) -> float:
    """Bound the p-value of the correlation of two calls' cells, each cell with its score."""
    first, second = (score[call] for call in calls)
    possible = np.abs(score[row > 0])
    variance = float((row * score**2).sum())
    return correlation_bound(first, second, variance=variance, reach=float(possible.max()))


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
