"""From the covariance of two columns to the correlation of the normals behind them.

A column is X = q(Z) for a standard normal Z and its quantile function q. With the coefficients
a_k = E[q(Z) h_k(Z)] over the normalised Hermite polynomials h_k, two columns whose normals have
correlation rho have the covariance sum over k >= 1 of a_k b_k rho^k (Mehler). It grows with rho,
so it can be inverted. The covariance itself, taken for rho as in paper 004, is too weak.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["TERMS", "hermite_coefficients", "implied_covariance", "latent_correlations"]

TERMS: Final = 80
"""Terms of the series; for jumps they decay as a power of the index, times that of rho."""

_LARGEST: Final = 0.999
_HALVINGS: Final = 40


def hermite_coefficients(heights: ArrayLike, places: ArrayLike) -> NDArray[np.float64]:
    """Return the coefficients of a step function of a standard normal number.

    Parameters
    ----------
    heights : array-like of float, shape (m,)
        By how much the function jumps.
    places : array-like of float, shape (m,)
        Where it jumps; jumps at infinity never happen.

    Returns
    -------
    ndarray of float, shape (TERMS,)
        For k = 1, 2, …: the sum of height · density · h_(k-1) at the places, over sqrt(k).

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
    """Return the covariance that latent correlations make.

    Parameters
    ----------
    products : ndarray of float, shape (TERMS, pairs)
        Products a_k b_k of the coefficients of two columns, for each pair.
    correlations : ndarray of float, shape (pairs,)
        Of the latent normals.

    Returns
    -------
    ndarray of float, shape (pairs,)
    """
    total = np.zeros_like(correlations)
    for term in products[::-1]:
        total = (total + term) * correlations
    return total


def latent_correlations(
    covariances: ArrayLike, products: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the latent correlations that make the given covariances.

    Parameters
    ----------
    covariances : array-like of float, shape (pairs,)
        Of the columns; beyond what is possible, the nearest possible is taken.
    products : ndarray of float, shape (TERMS, pairs)
        Products a_k b_k of the coefficients of two columns, for each pair.

    Returns
    -------
    ndarray of float, shape (pairs,)
        Within [-0.999, 0.999]; zero where a column is constant.

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
