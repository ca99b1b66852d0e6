"""How the nominal columns move the copula: each of their classes shifts the latent normals.

The latent normals of the scaled columns are a linear function of the classes plus a remainder that
is normal. So age may depend on marital status, and both on income, without a table of all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from supm.synthesis.correlation import nearest_correlation, pull_if_clear

__all__ = ["Copula", "join", "learn_shifts"]

Matrix = NDArray[np.float64]

_MOST: Final = 0.9
_KNOTS: Final = 257
_REACH: Final = 6.0
_RIDGE: Final = 1e-2


@dataclass(frozen=True, kw_only=True, eq=False)
class Copula:
    """Latent normals of the scaled columns within one class of the target.

    Parameters
    ----------
    factor : ndarray of float, shape (scaled, scaled)
        Lower triangle, by which independent normals become the remainder.
    shifts : ndarray of float, shape (values, scaled)
        What each class of a nominal column adds.
    knots : ndarray of float, shape (scaled, knots)
        Places at which the distribution function of each latent number is known.
    levels : ndarray of float, shape (scaled, knots)
        Its values there.
    """

    factor: Matrix
    shifts: Matrix
    knots: Matrix
    levels: Matrix

    def uniform(self, normals: Matrix, classes: NDArray[np.int64]) -> Matrix:
        """Return uniform numbers that depend on each other as the scaled columns do.

        Parameters
        ----------
        normals : ndarray of float, shape (records, scaled)
            Independent.
        classes : ndarray of int, shape (nominal, records)
            Where in the list of all values the class of each nominal column stands.

        Returns
        -------
        ndarray of float, shape (scaled, records)
        """
        latent = self.factor @ normals.T
        if not len(self.shifts):
            return np.asarray(ndtr(latent))
        for each in classes:
            latent += self.shifts[each].T
        pairs = zip(latent, self.knots, self.levels, strict=True)
        return np.array([np.interp(one, places, level) for one, places, level in pairs])


def join(correlation: Matrix, shifts: Matrix, drawn: Matrix) -> Copula:
    """Make the copula of one class of the target.

    Parameters
    ----------
    correlation : ndarray of float, shape (scaled, scaled)
        Of the latent normals.
    shifts : ndarray of float, shape (values, scaled)
        What each class of a nominal column adds to them; see `learn_shifts`.
    drawn : ndarray of float, shape (records, values)
        Indicators of many drawn records, which stand for the tree of nominal columns.

    Returns
    -------
    Copula
    """
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
    """Regress the latent normals on the indicators of nominal classes.

    Parameters
    ----------
    cross, errors : ndarray of float, shape (values, scaled)
        Covariances of the indicators with the latent normals, and their standard errors.
    spread : ndarray of float, shape (values, values)
        Covariance of the indicators.
    blocks : sequence of slice
        Which values belong to one nominal column. Its covariances with a scaled column count only
        if all of them together are clearly above their noise.

    Returns
    -------
    ndarray of float, shape (values, scaled)
    """
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
