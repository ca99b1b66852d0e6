"""Correlation matrices from noisy entries: shrink them, and make them possible."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]
FLOOR: Final = 1e-3
"""The least eigenvalue of a correlation matrix that is sampled from."""
_ROUNDS: Final = 100
_MEANS: Final = 20
_SURE: Final = 3.0
_CLOSE: Final = 1e-9


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
