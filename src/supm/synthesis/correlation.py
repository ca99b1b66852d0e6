"""Correlation matrices from noisy entries: shrink them, and make them possible.

Covariances within all classes together are what is left of the whole after the differences between
the classes; they are pulled to zero by what noise explains. Those of each class are pulled to them,
and differ from them only where the difference is clear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.synthesis.latent import implied_covariance, latent_correlations
from supm.synthesis.marginals import Marginal
from supm.synthesis.moments import RecordMoments

__all__ = [
    "FLOOR",
    "class_means",
    "latent_matrices",
    "nearest_correlation",
    "pull",
    "pull_if_clear",
    "repaired_covariance",
    "within_classes",
]

Matrix = NDArray[np.float64]
FLOOR: Final = 1e-3
"""The least eigenvalue of a correlation matrix that is sampled from."""
_ROUNDS: Final = 100
_MEANS: Final = 20
_SURE: Final = 3.0
_CLOSE: Final = 1e-9
Pairs: TypeAlias = tuple[NDArray[np.int64], ...]
Known: TypeAlias = Mapping[tuple[int, int], tuple[float, float]]
_LEAST: Final = 1e-9


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


def class_means(
    marginals: Sequence[Sequence[Marginal]], nominal: Sequence[Matrix], prior: Matrix
) -> Matrix:
    """Return the mean of each number that stands for a record, within each class of the target."""
    scaled = np.array([[each.mean for each in row] for row in marginals]).reshape(prior.size, -1)
    safe = np.maximum(prior, 1e-300)[:, np.newaxis]
    return np.concatenate((scaled, *(table / safe for table in nominal)), axis=1)


def within_classes(moments: RecordMoments, means: Matrix, prior: Matrix) -> Matrix:
    """Return the covariance of all numbers within the classes of the target, taken together."""
    away = means - prior @ means
    return np.asarray(moments.covariance - (away * prior[:, np.newaxis]).T @ away)


def latent_matrices(
    moments: RecordMoments,
    marginals: Sequence[Sequence[Marginal]],
    means: Matrix,
    prior: Matrix,
    *,
    latent: bool,
    known: Known,
) -> list[Matrix]:
    """Return for each class the correlations of the normals behind the scaled columns."""
    size = len(marginals[0])
    if not size:
        return [np.eye(0)] * prior.size
    pairs = np.triu_indices(size, 1)
    products = _products(marginals, pairs, latent=latent)
    together = np.tensordot(prior, products, axes=1)
    covariance, errors = within_classes(moments, means, prior)[pairs], moments.errors[pairs]
    if latent:
        _put_in(known, pairs, together, covariance, errors)
    common = _pulled(pull, covariance, errors, together, np.zeros_like(covariance))
    if not len(moments.products):
        return [_square(common, size, pairs)] * prior.size
    found = []
    for place, share in enumerate(prior):
        own, noise = moments.within(place, max(float(share), _LEAST), means[place])
        entries = _pulled(pull_if_clear, own[pairs], noise[pairs], products[place], common)
        found.append(_square(entries, size, pairs))
    return found


def _products(marginals: Sequence[Sequence[Marginal]], pairs: Pairs, *, latent: bool) -> Matrix:
    """Return products of Hermite coefficients of two columns, for each class, term and pair."""
    if latent:
        series = np.array([[each.coefficients for each in row] for row in marginals])
    else:
        series = np.array([[[np.sqrt(each.variance)] for each in row] for row in marginals])
    first, second = series[:, pairs[0]], series[:, pairs[1]]
    return np.asarray(np.swapaxes(first * second, 1, 2))


def _put_in(
    known: Known, pairs: Pairs, products: Matrix, covariance: Matrix, errors: Matrix
) -> None:
    """Replace covariances by those of correlations that are known better."""
    places = {pair: at for at, pair in enumerate(zip(*(p.tolist() for p in pairs), strict=True))}
    for pair, (rho, error) in known.items():
        at = places[pair]
        covariance[at] = implied_covariance(products[:, at : at + 1], np.array([rho]))[0]
        errors[at] = error * abs(products[0, at])


def _pulled(
    how: Callable[[Matrix, Matrix, Matrix], Matrix],
    covariance: Matrix,
    errors: Matrix,
    products: Matrix,
    goal: Matrix,
) -> Matrix:
    """Pull covariances to what a goal of latent correlations makes, and invert them.

    It is done in units of the first product, in which a weak covariance is a latent correlation: a
    column with spikes says less about its normal than its own spread tells.
    """
    slope = np.maximum(np.abs(products[0]), _LEAST)
    aim = implied_covariance(products, goal) / slope
    return latent_correlations(slope * how(covariance / slope, errors / slope, aim), products)


def _square(entries: Matrix, size: int, pairs: Pairs) -> Matrix:
    matrix = np.eye(size)
    matrix[pairs] = entries
    matrix.T[pairs] = entries
    return matrix
