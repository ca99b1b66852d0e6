"""Checks of what a mechanism says it does, against its claim and against what it says elsewhere.

A finite channel is compared in fractions, without tolerance; the stated probabilities of
unboundedly many reports in floats, to nine digits. Whether the sampler does what is said is the
business of `supm.audit.sampler`; a mechanism is true when both agree. Nothing here is a matter of
chance, so nothing here has a p-value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.findings import Finding
from supm.audit.subjects import collect
from supm.mechanisms import FiniteChannel, Laplace, Reports, SupportRandomizer
from supm.mechanisms.thresholds import epsilon_of

_LOOSE = 1e-9


def exact_epsilon(channel: Sequence[Sequence[Fraction]]) -> float:
    """Return the least epsilon that a channel keeps, over all pairs of inputs and all outcomes.

    Parameters
    ----------
    channel : sequence of rows of Fraction
        Probability of each outcome (column) for each input (row).

    Returns
    -------
    float
        The logarithm of the largest ratio within a column, rounded up; infinite if an outcome is
        possible for one input and impossible for another.

    Examples
    --------
    >>> exact_epsilon([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    1.0986122886681098
    >>> exact_epsilon([[Fraction(1), Fraction(0)], [Fraction(1, 2), Fraction(1, 2)]])
    inf
    """
    largest = Fraction(1)
    for column in zip(*channel, strict=True):
        # Few levels occur in a column, and comparing fractions is dear: compare each level once.
        levels = set(column)
        low, high = min(levels), max(levels)
        if low == high:
            continue
        if low == 0:
            return math.inf
        largest = max(largest, high / low)
    return epsilon_of(largest)


def check_inputs(mechanism: FiniteChannel) -> Finding:
    """Check that the channel has a row for each input and a probability for each outcome.

    Parameters
    ----------
    mechanism : FiniteChannel
        The mechanism to be checked.

    Returns
    -------
    Finding
        Broken if a row or a column is missing, or if an entry is not in [0, 1].
    """
    channel = mechanism.exact_channel()
    shape = (len(channel), {len(row) for row in channel})
    expected = (len(mechanism.inputs()), {mechanism.outcomes})
    proper = all(0 <= entry <= 1 for row in channel for entry in set(row))
    columns = ", ".join(str(width) for width in sorted(shape[1]))
    return Finding(
        check="check_inputs",
        passed=shape == expected and proper,
        detail=f"{shape[0]} rows of {columns} entries for {expected[0]} inputs and "
        f"{mechanism.outcomes} outcomes" + ("" if proper else ", not all in [0, 1]"),
    )


def check_rows_sum_to_one(mechanism: FiniteChannel) -> Finding:
    """Check that the probabilities of each input add up to exactly one.

    Parameters
    ----------
    mechanism : FiniteChannel
        The mechanism to be checked.

    Returns
    -------
    Finding
        Broken if a row does not; the fractions are added without rounding.
    """
    channel = mechanism.exact_channel()
    off = [number for number, row in enumerate(channel) if sum(row) != 1]
    excess = max((abs(float(sum(channel[number]) - 1)) for number in off), default=0.0)
    return Finding(
        check="check_rows_sum_to_one",
        passed=not off,
        detail=f"{len(off)} of {len(channel)} rows do not sum to one",
        statistic=excess,
    )


def check_epsilon(mechanism: FiniteChannel, *, claimed: float | None = None) -> Finding:
    """Check the claim against the exact epsilon of the channel.

    Parameters
    ----------
    mechanism : FiniteChannel
        The mechanism to be checked.
    claimed : float, optional
        The claim; by default what the mechanism itself claims.

    Returns
    -------
    Finding
        Broken if the exact epsilon is above the claim; loose if the claim is above it by more than
        one part in 10^9.

    Examples
    --------
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    >>> print(check_epsilon(coin))
    check_epsilon: passed, claimed 1, exact 1
    >>> print(check_epsilon(coin, claimed=0.5))
    check_epsilon: BROKEN, claimed 0.5, exact 1
    """
    claim = mechanism.epsilon if claimed is None else claimed
    exact = exact_epsilon(mechanism.exact_channel())
    found = Finding.of_claim("check_epsilon", claim, exact, f"exact {exact:.9g}")
    return replace(found, loose=exact < claim * (1 - _LOOSE))


def check_support(mechanism: SupportRandomizer, *, claimed: float | None = None) -> Finding:
    """Check the claim against the probabilities of one event: a report supports a given symbol.

    This is an exact check for mechanisms of any size. It can disprove a claim and cannot prove one:
    other events may tell more.

    Parameters
    ----------
    mechanism : SupportRandomizer
        The mechanism to be checked; it states its probabilities ``hit`` and ``miss``.
    claimed : float, optional
        The claim; by default what the mechanism itself claims.

    Returns
    -------
    Finding
        Broken if the event, or its opposite, needs a larger epsilon than is claimed.

    Examples
    --------
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> many = GeneralizedRandomizedResponse.for_epsilon(size=10**6, epsilon=3.0)
    >>> print(check_support(many, claimed=1.0))
    check_support: BROKEN, claimed 1, at least 3
    """
    claim = mechanism.epsilon if claimed is None else claimed
    hit, miss = mechanism.hit, mechanism.miss
    needed = exact_epsilon([[hit, 1 - hit], [miss, 1 - miss]])
    return Finding.of_claim("check_support", claim, needed, f"at least {needed:.9g}")


_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


_VISIBLE = 600.0


_PLACES = 4096


def density_epsilon(mechanism: Laplace) -> float:
    """Return the largest log-ratio of stated probabilities, of the first, middle and last point.

    The reports looked at are the ends of the alphabet and an even choice of the others, closer near
    the grid. The probabilities are floats, so the figure is right to about nine digits, and nothing
    above 700 can be seen.

    Parameters
    ----------
    mechanism : Laplace
        The mechanism to be measured.

    Returns
    -------
    float
        The largest log-ratio that was seen.

    Examples
    --------
    >>> round(density_epsilon(Laplace.for_epsilon(low=0, high=1, epsilon=1.0)), 9)
    1.0
    """
    symbols = _places(mechanism)
    inputs = sorted({0, mechanism.steps // 2, mechanism.steps})
    rows = np.array([mechanism.probability(index, symbols) for index in inputs])
    # Below the smallest normal float digits are lost; raised to it, a ratio can only look smaller.
    logs = np.log(np.maximum(rows, np.finfo(np.float64).tiny))
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def check_stated_epsilon(mechanism: Laplace, *, claimed: float | None = None) -> Finding:
    """Check the claim against the stated probabilities.

    Parameters
    ----------
    mechanism : Laplace
        The mechanism to be checked.
    claimed : float, optional
        The claim; by default what the mechanism itself claims.

    Returns
    -------
    Finding
        Broken if a ratio of stated probabilities is above the claim by more than the rounding of
        floats; loose if the claim is above all ratios by more than that.

    Examples
    --------
    >>> print(check_stated_epsilon(Laplace.for_epsilon(low=0, high=1, epsilon=1.0)))
    check_stated_epsilon: passed, claimed 1, stated probabilities give 1
    """
    claim = mechanism.epsilon if claimed is None else claimed
    found = density_epsilon(mechanism)
    rounding = _RELATIVE * claim + _ABSOLUTE
    told = f"stated probabilities give {found:.9g}"
    judged = Finding.of_claim("check_stated_epsilon", claim, found, told, rounding=rounding)
    return replace(judged, loose=found < min(claim, _VISIBLE) - rounding)


def _places(mechanism: Laplace) -> NDArray[np.int64]:
    least, greatest = mechanism.alphabet
    spread = np.linspace(least, greatest, _PLACES).astype(np.int64)
    near = np.linspace(-2, mechanism.steps + 2, _PLACES).astype(np.int64)
    ends = np.array([least, least + 1, greatest - 1, greatest])
    return np.unique(np.concatenate((spread, near, ends)))


_ROUNDING = 1e-12


# The least normal float: below it digits are lost one by one.
_LEAST = 2.0**-1022


def check_channel(mechanism: FiniteChannel) -> Finding:
    """Check that ``channel`` is ``exact_channel`` in floats, entry by entry.

    The claim is compared with the fractions and the sampler with the floats: were they of two
    different channels, neither comparison would mean anything.

    Parameters
    ----------
    mechanism : FiniteChannel
        The mechanism to be checked.

    Returns
    -------
    Finding
        Broken if an entry differs by more than 10^-12 of itself.

    Examples
    --------
    >>> from supm.mechanisms import Hybrid
    >>> check_channel(Hybrid.for_epsilon(low=-1, high=1, epsilon=2.0, steps=16)).passed
    True
    """
    stated = np.asarray(mechanism.channel(), dtype=np.float64)
    exact = _as_floats(mechanism.exact_channel())
    if stated.shape != exact.shape:
        detail = f"channel has shape {stated.shape}, exact_channel {exact.shape}"
        return Finding(check="check_channel", passed=False, detail=detail)
    off = np.abs(stated - exact) - _ROUNDING * exact
    worst = float(off.max())
    # NaN is not at most anything.
    agree = bool((off <= _LEAST).all())
    return Finding(
        check="check_channel",
        passed=agree,
        detail=f"{exact.size} entries, "
        + ("floats and fractions agree" if agree else f"one is off by {worst:.3g}"),
        statistic=max(worst, 0.0) if agree else worst,
    )


def _as_floats(channel: list[list[Fraction]]) -> NDArray[np.float64]:
    """Turn each fraction into a float once: most entries are a few objects, used many times."""
    entries = {id(entry): entry for row in channel for entry in row}
    known = {key: float(entry) for key, entry in entries.items()}
    return np.array([[known[id(entry)] for entry in row] for row in channel])


def check_outcomes(
    mechanism: FiniteChannel, source: RandomSource, *, draws: int = 1 << 14
) -> Finding:
    """Check that ``outcome`` gives different reports different numbers.

    What it would drop, the other checks would not see: a raw value could travel in the high bits.

    Parameters
    ----------
    mechanism : FiniteChannel
        The mechanism to be checked.
    source : RandomSource
        Used to collect reports.
    draws : int, default 2^14
        Reports that are collected, from all inputs in turn or from 256 of them.

    Returns
    -------
    Finding
        Broken if two different reports have one number.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import SubsetSelection
    >>> pairs = SubsetSelection.with_width(size=6, width=2, epsilon=1.0)
    >>> check_outcomes(pairs, simulation(1)).passed
    True
    """
    reports = collect(mechanism, draws, source)
    told = np.unique(reports.symbols, axis=0)
    numbers = mechanism.outcome(Reports(symbols=told, simulation=reports.simulation))
    kinds = len(np.unique(numbers))
    return Finding(
        check="check_outcomes",
        passed=kinds == len(told),
        detail=f"{len(told)} different reports have {kinds} numbers",
        statistic=float(len(told) - kinds),
    )
