"""How well counts fit probabilities, and whether scores correlate, far out in the tail.

The chi-square distribution is a poor guide to the far tail of counts that are expected to be
small, and a family-wise error of 10^-6 lives in that tail. So cells that are expected rarely are
tested one by one with the exact binomial distribution, and enter the chi-square test only in
groups that are large enough. The p-values of correlations are bounds from Freedman's inequality for
martingales and hold for any distribution of the scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, stats

_ENOUGH = 1000.0


def goodness_of_fit(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return the p-value of observed counts: zero if a cell of probability zero was drawn.

    It is the smallest of the tests made, multiplied by their number.

    Examples
    --------
    >>> fair = np.array([0.5, 0.5])
    >>> goodness_of_fit(np.array([50_100, 49_900]), fair) > 0.5
    True
    >>> goodness_of_fit(np.array([51_000, 49_000]), fair) < 1e-9
    True
    """
    total = int(counts.sum())
    expected = total * probabilities
    rare = expected < _ENOUGH
    single = _binomial(counts[rare], total, probabilities[rare])
    grouped = _chi_square(counts, expected, rare)
    smallest = min(grouped, float(single.min(initial=1.0)))
    return min(1.0, smallest * (1 + single.size))


def _binomial(
    counts: NDArray[np.int64], total: int, probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    below = stats.binom.cdf(counts, total, probabilities)
    above = stats.binom.sf(counts - 1, total, probabilities)
    two_sided: NDArray[np.float64] = np.minimum(1.0, 2.0 * np.minimum(below, above))
    return two_sided


def _chi_square(
    counts: NDArray[np.int64], expected: NDArray[np.float64], rare: NDArray[np.bool_]
) -> float:
    if expected.sum() < _ENOUGH:
        return 1.0
    seen, hoped = _gather(counts, expected, rare)
    if seen.size < 2:
        return 1.0
    return float(stats.chisquare(seen, hoped, sum_check=False).pvalue)


def _gather(
    counts: NDArray[np.int64], expected: NDArray[np.float64], rare: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep the common cells; gather the rare ones, in order of probability, into large groups."""
    order = np.flatnonzero(rare)[np.argsort(expected[rare], kind="stable")]
    groups = int(expected[order].sum() // _ENOUGH)
    if groups == 0:
        # Too little for a group of its own: it joins the rarest common cell.
        order = np.append(order, np.where(rare, np.inf, expected).argmin())
        groups = 1
    common = np.setdiff1d(np.arange(counts.size), order)
    filled = np.cumsum(expected[order]) / expected[order].sum()
    group = np.minimum((filled * groups).astype(np.int64), groups - 1)
    seen = np.append(counts[common], np.bincount(group, counts[order], groups))
    hoped = np.append(expected[common], np.bincount(group, expected[order], groups))
    return seen.astype(np.float64), hoped.astype(np.float64)


def two_sided(
    count: NDArray[Any], total: NDArray[np.int64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the p-value of each count among its trials at its chance."""
    shape = np.broadcast_shapes(total.shape, chance.shape)
    seen, of, share = (np.broadcast_to(each, shape).ravel() for each in (count, total, chance))
    held = of > 0
    # Most of a large crowd's counts are the same few, and the distribution is slow to compute.
    _, level = np.unique(share[held], return_inverse=True)
    wide = int(of.max()) + 1
    key = (level * wide + of[held]) * wide + seen[held].astype(np.int64)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    case = (seen[held][first], of[held][first], share[held][first])
    below, above = stats.binom.cdf(*case), stats.binom.sf(case[0] - 1, *case[1:])
    two_sided: NDArray[np.float64] = np.minimum(1.0, 2.0 * np.minimum(below, above))[inverse]
    return two_sided


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
