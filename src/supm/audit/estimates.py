"""Is the estimator the inverse of the channel? Exactly where the channel can be written down.

One report of each kind is taken and estimated by itself; weighting these estimates with a row of
the channel gives the exact expectation and variance for the input of that row. Nothing is
simulated except to collect the reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.audit.findings import FAMILY_ERROR, Finding
from supm.audit.subjects import Readable, collect, randomizers_of, tallied
from supm.mechanisms import (
    Estimate,
    FiniteChannel,
    FrequencyRandomizer,
    IndependentReports,
    Laplace,
    NumericRandomizer,
    Reports,
    SupportRandomizer,
)

_DRAWS = 1 << 18


_LISTED = 1 << 18


@dataclass(frozen=True, kw_only=True, eq=False)
class Readings:
    """Estimates made from single reports, with their exact probabilities."""

    # What is estimated from one report of each kind that was seen: kinds, estimates.
    values: NDArray[np.float64]
    # The exact probability of each of these kinds for each input: inputs, kinds.
    weights: NDArray[np.float64]
    # What should be estimated from a crowd that holds one input: inputs, estimates.
    targets: NDArray[np.float64]

    @property
    def seen(self) -> int:
        """How many kinds of report were seen."""
        return len(self.values)

    @property
    def unseen(self) -> NDArray[np.float64]:
        """Probability, for each input, of all kinds that were not seen."""
        left: NDArray[np.float64] = np.maximum(1.0 - self.weights.sum(axis=1), 0.0)
        return left

    @property
    def largest(self) -> float:
        """The largest absolute reading."""
        return float(np.abs(self.values).max())

    @property
    def scale(self) -> float:
        """Root of the largest mean square of a reading, at least one: the measure of rounding."""
        return max(1.0, float(np.sqrt((self.weights @ self.values**2).max())))

    def mean(self) -> NDArray[np.float64]:
        """Return the exact expectation of each estimate (column) for each input (row)."""
        return self.weights @ self.values

    def variance(self) -> NDArray[np.float64]:
        """Return the exact variance of each estimate (column) for each input (row)."""
        spread: NDArray[np.float64] = self.weights @ self.values**2 - self.mean() ** 2
        return spread


def read(mechanism: Readable, source: RandomSource) -> Readings:
    """Collect one report of each kind and estimate each by itself."""
    if isinstance(mechanism, Laplace):
        return _read_listed(mechanism)
    if not isinstance(mechanism, FiniteChannel):
        raise ParameterError("mechanism", "finite or Laplace", type(mechanism).__name__)
    inputs = mechanism.inputs()
    crowd = np.resize(np.arange(len(inputs)), max(_DRAWS, len(inputs)))
    reports = mechanism.randomize(inputs[crowd], source)
    kinds, first = np.unique(mechanism.outcome(reports), return_index=True)
    values = [_read_one(mechanism, reports, place) for place in first.tolist()]
    weights = mechanism.channel()[:, kinds]
    return Readings(values=np.array(values), weights=weights, targets=_targets(mechanism))


def _read_listed(mechanism: Laplace) -> Readings:
    """List all reports instead: nearly all of them are too rare to be collected."""
    least, greatest = mechanism.alphabet
    if greatest - least > _LISTED:
        raise ParameterError("alphabet", f"of at most {_LISTED} reports", greatest - least)
    symbols = np.arange(least, greatest + 1)
    inputs = np.array(sorted({0, mechanism.steps // 2, mechanism.steps}))
    return Readings(
        values=mechanism.decode(Reports(symbols=symbols, simulation=True))[:, np.newaxis],
        weights=np.array([mechanism.probability(index, symbols) for index in inputs.tolist()]),
        targets=mechanism.grid.points()[inputs, np.newaxis],
    )


def _targets(mechanism: Readable) -> NDArray[np.float64]:
    if isinstance(mechanism, NumericRandomizer):
        return mechanism.grid.points()[:, np.newaxis]
    if isinstance(mechanism, IndependentReports):
        records = mechanism.inputs().T
        shares = [np.eye(size)[held] for size, held in zip(mechanism.sizes, records, strict=True)]
        return np.concatenate(shares, axis=1)
    return np.eye(len(mechanism.inputs()))


def _read_one(mechanism: Readable, reports: Reports, place: int) -> NDArray[np.float64]:
    one = Reports(symbols=reports.symbols[place : place + 1], simulation=reports.simulation)
    if isinstance(mechanism, NumericRandomizer):
        return mechanism.decode(one)
    return np.concatenate([each.values.ravel() for each in tallied(mechanism, one)[1]])


_TOLERANCE = 1e-9


def check_unbiased(mechanism: Readable, source: RandomSource) -> Finding:
    """Check that the exact expectation of an estimate is the truth, for every input.

    Parameters
    ----------
    mechanism : FrequencyRandomizer, IndependentReports, JointReport, NumericRandomizer or ODP
        The mechanism to be checked; its channel is small enough to be written down.
    source : RandomSource
        Used to collect one report of each kind.

    Returns
    -------
    Finding
        Broken if an expectation is off by more than 1e-9 of a typical reading.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_unbiased(coin, simulation(1)).passed
    True
    """
    readings = read(mechanism, source)
    bias = np.abs(readings.mean() - readings.targets)
    return _compare("check_unbiased", bias, readings, power=1)


def check_variance(
    mechanism: FrequencyRandomizer | NumericRandomizer, source: RandomSource
) -> Finding:
    """Check that ``variance`` is the exact variance of an estimate, for every input.

    Parameters
    ----------
    mechanism : FrequencyRandomizer or NumericRandomizer
        The mechanism to be checked; its channel is small enough to be written down.
    source : RandomSource
        Used to collect one report of each kind.

    Returns
    -------
    Finding
        Broken if a variance is off by more than 1e-9 of a typical squared reading.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import GeneralizedRandomizedResponse
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    >>> check_variance(coin, simulation(1)).passed
    True
    """
    readings = read(mechanism, source)
    stated = _stated_variance(mechanism, readings.targets)
    off = np.abs(readings.variance() - stated)
    return _compare("check_variance", off, readings, power=2)


def check_estimates(
    mechanism: FrequencyRandomizer | NumericRandomizer,
    source: RandomSource,
    *,
    draws: int = 1 << 16,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check estimates of simulated crowds: no bias beyond the stated variance.

    This is the check for mechanisms whose channel is too large to be written down. Each crowd
    holds one value: the smallest, a middle one or the largest.

    Parameters
    ----------
    mechanism : FrequencyRandomizer or NumericRandomizer
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 2^16
        Owners in each crowd.
    error : float, default 1e-6
        Chance that a true estimator fails.

    Returns
    -------
    Finding
        Broken if an estimate is further from the truth than its variance explains.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import LocalHashing
    >>> hashing = LocalHashing.for_epsilon(size=1000, epsilon=1.0)
    >>> check_estimates(hashing, simulation(1), draws=1000).passed
    True
    """
    bounds = [_bound(mechanism, value, source, draws) for value in _three_values(mechanism)]
    p_values = np.concatenate(bounds)
    detail = f"{p_values.size} estimates from {len(bounds)} crowds of {draws}"
    return Finding.by_chance("check_estimates", p_values, error=error, detail=detail)


