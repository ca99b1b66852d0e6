"""The correlation of the normals behind two ordered classes, from their two-way table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from supm.synthesis.latent import TERMS

__all__ = ["noisy_polychoric", "normal_table", "polychoric"]

Table = NDArray[np.float64]

_LARGEST: Final = 0.99
_LEAST: Final = 1e-12
_STEP: Final = 0.02


def polychoric(table: ArrayLike) -> float:
    """Return the correlation of two normals whose classes are most likely to make the table.

    Parameters
    ----------
    table : array-like of float, shape (a, b)
        Shares of the classes of two ordered columns, in order; they sum to one.

    Returns
    -------
    float
        Within [-0.99, 0.99]; the thresholds are those of the margins.

    References
    ----------
    U. Olsson, Maximum likelihood estimation of the polychoric correlation coefficient,
    Psychometrika 44 (1979).

    Examples
    --------
    >>> round(polychoric([[1 / 3, 1 / 6], [1 / 6, 1 / 3]]), 3)
    0.5
    """
    shares = np.asarray(table, dtype=float)
    first, second = _series(shares.sum(axis=1)), _series(shares.sum(axis=0))

    def loss(rho: float) -> float:
        return -float(np.sum(shares * np.log(np.maximum(normal_table(rho, first, second), _LEAST))))

    return float(minimize_scalar(loss, bounds=(-_LARGEST, _LARGEST), method="bounded").x)


def noisy_polychoric(
    counts: ArrayLike, channels: Sequence[Table], one: Table, other: Table
) -> tuple[float, float]:
    """Return the same from counts of noisy reports, within the classes of a target.

    The likelihood is that of the reports themselves: a table that was reconstructed first would be
    pulled to independence by the early end of its reconstruction.

    Parameters
    ----------
    counts : array-like, shape (target's reports, a, b)
        How often each combination was reported.
    channels : sequence of three ndarrays of float
        Of the target and of both columns.
    one, other : ndarray of float, shape (classes, a) and (classes, b)
        Shares of class and value together, of which the thresholds are made.

    Returns
    -------
    tuple of two floats
        The correlation, one for all classes, and its standard error.
    """
    told = np.asarray(counts, dtype=float)
    shares = one.sum(axis=1)
    curves = [_pair_of_series(a, b) for a, b in zip(one, other, strict=True)]

    def loss(rho: float) -> float:
        tables = [normal_table(rho, *pair) for pair in curves]
        mixture = np.maximum(shares[:, np.newaxis, np.newaxis] * np.array(tables), 0.0)
        for channel in channels:
            mixture = np.tensordot(mixture, channel, axes=(0, 0))
        return -float(np.sum(told * np.log(np.maximum(mixture, _LEAST))))

    rho = float(minimize_scalar(loss, bounds=(-_LARGEST, _LARGEST), method="bounded").x)
    inner = min(max(rho, _STEP - _LARGEST), _LARGEST - _STEP)
    bend = (loss(inner + _STEP) - 2 * loss(inner) + loss(inner - _STEP)) / _STEP**2
    return rho, math.inf if bend <= 0 else 1 / math.sqrt(bend)


def _pair_of_series(one: Table, other: Table) -> tuple[Table, Table]:
    return _series(one / max(one.sum(), _LEAST)), _series(other / max(other.sum(), _LEAST))


def normal_table(rho: float, first: Table, second: Table) -> Table:
    """Return the shares of two classes whose normals have a correlation.

    Parameters
    ----------
    rho : float
        The correlation.
    first, second : ndarray of float, shape (classes, TERMS + 1)
        Hermite coefficients of the indicators of the classes.

    Returns
    -------
    ndarray of float
        The tetrachoric series: the sum over k of the products of coefficients times rho^k.
    """
    powers = rho ** np.arange(TERMS + 1)
    return np.asarray((first * powers) @ second.T)


def _series(margin: Table) -> Table:
    """Return the coefficients of the indicator of each class, the zeroth one first."""
    places = ndtri(np.clip(np.cumsum(margin), 0.0, 1.0)[:-1])
    inside = np.where(np.isfinite(places), places, 0.0)
    last = np.exp(-(inside**2) / 2) / math.sqrt(2 * math.pi) * np.isfinite(places)
    before = np.zeros_like(last)
    above = np.zeros((margin.size + 1, TERMS + 1))
    for order in range(1, TERMS + 1):
        above[1:-1, order] = last / math.sqrt(order)
        after = (inside * last - math.sqrt(order - 1) * before) / math.sqrt(order)
        before, last = last, after
    # An indicator is the step at its lower threshold less the step at its upper one.
    coefficients = above[:-1] - above[1:]
    coefficients[:, 0] = margin
    return np.asarray(coefficients)
