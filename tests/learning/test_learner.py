"""A weight is that many records: training on cells equals training on the duplicates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from supm import ParameterError, simulation
from supm.learning import AnyClassifier, Learner, RadialSVM, RbfSVM, WeightedCells
from supm.learning.learner import Constant, Machine, solve_by_libsvm

PLACES = np.array(list(itertools.product((-0.75, -0.25, 0.25, 0.75), repeat=3)))

# Those of scikit-learn that treat a weight as so many records, with parameters that do not look at
# the number of rows.
WEIGHTED = [
    LogisticRegression(C=3.0, tol=1e-8, max_iter=1000),
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    GaussianNB(),
    BernoulliNB(),
    RidgeClassifier(),
    AdaBoostClassifier(n_estimators=5, random_state=0),
    SVC(C=2.1, gamma=0.7, tol=1e-8),
]


def _cells(classes: int, seed: int, scale: int = 8) -> WeightedCells:
    """Make cells that lean to one class on the one side of a plane, with many errors."""
    drawn = simulation(seed).below(scale, len(PLACES) * classes).astype(np.int64)
    lean = np.outer(PLACES @ (1.0, 0.6, 0.2), np.linspace(-1, 1, classes)) * scale
    counts = drawn.reshape(-1, classes) + np.clip(lean, 0, None).astype(np.int64)
    return WeightedCells.from_counts(PLACES, counts)


def _duplicates(cells: WeightedCells) -> WeightedCells:
    times = cells.weights.astype(np.int64)
    return WeightedCells(
        features=np.repeat(cells.features, times, axis=0),
        labels=np.repeat(cells.labels, times),
        weights=np.ones(int(times.sum())),
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", WEIGHTED, ids=lambda each: type(each).__name__)
def test_any_classifier_on_cells_answers_as_on_the_duplicates(estimator: Any, classes: int) -> None:
    for seed in range(3):
        cells = _cells(classes, seed)
        learner = AnyClassifier(estimator=estimator)
        on_cells = learner.fit(cells, classes=classes).predict(PLACES)
        on_rows = learner.fit(_duplicates(cells), classes=classes).predict(PLACES)
        assert (on_cells == on_rows).all()
        assert len(set(on_cells.tolist())) > 1


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_papers_machine_on_cells_answers_as_on_the_duplicates(classes: int) -> None:
    learner: Learner = RadialSVM(penalty=2.1)
    for seed in range(3):
        cells = _cells(classes, seed)
        on_cells = learner.fit(cells, classes=classes).predict(PLACES)
        on_rows = learner.fit(_duplicates(cells), classes=classes).predict(PLACES)
        assert (on_cells == on_rows).all()


def _dual(machine: Machine, gamma: float) -> float:
    """Return the dual objective of a machine that lists each class of a place by itself."""
    places, amounts, _ = machine
    kernel = rbf_kernel(places, places, gamma=gamma)
    return float(np.abs(amounts).sum() - amounts @ kernel @ amounts / 2)


def test_the_dual_objective_is_that_of_the_duplicates() -> None:
    for seed in range(3):
        cells = _cells(2, seed)
        rows = _duplicates(cells)
        on_cells, on_rows = (solve_by_libsvm(each, 0.7, 2.1) for each in (cells, rows))
        found, expected = (_dual(each, 0.7) for each in (on_cells, on_rows))
        assert found == pytest.approx(expected, rel=1e-5)
        # Amounts at a place may be shared out in many ways; the decisions of the optimum are one.
        places, amounts, constant = on_cells
        decided = rbf_kernel(PLACES, places, gamma=0.7) @ amounts + constant
        places, amounts, constant = on_rows
        expected_decisions = rbf_kernel(PLACES, places, gamma=0.7) @ amounts + constant
        np.testing.assert_allclose(decided, expected_decisions, atol=5e-3)


def test_training_leaves_the_users_classifier_as_it_was() -> None:
    mine = LogisticRegression()
    AnyClassifier(estimator=mine).fit(_cells(2, 1), classes=2)
    assert not hasattr(mine, "coef_")


def test_where_there_is_one_class_it_is_the_answer() -> None:
    cells = WeightedCells(features=PLACES, labels=np.full(len(PLACES), 2), weights=np.ones(64))
    for learner in (RadialSVM(), AnyClassifier(estimator=LogisticRegression())):
        trained = learner.fit(cells, classes=3)
        assert set(trained.predict(PLACES).tolist()) == {2}
    assert Constant(label=2).predict(PLACES).dtype == np.int64


def test_a_class_that_nobody_reported_is_never_the_answer() -> None:
    cells = _cells(2, 1)
    for learner in (RadialSVM(), AnyClassifier(estimator=GaussianNB())):
        assert set(learner.fit(cells, classes=5).predict(PLACES).tolist()) <= {0, 1}


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        make_pipeline(LogisticRegression()),
        LogisticRegression,
        "LogisticRegression",
        None,
    ],
)
def test_what_cannot_be_trained_on_weights_is_refused(estimator: Any) -> None:
    with pytest.raises(ParameterError, match="whose fit takes sample_weight"):
        AnyClassifier(estimator=estimator)


@pytest.mark.parametrize("penalty", [0, -1.0, float("nan"), float("inf"), "2.1", None, True])
def test_a_penalty_that_is_no_positive_number_is_refused(penalty: Any) -> None:
    with pytest.raises(ParameterError, match="penalty"):
        RadialSVM(penalty=penalty)


SQUARE = np.array(list(itertools.product((-0.75, -0.25, 0.25, 0.75), repeat=2)))
GRID = np.array(list(itertools.product(np.linspace(-1, 1, 9), repeat=2)))


def _counts(classes: int, seed: int, scale: int = 12) -> NDArray[np.int64]:
    """Counts that lean to one class on the one side of a line, with many errors."""
    drawn = simulation(seed).below(scale, len(SQUARE) * classes).astype(np.int64)
    lean = np.outer(SQUARE.sum(axis=1), np.linspace(-1, 1, classes)) * scale
    counts: NDArray[np.int64] = drawn.reshape(-1, classes) + np.clip(lean, 0, None).astype(np.int64)
    return counts


def _rows_and_labels(cells: WeightedCells) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    times = cells.weights.astype(np.int64)
    return np.repeat(cells.features, times, axis=0), np.repeat(cells.labels, times)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_training_on_cells_equals_training_on_the_duplicates(classes: int, seed: int) -> None:
    cells = WeightedCells.from_counts(SQUARE, _counts(classes, seed))
    trained = RbfSVM.fit(cells, classes=classes, penalty=2.1)
    rows, labels = _rows_and_labels(cells)
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
    trained = RbfSVM.fit(WeightedCells.from_counts(SQUARE, counts), classes=3, penalty=1.0)
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


CORNERS = np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])


def test_rows_and_counts_of_the_same_records_give_the_same_cells() -> None:
    rows = CORNERS[[0, 0, 1, 2, 2, 2]]
    merged = WeightedCells.from_rows(rows, [0, 1, 1, 0, 0, 1])
    counted = WeightedCells.from_counts(CORNERS, [[1, 1], [0, 1], [2, 1]])
    for name in ("features", "labels", "weights"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(counted, name))
    np.testing.assert_allclose(merged.variances, rows.var(axis=0))


def test_cells_without_people_and_negative_estimates_are_left_out() -> None:
    cells = WeightedCells.from_counts(CORNERS, [[0.0, 2.5], [-1.0, 0.0], [0.5, -3.0]])
    assert cells.weights.tolist() == [2.5, 0.5]


def test_some_classes_are_numbered_by_their_place_in_the_list() -> None:
    cells = WeightedCells.from_counts(CORNERS, [[1, 2, 3], [0, 0, 4], [5, 0, 0]])
    pair = cells.only((0, 2))
    assert pair.labels.tolist() == [0, 1, 1, 0]
    assert pair.weights.tolist() == [1.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [1.0, np.nan, 1.0], [1.0, np.inf, 1.0]])
def test_weights_must_be_positive_and_finite(weights: list[float]) -> None:
    with pytest.raises(ParameterError, match="weights must be positive"):
        WeightedCells(
            features=CORNERS, labels=np.zeros(3, dtype=np.int64), weights=np.array(weights)
        )


def test_no_cell_at_all_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one point"):
        WeightedCells.from_counts(CORNERS, np.zeros((3, 2)))
