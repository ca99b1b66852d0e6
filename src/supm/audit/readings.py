"""One report of each kind, and what the mechanism's own estimator reads in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.mechanisms import (
    FiniteChannel,
    FrequencyRandomizer,
    IndependentReports,
    JointReport,
    OrderedDiscretePerturbation,
    Reports,
)
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.numeric import NumericRandomizer

__all__ = ["Readable", "Readings", "read"]

_DRAWS = 1 << 18
_LISTED = 1 << 18

Readable: TypeAlias = (
    FrequencyRandomizer
    | IndependentReports
    | JointReport
    | NumericRandomizer
    | OrderedDiscretePerturbation
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Readings:
    """Estimates made from single reports, with their exact probabilities.

    Parameters
    ----------
    values : ndarray of float, shape (kinds, estimates)
        What is estimated from one report of each kind that was seen.
    weights : ndarray of float, shape (inputs, kinds)
        The exact probability of each of these kinds for each input.
    targets : ndarray of float, shape (inputs, estimates)
        What should be estimated from a crowd that holds one input.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
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
    if isinstance(mechanism, IndependentReports):
        estimates = mechanism.estimate(mechanism.tally(one))
        return np.concatenate([estimate.values for estimate in estimates])
    return mechanism.estimate(mechanism.tally(one)).values.ravel()