def _compare(check: str, off: NDArray[np.float64], readings: Readings, *, power: int) -> Finding:
    # What was never drawn cannot be read; it can hide no more than its probability times the
    # largest reading.
    hidden = 2.0 * readings.unseen * readings.largest**power
    allowed = _TOLERANCE * readings.scale**power + hidden
    largest = float((off - allowed[:, np.newaxis]).max())
    return Finding(
        check=check,
        passed=largest <= 0.0,
        detail=f"largest difference {off.max():.3g} where {allowed.max():.3g} is allowed, "
        f"{readings.seen} kinds of report",
        statistic=float(off.max()),
    )


def _stated_variance(
    mechanism: FrequencyRandomizer | NumericRandomizer, truth: NDArray[np.float64]
) -> NDArray[np.float64]:
    distinct, inverse = np.unique(truth, return_inverse=True)
    stated = np.array([mechanism.variance(value) for value in distinct.tolist()])
    return stated[inverse].reshape(truth.shape)


def _three_values(mechanism: FrequencyRandomizer | NumericRandomizer) -> list[float]:
    if isinstance(mechanism, FrequencyRandomizer):
        return [0, mechanism.size // 2, mechanism.size - 1]
    return [mechanism.low, (mechanism.low * 2 + mechanism.high) / 3, mechanism.high]


def _bound(
    mechanism: FrequencyRandomizer | NumericRandomizer,
    value: float,
    source: RandomSource,
    draws: int,
) -> NDArray[np.float64]:
    """Bound the p-values of one crowd's estimates by Bernstein's inequality.

    The normal distribution would be wrong far out, where few of the reports support a symbol.
    """
    reports = mechanism.randomize(np.repeat(value, draws), source)
    found = np.atleast_1d(mechanism.estimate(mechanism.tally(reports)).values)
    if isinstance(mechanism, FrequencyRandomizer):
        truth = (np.arange(mechanism.size) == value).astype(np.float64)
        reach = _reach(mechanism)
    else:
        truth, reach = np.array([value]), 0.0
    off = np.abs(found - truth)
    spread = _stated_variance(mechanism, truth) + reach * off / 3.0
    bound: NDArray[np.float64] = np.minimum(1.0, 2.0 * np.exp(-draws * off**2 / (2.0 * spread)))
    return bound


def _reach(mechanism: FrequencyRandomizer) -> float:
    """Bound how far one report moves an estimated share."""
    if isinstance(mechanism, SupportRandomizer):
        return 1.0 / float(mechanism.hit - mechanism.miss)
    return 1.0 + float(np.abs(np.linalg.pinv(mechanism.channel())).max())


_ESTIMATED = 1e-6


_INPUTS = 256


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
    reports = collect(mechanism, draws, source)
    pairs = list(_errors(mechanism, reports))
    off = max(float(np.abs(stated / true - 1.0).max()) for stated, true in pairs)
    return Finding(
        check="check_standard_error",
        passed=off <= _ESTIMATED,
        detail=f"{sum(true.size for _, true in pairs)} standard errors of {draws} reports, "
        f"the worst is off by {off:.3g} of itself",
        statistic=off,
    )


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
