"""The paper's own algorithms, with their switches and what they really cost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from experiments.federated_svm.paper_svm import Method, PaperSVM
from numpy.typing import NDArray
from scipy.special import ndtri

from supm import simulation
from supm._errors import ParameterError
from supm.federation.rows import Rows, grid_rows
from supm.privacy import ApproximateDP, NoGuarantee, PureDP

Floats = NDArray[np.float64]
WIDTH, CLASSES = 8, 3


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


def table(seed: int, size: int) -> Rows:
    labels = simulation(seed).below(CLASSES, size).astype(np.int64)
    vectors = (2 * np.eye(WIDTH) - 0.6)[labels] + 0.2 * normals(seed + 50, size, WIDTH)
    return grid_rows(vectors, labels, classes=CLASSES)


def accuracy(method: Method, tables: list[Rows], **switches: object) -> float:
    usual = {"epsilon": 20.0, "delta": 1e-4, "components": 3}
    outcome = PaperSVM(**usual | switches).run(tables, method, simulation(1))  # type: ignore[arg-type]
    test = table(9, 500)
    return float((outcome.predict(test.unit) == test.labels).mean())


@pytest.mark.parametrize("method", ["non-private", "dpml", "dpdr-dpml", "federated"])
def test_every_method_learns_where_the_budget_is_large(method: Method) -> None:
    tables = [table(seed, 2000) for seed in (1, 2, 3)]
    assert accuracy(method, tables, over_parties=False, order="eigen") > 0.9


def test_the_costs_are_told_as_they_are() -> None:
    rows = [table(1, 500)]
    paper = PaperSVM(epsilon=0.1, delta=1e-4, components=2)
    split = PaperSVM(epsilon=0.1, delta=1e-4, components=2, class_budget="split")
    assert isinstance(paper.run(rows, "non-private", simulation(1)).guarantee, NoGuarantee)
    whole = paper.run(rows, "dpml", simulation(1)).guarantee
    assert isinstance(whole, PureDP)
    assert whole.epsilon == pytest.approx(CLASSES * 0.1)
    honest = split.run(rows, "dpdr-dpml", simulation(1)).guarantee
    dear = paper.run(rows, "dpdr-dpml", simulation(1)).guarantee
    assert isinstance(honest, ApproximateDP)
    assert isinstance(dear, ApproximateDP)
    # The classical noise is loose at a small epsilon: it covers replacing a record, too.
    assert honest.epsilon <= 0.1
    assert dear.epsilon - honest.epsilon == pytest.approx((CLASSES - 1) * 0.05)


def test_at_two_the_classical_noise_does_not_cover_replacing_a_record() -> None:
    paper = PaperSVM(epsilon=2.0, delta=1e-4, components=2, class_budget="split")
    promise = paper.run([table(1, 500)], "dpdr-dpml", simulation(1)).guarantee
    assert isinstance(promise, ApproximateDP)
    assert promise.epsilon == pytest.approx(1.042 + 1.0, abs=0.001)


@pytest.mark.parametrize(
    ("size", "epsilon", "left", "extra"),
    [(10_000, 0.05, 0.0301, 0.0), (5000, 0.05, 0.0104, 0.0), (1000, 0.05, 0.025, 0.0695)],
)
def test_the_rate_is_that_of_chaudhuri(
    size: int, epsilon: float, left: float, extra: float
) -> None:
    rate, added = PaperSVM(epsilon=1.0, delta=1e-4)._rate(size, epsilon)
    assert rate == pytest.approx(left, abs=5e-5)
    assert added == pytest.approx(extra, abs=5e-5)


def test_singular_values_also_take_strongly_negative_directions() -> None:
    rows = table(1, 50)
    orders = {}
    for order in ("svd", "eigen"):
        paper = PaperSVM(epsilon=0.01, delta=1e-4, components=2, order=order)
        orders[order] = paper._top(rows, simulation(4), noisy=True)
    assert not np.allclose(np.abs(orders["svd"]), np.abs(orders["eigen"]))
    exact = [
        PaperSVM(epsilon=0.5, delta=1e-4, components=2, order=order)._top(
            rows, simulation(3), noisy=False
        )
        for order in ("svd", "eigen")
    ]
    np.testing.assert_allclose(np.abs(exact[0].T @ exact[1]), np.eye(2), atol=1e-6)


def test_the_needless_division_shrinks_everything_and_keeps_signs() -> None:
    tables = [table(seed, 400) for seed in (1, 1)]
    shrunk = PaperSVM(epsilon=20.0, delta=1e-4, components=3)
    plain = PaperSVM(epsilon=20.0, delta=1e-4, components=3, over_parties=False)
    small = shrunk.run(tables, "federated", simulation(1)).projection
    large = plain.run(tables, "federated", simulation(1)).projection
    assert small is not None
    assert large is not None
    np.testing.assert_allclose(2 * small, large)
    assert math.isclose(shrunk._sigma, plain._sigma)


@pytest.mark.parametrize(
    "wrong", [{"order": "x"}, {"class_budget": "x"}, {"components": 0}, {"epsilon": -1.0}]
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        PaperSVM(**{"epsilon": 1.0, "delta": 1e-4} | wrong)  # type: ignore[arg-type]


def test_methods_that_are_not_in_the_paper_are_refused() -> None:
    with pytest.raises(ParameterError, match="method must be one of"):
        PaperSVM(epsilon=1.0, delta=1e-4).run([table(1, 5)], "sgd", simulation(1))  # type: ignore[arg-type]
