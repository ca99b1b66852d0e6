"""From the covariance of two columns to the correlation of the normals behind them.

A column is X = q(Z) for a standard normal Z and its quantile function q. With the coefficients
a_k = E[q(Z) h_k(Z)] over the normalised Hermite polynomials h_k, two columns whose normals have
correlation rho have the covariance sum over k >= 1 of a_k b_k rho^k (Mehler). It grows with rho,
so it can be inverted. The covariance itself, taken for rho as in paper 004, is too weak.

The latent normals of the scaled columns are a linear function of the classes plus a remainder that
is normal. So age may depend on marital status, and both on income, without a table of all three.

Correlations that are found through noise are shrunk, and made possible together.
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

from supm.messages.codec import Message

Matrix = NDArray[np.float64]
TERMS: Final = 80
"""Terms of the series; for jumps they decay as a power of the index, times that of rho."""
_LARGEST: Final = 0.999
_HALVINGS: Final = 40
_STRONGEST: Final = 0.99
_LEAST: Final = 1e-12
_STEP: Final = 0.02
_MOST: Final = 0.9
_KNOTS: Final = 257
_REACH: Final = 6.0
_RIDGE: Final = 1e-2
FLOOR: Final = 1e-3
"""The least eigenvalue of a correlation matrix that is sampled from."""
_ROUNDS: Final = 100
_MEANS: Final = 20
_SURE: Final = 3.0
_CLOSE: Final = 1e-9


def hermite_coefficients(heights: ArrayLike, places: ArrayLike) -> Matrix:
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


def implied_covariance(products: Matrix, correlations: Matrix) -> Matrix:
    """Return the covariance that latent correlations make."""
    total = np.zeros_like(correlations)
    for term in products[::-1]:
        total = (total + term) * correlations
    return total


def latent_correlations(covariances: ArrayLike, products: Matrix) -> Matrix:
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


def noisy_polychoric(
    counts: ArrayLike, channels: Sequence[Matrix], one: Matrix, other: Matrix
) -> tuple[float, float]:
    """Return the correlation of two normals whose classes are most likely to make noisy reports.

    It is the same within all classes of a target, which are the first axis of the counts. The
    likelihood is that of the reports themselves: a table that was reconstructed first would be
    pulled to independence by the early end of its reconstruction. The second number is the standard
    error.

    References
    ----------
    U. Olsson, Maximum likelihood estimation of the polychoric correlation coefficient,
    Psychometrika 44 (1979).

    Examples
    --------
    >>> shares = np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
    >>> halves, clean = np.full((1, 2), 0.5), [np.eye(1), np.eye(2), np.eye(2)]
    >>> rho, _ = noisy_polychoric(shares[np.newaxis], clean, halves, halves)
    >>> round(rho, 3)
    0.5
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


def _pair_of_series(one: Matrix, other: Matrix) -> tuple[Matrix, Matrix]:
    return _series(one / max(one.sum(), _LEAST)), _series(other / max(other.sum(), _LEAST))


def normal_table(rho: float, first: Matrix, second: Matrix) -> Matrix:
    """Return the shares of two classes whose normals have a correlation."""
    powers = rho ** np.arange(TERMS + 1)
    return np.asarray((first * powers) @ second.T)


def _series(margin: Matrix) -> Matrix:
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
class Copula(Message):
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


def pull(entries: ArrayLike, errors: ArrayLike, goal: ArrayLike = 0.0) -> Matrix:
    """Move noisy entries to a goal, each by the share of its spread that its noise explains.

    Examples
    --------
    >>> pull([0.3, -0.3], [0.1, 0.1]).round(4)
    array([ 0.2667, -0.2667])
    >>> pull([0.3, -0.3], [0.5, 0.5])
    array([0., 0.])
    """
    noise = np.square(np.asarray(errors, dtype=float))
    aim = np.asarray(goal, dtype=float)
    # An entry that was never observed has infinite noise, and says nothing about the others.
    known = np.isfinite(noise)
    away = np.where(known, np.asarray(entries, dtype=float) - aim, 0.0)
    signal = _spread(np.square(away[known]), noise[known])
    share = np.divide(signal, signal + noise, out=np.ones_like(noise), where=noise > 0)
    return np.asarray(aim + np.where(known, share, 0.0) * away)


def pull_if_clear(entries: ArrayLike, errors: ArrayLike, goal: ArrayLike = 0.0) -> Matrix:
    """Pull entries to a goal, all the way unless together they stand out of their noise.

    Examples
    --------
    >>> pull_if_clear([0.3, -0.3], [0.25, 0.25])
    array([0., 0.])
    >>> pull_if_clear([0.9, -0.9], [0.1, 0.1]).round(2)
    array([ 0.89, -0.89])
    """
    noise, aim = np.asarray(errors, dtype=float), np.asarray(goal, dtype=float)
    known = np.isfinite(noise) & (noise > 0)
    away = (np.asarray(entries, dtype=float) - aim)[known] / noise[known]
    clear = float(away @ away) > away.size + _SURE * np.sqrt(2.0 * away.size)
    return pull(entries, errors, aim) if clear else np.asarray(aim + np.zeros_like(noise))


def _spread(squares: Matrix, noise: Matrix) -> float:
    """Return the variance of the true distances, by weighted moments in a few rounds."""
    if not squares.size:
        return 0.0
    spread = float(np.median(squares))
    for _ in range(_MEANS):
        weights = 1 / np.square(np.maximum(spread + noise, 1e-100))
        weights /= weights.sum()
        spread = max(0.0, float(weights @ (squares - noise)))
    return spread


def nearest_correlation(matrix: ArrayLike) -> Matrix:
    """Return the nearest matrix with ones on the diagonal and no eigenvalue below the floor.

    References
    ----------
    N. J. Higham, Computing the nearest correlation matrix, IMA J. Numerical Analysis 22 (2002):
    alternating projections with Dykstra's correction, here onto eigenvalues of at least 0.001.

    Examples
    --------
    >>> impossible = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    >>> fixed = nearest_correlation(impossible)
    >>> fixed.round(3)
    array([[ 1. ,  0.5, -0.5],
           [ 0.5,  1. ,  0.5],
           [-0.5,  0.5,  1. ]])
    """
    unit = np.array(matrix, dtype=float)
    if not unit.size:
        return unit
    unit = (unit + unit.T) / 2
    np.fill_diagonal(unit, 1.0)
    owed = np.zeros_like(unit)
    for _ in range(_ROUNDS):
        if np.linalg.eigvalsh(unit)[0] >= FLOOR - _CLOSE:
            break
        moved = unit - owed
        lifted = _lifted(moved, FLOOR)
        owed = lifted - moved
        unit = lifted.copy()
        np.fill_diagonal(unit, 1.0)
    return _standardised(_lifted(unit, FLOOR))


def repaired_covariance(covariance: ArrayLike, floor: float = 1e-6) -> Matrix:
    """Return the matrix with its eigenvalues below the floor set to it, as in paper 004.

    Examples
    --------
    >>> repaired_covariance([[0.0, 0.1], [0.1, 0.0]]).round(4)
    array([[0.05, 0.05],
           [0.05, 0.05]])
    """
    return _lifted(np.asarray(covariance, dtype=float), floor)


def _lifted(matrix: Matrix, floor: float) -> Matrix:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, floor)) @ vectors.T)


def _standardised(matrix: Matrix) -> Matrix:
    scale = np.sqrt(np.diag(matrix))
    unit = matrix / np.outer(scale, scale)
    np.fill_diagonal(unit, 1.0)
    return np.asarray(unit)
