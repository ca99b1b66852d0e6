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
