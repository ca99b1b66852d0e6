"""What the demonstration computes: true shares, reports and estimates, for several epsilons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.datasets import load_wdbc
from supm.mechanisms import OrderedDiscretePerturbation
from supm.privacy import Guarantee, realised
from supm.schema import discretize

__all__ = ["Demonstration", "Result", "demonstrate"]

_CONFIDENCE = 0.95
_ATTRIBUTE = "mean radius"
_CLASSES = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """What was reported and estimated with one budget.

    Parameters
    ----------
    mechanism : OrderedDiscretePerturbation
        What every device ran.
    guarantee : Guarantee
        What is promised to every owner; nothing if the randomness came from a seed.
    reported : ndarray of float
        Share of the reports that name each class.
    estimated, low, high : ndarray of float
        Estimated share of each class, and its confidence band.
    confidence : float
        That of the band.
    """

    mechanism: OrderedDiscretePerturbation
    guarantee: Guarantee
    reported: NDArray[np.float64]
    estimated: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    confidence: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Demonstration:
    """The whole demonstration.

    Parameters
    ----------
    attribute : str
        What every owner was asked.
    owners : int
        How many owners there are.
    labels : tuple of str
        The classes.
    true : ndarray of float
        True share of each class: known only because the data are public.
    results : tuple of Result
        One for each budget.
    simulation : bool
        True if the randomness came from a seed.
    """

    attribute: str
    owners: int
    labels: tuple[str, ...]
    true: NDArray[np.float64]
    results: tuple[Result, ...]
    simulation: bool


def demonstrate(epsilons: list[float], source: RandomSource) -> Demonstration:
    """Let the owners of WDBC report one measurement with each of several budgets.

    Parameters
    ----------
    epsilons : list of float
        The budgets.
    source : RandomSource
        Where randomness comes from.

    Returns
    -------
    Demonstration
        True shares, reports and estimates.
    """
    wdbc = load_wdbc()
    attribute = next(each for each in wdbc.schema.attributes if each.name == _ATTRIBUTE)
    discretizer = discretize(attribute, _CLASSES)
    values = wdbc.columns[_ATTRIBUTE]
    held = np.bincount(discretizer.encode(values), minlength=discretizer.size)
    perturb = OrderedDiscretePerturbation.for_epsilon
    made = [perturb(attribute=attribute, classes=_CLASSES, epsilon=each) for each in epsilons]
    return Demonstration(
        attribute=_ATTRIBUTE,
        owners=wdbc.rows,
        labels=discretizer.labels,
        true=held / wdbc.rows,
        results=tuple(_result(mechanism, values, source) for mechanism in made),
        simulation=source.simulation,
    )


def _result(
    mechanism: OrderedDiscretePerturbation, values: NDArray[np.float64], source: RandomSource
) -> Result:
    reports = mechanism.randomize(values, source)
    tally = mechanism.tally(reports)
    estimate = mechanism.estimate(tally)
    low, high = estimate.interval(_CONFIDENCE)
    return Result(
        mechanism=mechanism,
        guarantee=realised(mechanism.guarantee, source),
        reported=tally.counts / tally.reports,
        estimated=estimate.values,
        low=low,
        high=high,
        confidence=_CONFIDENCE,
    )
