"""What a mechanism states twice must agree: floats with fractions, numbers with reports, errors.

Nothing here is a matter of chance, so nothing here has a p-value.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.audit.findings import Finding
from supm.audit.subjects import Readable, randomizers_of, some_inputs, tallied, values_of
from supm.mechanisms import (
    Estimate,
    FiniteChannel,
    FrequencyRandomizer,
    Laplace,
    NumericRandomizer,
    Reports,
)

_ROUNDING = 1e-12
_ESTIMATED = 1e-6
# The least normal float: below it digits are lost one by one.
_LEAST = 2.0**-1022
_INPUTS = 256


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
    reports = _collect(mechanism, source, draws)
    told = np.unique(reports.symbols, axis=0)
    numbers = mechanism.outcome(Reports(symbols=told, simulation=reports.simulation))
    kinds = len(np.unique(numbers))
    return Finding(
        check="check_outcomes",
        passed=kinds == len(told),
        detail=f"{len(told)} different reports have {kinds} numbers",
        statistic=float(len(told) - kinds),
    )


def check_standard_error(
    mechanism: Readable, source: RandomSource, *, draws: int = 1 << 8
) -> Finding:
    """Check the standard errors of an estimate: from ``variance``, or from the decoded reports.

    Parameters
    ----------
    mechanism : FrequencyRandomizer, IndependentReports, JointReport, NumericRandomizer or ODP
        The mechanism to be checked.
    source : RandomSource
        Used to collect reports.
    draws : int, default 2^8
        Reports that are estimated from.

    Returns
    -------
    Finding
        Broken if an error is off by more than 10^-6 of itself.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_standard_error(coin, simulation(1)).passed
    True
    """
    reports = _collect(mechanism, source, draws)
    pairs = list(_errors(mechanism, reports))
    off = max(float(np.abs(stated / true - 1.0).max()) for stated, true in pairs)
    return Finding(
        check="check_standard_error",
        passed=off <= _ESTIMATED,
        detail=f"{sum(true.size for _, true in pairs)} standard errors of {draws} reports, "
        f"the worst is off by {off:.3g} of itself",
        statistic=off,
    )


def _as_floats(channel: list[list[Fraction]]) -> NDArray[np.float64]:
    """Turn each fraction into a float once: most entries are a few objects, used many times."""
    known = {id(entry): float(entry) for row in channel for entry in row}
    return np.array([[known[id(entry)] for entry in row] for row in channel])


def _collect(mechanism: FiniteChannel | Readable, source: RandomSource, draws: int) -> Reports:
    if not isinstance(mechanism, FiniteChannel | Laplace):
        raise ParameterError("mechanism", "finite or Laplace", type(mechanism).__name__)
    inputs = some_inputs(mechanism, _INPUTS, source)
    return mechanism.randomize(values_of(mechanism, np.resize(inputs, draws)), source)


def _errors(
    mechanism: Readable, reports: Reports
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield stated standard errors and what they should be."""
    if isinstance(mechanism, NumericRandomizer):
        found = mechanism.estimate(mechanism.tally(reports))
        spread = np.std(mechanism.decode(reports), ddof=1) / np.sqrt(len(reports))
        yield np.atleast_1d(found.standard_error), np.atleast_1d(spread)
    else:
        _, estimates = tallied(mechanism, reports)
        for part, estimate in zip(randomizers_of(mechanism), estimates, strict=True):
            yield _of_shares(part, estimate, len(reports))


def _of_shares(
    randomizer: FrequencyRandomizer, estimate: Estimate, reports: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # A few hundred of a large alphabet: they all come from one formula.
    stated = estimate.standard_error.ravel()[:_INPUTS]
    shares = np.clip(estimate.values.ravel()[:_INPUTS], 0.0, 1.0)
    variances = [randomizer.variance(share, reports) for share in shares.tolist()]
    return stated, np.sqrt(np.array(variances))
