"""Components are found by eigenvalue; subspaces are averaged whatever their basis."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from supm import simulation
from supm._errors import ParameterError
from supm.learning.principal import average_subspace, principal_components

Floats = NDArray[np.float64]


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


def basis(seed: int, count: int, width: int) -> Floats:
    return np.linalg.qr(normals(seed, width, count))[0].T


def test_components_are_those_of_the_largest_eigenvalues_not_of_the_largest_sizes() -> None:
    axes = basis(1, 6, 6)
    matrix = axes.T @ np.diag([5.0, 3.0, 1.0, -2.0, -4.0, -9.0]) @ axes
    components, eigenvalues = principal_components(matrix, 2)
    np.testing.assert_allclose(eigenvalues, [5.0, 3.0])
    np.testing.assert_allclose(np.abs(components @ axes[:2].T), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(components @ components.T, np.eye(2), atol=1e-12)
    largest = components[np.arange(2), np.abs(components).argmax(axis=1)]
    assert (largest > 0).all()


def test_more_components_than_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most the width of the rows, 3"):
        principal_components(np.eye(3), 4)


def test_the_average_of_subspaces_does_not_depend_on_their_bases() -> None:
    parts = [basis(seed, 3, 8) for seed in (1, 2, 3)]
    weights = [1.0, 2.0, 5.0]
    plain = average_subspace(parts, weights)
    turned = [-parts[0], parts[1][[2, 0, 1]], basis(9, 3, 3) @ parts[2]]
    again = average_subspace(turned, weights)
    np.testing.assert_allclose(plain.T @ plain, again.T @ again, atol=1e-10)
    # The naive average does depend on it.
    naive = sum(w * p for w, p in zip(weights, parts, strict=True))
    other = sum(w * p for w, p in zip(weights, turned, strict=True))
    assert np.abs(np.asarray(naive).T @ naive - np.asarray(other).T @ other).max() > 0.1


def test_equal_subspaces_are_their_own_average_and_weights_decide() -> None:
    one, other = basis(1, 2, 6), basis(2, 2, 6)
    same = average_subspace([one, one], [0.3, 0.7])
    np.testing.assert_allclose(same.T @ same, one.T @ one, atol=1e-12)
    heavy = average_subspace([one, other], [1e6, 1.0])
    np.testing.assert_allclose(heavy.T @ heavy, one.T @ one, atol=1e-5)


@pytest.mark.parametrize("weights", [[], [1.0], [1.0, 0.0]])
def test_weights_that_fit_no_parts_are_refused(weights: list[float]) -> None:
    with pytest.raises(ParameterError, match="one positive number for each"):
        average_subspace([np.eye(2)] * 2, weights)
