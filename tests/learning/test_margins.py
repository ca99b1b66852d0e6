"""The minimum is really reached, by either way of solving, and is the right one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import check_grad, minimize
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression

from supm import simulation
from supm._errors import ParameterError, PromiseError
from supm.learning import _margin_solver, margins
from supm.learning._margin_solver import Objective
from supm.learning.margins import LOSSES, Loss, fit_margins, outputs_of, probabilities, winners

Floats = NDArray[np.float64]


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


def data(size: int, width: int, classes: int) -> tuple[Floats, NDArray[np.int64]]:
    centres = normals(1, classes, width)
    labels = simulation(2).below(classes, size).astype(np.int64)
    rows = centres[labels] + 2 * normals(3, size, width)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


def objective(loss: Loss, size: int = 300, width: int = 4, classes: int = 3) -> Objective:
    classes = 2 if loss == "logistic" else classes
    rows, labels = data(size, width, classes)
    outputs = outputs_of(loss, classes)
    tilt = 5 * normals(4, outputs, width)
    return Objective(rows, margins._loss(loss, labels, outputs), 0.05, tilt)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_the_derivatives_of_values(loss: Loss) -> None:
    problem = objective(loss)
    shape = problem.tilt.shape

    def value(flat: Floats) -> float:
        point = flat.reshape(shape)
        return float(problem.values(point, problem.rows @ point.T).sum())

    def slope(flat: Floats) -> Floats:
        return problem.at(flat.reshape(shape)).gradient.ravel()

    for seed in (5, 6):
        assert check_grad(value, slope, normals(seed, problem.tilt.size)) < 1e-5


@pytest.mark.parametrize("loss", LOSSES)
def test_both_ways_of_solving_a_step_agree(loss: Loss) -> None:
    problem = objective(loss)
    point = problem.at(0.3 * normals(7, *problem.tilt.shape))
    weights = problem.loss.weights(point.scores)
    exact = problem._by_cholesky(weights, -point.gradient)
    product = problem._product(weights, exact)
    np.testing.assert_allclose(product, -point.gradient, atol=1e-12)
    near = problem._by_conjugate_gradients(weights, -point.gradient)
    assert np.linalg.norm(near - exact) < 0.05 * np.linalg.norm(exact)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_minimum_is_that_of_another_solver(loss: Loss) -> None:
    problem = objective(loss)
    shape = problem.tilt.shape
    found = minimize(
        lambda flat: float(problem.at(flat.reshape(shape)).values.sum()),
        np.zeros(problem.tilt.size),
        jac=lambda flat: problem.at(flat.reshape(shape)).gradient.ravel(),
        options={"gtol": 1e-8},
    )
    classes = 2 if loss == "logistic" else 3
    rows, labels = data(300, 4, classes)
    ours = fit_margins(rows, labels, loss=loss, classes=classes, strength=0.05, tilt=problem.tilt)
    np.testing.assert_allclose(ours.coefficients.ravel(), found.x, atol=1e-5)
    assert ours.gradient_norm <= 1e-10
    assert ours.gradient_norm == problem.at(ours.coefficients).norm


def test_softmax_is_multinomial_regression() -> None:
    rows, labels = data(400, 5, 4)
    theirs = LogisticRegression(C=1 / (400 * 0.01), fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs.fit(rows, labels)
    ours = fit_margins(rows, labels, loss="softmax", classes=4, strength=0.01)
    np.testing.assert_allclose(ours.coefficients, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(
        probabilities(rows @ ours.coefficients.T), theirs.predict_proba(rows), atol=1e-5
    )


@pytest.mark.parametrize(
    ("loss", "width", "tilt", "strength"),
    [*itertools.product(("huber", "softmax"), (20, 60), (0.0, 30.0), (1e-2, 1e-4))],
)
def test_large_problems_reach_the_required_gradient(
    loss: Loss, width: int, tilt: float, strength: float
) -> None:
    rows, labels = data(2000, width, 10)
    noise = tilt * normals(8, 10, width)
    fit = fit_margins(rows, labels, loss=loss, classes=10, strength=strength, tilt=noise)
    assert fit.gradient_norm <= 1e-10
    assert fit.steps < 60


def test_products_reach_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_margin_solver, "_DENSE", 0)
    rows, labels = data(1000, 20, 5)
    for loss in ("huber", "softmax"):
        fit = fit_margins(rows, labels, loss=loss, classes=5, strength=1e-3)
        assert fit.gradient_norm <= 1e-10


def test_no_minimum_is_returned_that_was_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_margin_solver, "_STEPS", 1)
    rows, labels = data(100, 3, 2)
    with pytest.raises(PromiseError, match="nothing is returned"):
        fit_margins(rows, labels, loss="logistic", classes=2, strength=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_record_and_classes_without_records_are_fine(loss: Loss) -> None:
    classes = 2 if loss == "logistic" else 5
    labels = np.array([1])
    fit = fit_margins(np.array([[0.6, 0.8]]), labels, loss=loss, classes=classes, strength=0.1)
    assert winners(np.array([[0.6, 0.8]]) @ fit.coefficients.T).tolist() == [1]


def test_what_does_not_fit_is_refused() -> None:
    rows, labels = data(10, 3, 3)
    with pytest.raises(ParameterError, match="tilt must be of shape"):
        fit_margins(rows, labels, loss="huber", classes=3, strength=1.0, tilt=np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="2 for the logistic loss"):
        outputs_of("logistic", 3)
    with pytest.raises(ParameterError, match="one of huber, logistic, softmax"):
        outputs_of("hinge", 3)  # type: ignore[arg-type]
