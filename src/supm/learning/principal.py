"""Principal components of a symmetric matrix, and the average of several parties' subspaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from supm._errors import ParameterError
from supm._validation import Integers

Floats = NDArray[np.float64]

_COUNT: Final = Integers("components", 1, 1 << 14)


def principal_components(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the components with the largest eigenvalues, largest first.

    By eigenvalue and not by its size: a noisy matrix has negative eigenvalues, and a strongly
    negative one belongs to noise.

    Parameters
    ----------
    matrix : ndarray of float64, shape (width, width)
        Symmetric.
    count : int
        How many components, at most the width.

    Returns
    -------
    components : ndarray of float64, shape (count, width)
        Orthonormal rows. The entry of largest size of each is positive.
    eigenvalues : ndarray of float64
        One for each.

    Examples
    --------
    >>> components, eigenvalues = principal_components(np.diag([1.0, -9.0, 4.0]), 2)
    >>> eigenvalues.tolist(), np.abs(components).argmax(axis=1).tolist()
    ([4.0, 1.0], [2, 0])
    """
    width = len(matrix)
    if _COUNT.check(count) > width:
        raise ParameterError("components", f"at most the width of the rows, {width}", count)
    eigenvalues, columns = eigh(matrix, subset_by_index=(width - count, width - 1))
    return _with_signs(columns.T[::-1]), eigenvalues[::-1].copy()


def average_subspace(parts: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the subspace nearest to several, for parties that may send subspaces only.

    The projectors are averaged, not the components: signs, order and rotations of components within
    their subspace are arbitrary, and an average of components depends on them.

    Parameters
    ----------
    parts : sequence of ndarray, each of shape (count, width)
        Orthonormal rows of each party.
    weights : sequence of float
        How much each counts; positive.

    Returns
    -------
    ndarray of float64, shape (count, width)
        The top components of sum of w U'U.

    Examples
    --------
    >>> line = np.array([[0.6, 0.8]])
    >>> np.abs(average_subspace([line, -line], [1.0, 2.0])).round(6).tolist()
    [[0.6, 0.8]]
    """
    if not parts or len(parts) != len(weights) or min(weights) <= 0:
        raise ParameterError("weights", "one positive number for each part", len(weights))
    share = np.asarray(weights, dtype=np.float64) / sum(weights)
    whole = sum(
        (weight * part.T @ part for weight, part in zip(share, parts, strict=True)),
        start=np.zeros((parts[0].shape[1],) * 2),
    )
    return principal_components(whole, len(parts[0]))[0]


def _with_signs(components: Floats) -> Floats:
    """Make the largest entry of each positive, so that equal matrices give equal components."""
    largest = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    return np.ascontiguousarray(components * signs[:, None])
