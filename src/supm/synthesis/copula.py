"""From the covariance of two columns to the correlation of the normals behind them.

A column is X = q(Z) for a standard normal Z and its quantile function q. With the coefficients
a_k = E[q(Z) h_k(Z)] over the normalised Hermite polynomials h_k, two columns whose normals have
correlation rho have the covariance sum over k >= 1 of a_k b_k rho^k (Mehler). It grows with rho,
so it can be inverted. The covariance itself, taken for rho as in paper 004, is too weak.

The latent normals of the scaled columns are a linear function of the classes plus a remainder that
is normal. So age may depend on marital status, and both on income, without a table of all three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri

from supm.synthesis.correlation import nearest_correlation, pull_if_clear

TERMS: Final = 80
"""Terms of the series; for jumps they decay as a power of the index, times that of rho."""
_LARGEST: Final = 0.999
_HALVINGS: Final = 40
Table = NDArray[np.float64]
_STRONGEST: Final = 0.99
_LEAST: Final = 1e-12
_STEP: Final = 0.02
Matrix = NDArray[np.float64]
_MOST: Final = 0.9
_KNOTS: Final = 257
_REACH: Final = 6.0
_RIDGE: Final = 1e-2


def hermite_coefficients(heights: ArrayLike, places: ArrayLike) -> NDArray[np.float64]:
    """Return the coefficients of a step function of a standard normal number.

    Examples
    --------
    >>> median = hermite_coefficients([1.0], [0.0])
    >>> round(float(median[0]), 6) == round(1 / math.sqrt(2 * math.pi), 6)
    True
    """
    jumps, where = np.asarray(heights, dtype=float), np.asarray(places, dtype=float)
    real = np.isfinite(where)
    jumps, where = jumps[real], where[real]
    last = jumps * np.exp(-(where**2) / 2) / math.sqrt(2 * math.pi)
    before = np.zeros_like(last)
    sums = np.empty(TERMS)
    for order in range(TERMS):
        sums[order] = last.sum() / math.sqrt(order + 1)
        after = (where * last - math.sqrt(order) * before) / math.sqrt(order + 1)
        before, last = last, after
    return sums


def implied_covariance(
    products: NDArray[np.float64], correlations: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the covariance that latent correlations make."""
    total = np.zeros_like(correlations)
    for term in products[::-1]:
        total = (total + term) * correlations
    return total


def latent_correlations(
    covariances: ArrayLike, products: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the latent correlations that make the given covariances.

    Examples
    --------
    >>> coin = hermite_coefficients([1.0], [0.0])
    >>> found = latent_correlations([1 / 12], np.square(coin)[:, np.newaxis])
    >>> found.round(6)
    array([0.5])
    """
    wanted = np.asarray(covariances, dtype=float)
    low, high = np.full_like(wanted, -_LARGEST), np.full_like(wanted, _LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = implied_covariance(products, middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(products.any(axis=0), (low + high) / 2, 0.0)


def polychoric(table: ArrayLike) -> float:
    """Return the correlation of two normals whose classes are most likely to make the table.

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

    return float(minimize_scalar(loss, bounds=(-_STRONGEST, _STRONGEST), method="bounded").x)


def noisy_polychoric(
    counts: ArrayLike, channels: Sequence[Table], one: Table, other: Table
) -> tuple[float, float]:
    """Return the same from counts of noisy reports, within the classes of a target.

    The likelihood is that of the reports themselves: a table that was reconstructed first would be
    pulled to independence by the early end of its reconstruction.
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

    rho = float(minimize_scalar(loss, bounds=(-_STRONGEST, _STRONGEST), method="bounded").x)
    inner = min(max(rho, _STEP - _STRONGEST), _STRONGEST - _STEP)
    bend = (loss(inner + _STEP) - 2 * loss(inner) + loss(inner - _STEP)) / _STEP**2
    return rho, math.inf if bend <= 0 else 1 / math.sqrt(bend)


def _pair_of_series(one: Table, other: Table) -> tuple[Table, Table]:
    return _series(one / max(one.sum(), _LEAST)), _series(other / max(other.sum(), _LEAST))


def normal_table(rho: float, first: Table, second: Table) -> Table:
    """Return the shares of two classes whose normals have a correlation."""
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Copula:
    """Latent normals of the scaled columns within one class of the target."""

    factor: Matrix
    shifts: Matrix
    knots: Matrix
    levels: Matrix

    def uniform(self, normals: Matrix, classes: NDArray[np.int64]) -> Matrix:
        """Return uniform numbers that depend on each other as the scaled columns do."""
        latent = self.factor @ normals.T
        if not len(self.shifts):
            return np.asarray(ndtr(latent))
        for each in classes:
            latent += self.shifts[each].T
        pairs = zip(latent, self.knots, self.levels, strict=True)
        return np.array([np.interp(one, places, level) for one, places, level in pairs])


def join(correlation: Matrix, shifts: Matrix, drawn: Matrix) -> Copula:
    """Make the copula of one class of the target."""
    size = len(correlation)
    if not drawn.size or not size:
        factor = np.asarray(np.linalg.cholesky(nearest_correlation(correlation)), dtype=np.float64)
        empty = np.empty((size, 0))
        return Copula(factor=factor, shifts=np.empty((0, size)), knots=empty, levels=empty)
    shifts, moved = _bounded(shifts, drawn)
    explained = np.cov(moved, rowvar=False).reshape(size, size)
    rest = np.sqrt(1 - np.diag(explained))
    left = nearest_correlation((correlation - explained) / np.outer(rest, rest))
    knots = np.linspace(-_REACH, _REACH, _KNOTS) + np.zeros((size, 1))
    levels = [
        ndtr((places[:, np.newaxis] - shift) / spread).mean(axis=1)
        for places, shift, spread in zip(knots, moved.T, rest, strict=True)
    ]
    factor = rest[:, np.newaxis] * np.linalg.cholesky(left)
    return Copula(factor=factor, shifts=shifts, knots=knots, levels=np.array(levels))


def learn_shifts(cross: Matrix, errors: Matrix, spread: Matrix, blocks: Sequence[slice]) -> Matrix:
    """Regress the latent normals on the indicators of nominal classes."""
    pulled = np.zeros_like(cross)
    for block in blocks:
        for column in range(cross.shape[1]):
            pulled[block, column] = pull_if_clear(cross[block, column], errors[block, column])
    return np.asarray(np.linalg.solve(spread + _RIDGE * np.eye(len(spread)), pulled))


def _bounded(shifts: Matrix, drawn: Matrix) -> tuple[Matrix, Matrix]:
    """Let shifts have mean zero and explain a limited part of a normal; return what they add."""
    # Each record has one indicator in each nominal column.
    centred = shifts - (drawn @ shifts).mean(axis=0) / float(drawn[0].sum())
    explained = (drawn @ centred).var(axis=0)
    centred *= np.sqrt(np.minimum(1.0, _MOST / np.maximum(explained, 1e-12)))
    return centred, drawn @ centred
