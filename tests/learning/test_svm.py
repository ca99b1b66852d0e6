"""The machine on weighted cells equals the machine on all the duplicates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.svm import SVC

from supm import simulation
from supm.learning import RbfSVM, WeightedCells

PLACES = np.array(list(itertools.product((-0.75, -0.25, 0.25, 0.75), repeat=2)))
GRID = np.array(list(itertools.product(np.linspace(-1, 1, 9), repeat=2)))


def _counts(classes: int, seed: int, scale: int = 12) -> NDArray[np.int64]:
    """Counts that lean to one class on the one side of a line, with many errors."""
    drawn = simulation(seed).below(scale, len(PLACES) * classes).astype(np.int64)
    lean = np.outer(PLACES.sum(axis=1), np.linspace(-1, 1, classes)) * scale
    counts: NDArray[np.int64] = drawn.reshape(-1, classes) + np.clip(lean, 0, None).astype(np.int64)
    return counts


def _duplicates(cells: WeightedCells) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    times = cells.weights.astype(np.int64)
    return np.repeat(cells.features, times, axis=0), np.repeat(cells.labels, times)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_training_on_cells_equals_training_on_the_duplicates(classes: int, seed: int) -> None:
    cells = WeightedCells.from_counts(PLACES, _counts(classes, seed))
    trained = RbfSVM.fit(cells, classes=classes, penalty=2.1)
    rows, labels = _duplicates(cells)
    assert trained.gamma == pytest.approx(1 / (2 * rows.var(axis=0).max()), rel=1e-12)
    on_rows = SVC(C=2.1, gamma=trained.gamma, tol=1e-6, decision_function_shape="ovo")
    votes = on_rows.fit(rows, labels).decision_function(GRID).reshape(len(GRID), -1)
    for column, (_, _, places, amounts, constant) in enumerate(trained.machines):
        decided = trained._decide(GRID, places, amounts, constant)
        # libsvm counts a pair's votes for the first class where there are more than two.
        expected = votes[:, column] * (1 if classes == 2 else -1)
        np.testing.assert_allclose(decided, expected, atol=5e-3)


def test_one_class_only_is_predicted_everywhere() -> None:
    counts = np.zeros((16, 3), dtype=np.int64)
    counts[:, 2] = 5
    trained = RbfSVM.fit(WeightedCells.from_counts(PLACES, counts), classes=3, penalty=1.0)
    assert set(trained.predict(GRID)) == {2}


def test_without_any_variance_the_commonest_class_is_predicted() -> None:
    cells = WeightedCells.from_counts(np.array([[0.5, 0.5]]), [[3, 4]])
    assert set(RbfSVM.fit(cells, classes=2, penalty=1.0).predict(GRID)) == {1}


@pytest.mark.parametrize("scale", [40, 40_000])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_class_that_holds_a_corner_is_predicted_there(classes: int, scale: int) -> None:
    corners = np.array([(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])[:classes]
    counts = (np.eye(classes) * 8 + 1) * scale / 10
    trained = RbfSVM.fit(WeightedCells.from_counts(corners, counts), classes=classes, penalty=2.1)
    assert trained.predict(corners).tolist() == list(range(classes))
