"""The subspace of one party's components as whole numbers, weighted by its records."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm.federation.sums import triangle, untriangle
from supm.learning.principal import principal_components

__all__ = ["STEPS", "mean_subspace", "weighted_subspace"]

Floats: TypeAlias = NDArray[np.float64]

STEPS: Final = 1 << 20
"""One, in steps of what is told. Entries are at most one, so a sum is below 2^29 STEPS = 2^49."""


def weighted_subspace(products: Floats, components: int, rows: int) -> NDArray[np.int64]:
    """Return the projector on the top components times the number of rows, upper triangle.

    The projector, not the components: their signs, order and rotations are arbitrary, and a sum of
    components depends on them.

    Parameters
    ----------
    products : ndarray of float64, shape (width, width)
        Of the rows, with all the noise that they need.
    components : int
        How many span the subspace.
    rows : int
        The weight.

    Returns
    -------
    ndarray of int64
        In steps of 2^-20.

    Examples
    --------
    >>> (weighted_subspace(np.diag([4.0, 1.0]), 1, 3) / STEPS).tolist()
    [3.0, 0.0, 0.0]
    """
    found, _ = principal_components(products, components)
    return triangle(np.rint(rows * STEPS * (found.T @ found)).astype(np.int64))


def mean_subspace(total: NDArray[np.int64], width: int) -> Floats:
    """Return the average of the parties' projectors, from the sum of what they told.

    Parameters
    ----------
    total : ndarray of int64
        The sum of all `weighted_subspace`, and at its end the number of all rows.
    width : int
        Of a row.

    Returns
    -------
    ndarray of float64, shape (width, width)

    Examples
    --------
    >>> told = np.append(weighted_subspace(np.diag([4.0, 1.0]), 1, 3), 3)
    >>> mean_subspace(told, 2).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return untriangle(total[:-1], width) / (float(STEPS) * float(total[-1]))
