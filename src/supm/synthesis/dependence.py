"""How scaled columns hang together within each class of the target: latent correlations.

Covariances within all classes together are what is left of the whole after the differences between
the classes; they are pulled to zero by what noise explains. Those of each class are pulled to them,
and differ from them only where the difference is clear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.correlation import pull, pull_if_clear
from supm.synthesis.latent import implied_covariance, latent_correlations
from supm.synthesis.marginals import Marginal
from supm.synthesis.moments import Moments

__all__ = ["class_means", "latent_matrices", "within_classes"]

Matrix = NDArray[np.float64]
Pairs: TypeAlias = tuple[NDArray[np.int64], ...]
Known: TypeAlias = Mapping[tuple[int, int], tuple[float, float]]

_LEAST: Final = 1e-9


def class_means(
    marginals: Sequence[Sequence[Marginal]], nominal: Sequence[Matrix], prior: Matrix
) -> Matrix:
    """Return the mean of each number that stands for a record, within each class of the target.

    Parameters
    ----------
    marginals : sequence, for each class a sequence of Marginal
        Of the scaled columns.
    nominal : sequence of ndarray of float, shape (classes, values)
        Shares of class and value together.
    prior : ndarray of float, shape (classes,)
        Shares of the classes.

    Returns
    -------
    ndarray of float, shape (classes, d)
    """
    scaled = np.array([[each.mean for each in row] for row in marginals]).reshape(prior.size, -1)
    safe = np.maximum(prior, 1e-300)[:, np.newaxis]
    return np.concatenate((scaled, *(table / safe for table in nominal)), axis=1)


def within_classes(moments: Moments, means: Matrix, prior: Matrix) -> Matrix:
    """Return the covariance of all numbers within the classes of the target, taken together.

    Parameters
    ----------
    moments : Moments
        Of all records.
    means : ndarray of float, shape (classes, d)
        Of each class.
    prior : ndarray of float, shape (classes,)
        Shares of the classes.

    Returns
    -------
    ndarray of float, shape (d, d)
    """
    away = means - prior @ means
    return np.asarray(moments.covariance - (away * prior[:, np.newaxis]).T @ away)


def latent_matrices(
    moments: Moments,
    marginals: Sequence[Sequence[Marginal]],
    means: Matrix,
    prior: Matrix,
    *,
    latent: bool,
    known: Known,
) -> list[Matrix]:
    """Return for each class the correlations of the normals behind the scaled columns.

    Parameters
    ----------
    moments : Moments
        Of all records.
    marginals : sequence, for each class a sequence of Marginal
        Of the scaled columns.
    means : ndarray of float, shape (classes, d)
        Of each class.
    prior : ndarray of float, shape (classes,)
        Shares of the classes.
    latent : bool
        Whether covariances are inverted to the normals behind them. Otherwise the correlations of
        the columns themselves are taken, as in paper 004.
    known : mapping of pairs of places to pairs of floats
        Correlations that are known better, of ordered classes, with their standard errors.

    Returns
    -------
    list of ndarray of float, shape (scaled, scaled)
        Symmetric with ones on the diagonal; not yet sure to be possible.
    """
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
