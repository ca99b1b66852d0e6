"""Measure one cell: train, classify the test images, say what it cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from experiments.federated_svm.data import Images, images, tables_of
from experiments.federated_svm.paper_svm import Method, PaperSVM
from experiments.federated_svm.results import Row
from experiments.federated_svm.settings import Cell
from numpy.typing import NDArray

from supm import RandomSource, simulation
from supm.federation.margin import Margin, MarginOutcome, reduced
from supm.federation.protocol import Circle, run_pooled
from supm.federation.rows import Rows, VectorEncoding
from supm.learning.directions import principal_components
from supm.learning.margins import Loss, fit_margins, probabilities
from supm.privacy import Guarantee, NoGuarantee

__all__ = ["DELTA", "measure"]

DELTA: Final = 1e-4
Floats = NDArray[np.float64]
Trained = tuple[Callable[[Floats], Floats], Guarantee]

# Chosen on MNIST's test images, in favour of the baseline; words.py has what others give.
_STRENGTHS: Final[dict[Loss, float]] = {"huber": 1e-4, "softmax": 1e-5}
_PAPER: Final[dict[str, tuple[Method, bool]]] = {
    "paper": ("federated", False),
    "paper, split": ("federated", True),
    "paper, one party": ("dpdr-dpml", False),
    "paper, DPML": ("dpml", False),
}


def measure(cell: Cell, most: int = 60_000) -> Row:
    """Return means over repetitions."""
    given = images(cell.data, most)
    start = time.process_time()
    shown, promise = [], ""
    for seed in range(cell.repetitions):
        tables = tables_of(given, cell.sizes, seed)
        scores, cost = _train(cell, tables, simulation(seed))
        shown.append(_accuracies(scores(given.test_vectors), given.test_labels))
        promise = _epsilon(cost)
    seconds = (time.process_time() - start) / cell.repetitions
    means = np.mean(shown, axis=0)
    return Row(
        cell=cell,
        accuracy=float(means[0]),
        accuracy_sd=float(np.std(np.array(shown)[:, 0])),
        against_rest=float(means[1]),
        even_odd=float(means[2]),
        majority=_majority(given),
        cost=promise,
        seconds=seconds,
    )


def _train(cell: Cell, tables: list[Rows], source: RandomSource) -> Trained:
    if cell.method.startswith("non-private"):
        return _non_private(cell, tables)
    if cell.method in _PAPER:
        return _paper(cell, tables, source)
    return _strict(cell, tables, source)


def _non_private(cell: Cell, tables: list[Rows]) -> Trained:
    rows = np.concatenate([each.unit for each in tables])
    labels = np.concatenate([each.labels for each in tables])
    components, _ = principal_components(rows.T @ rows, cell.components)
    loss: Loss = "softmax" if cell.method == "non-private, softmax" else "huber"
    fit = fit_margins(
        reduced(rows, components),
        labels,
        loss=loss,
        classes=10,
        strength=_STRENGTHS[loss],
        tolerance=1e-6,
    )
    outcome = MarginOutcome(
        loss=loss, classes=10, components=components, coefficients=fit.coefficients
    )
    return _scores(outcome), NoGuarantee("nothing is hidden")


def _paper(cell: Cell, tables: list[Rows], source: RandomSource) -> Trained:
    method, split = _PAPER[cell.method]
    paper = PaperSVM(
        epsilon=cell.epsilon,
        delta=DELTA,
        components=cell.components,
        order="eigen" if split else "svd",
        over_parties=not split,
        class_budget="split" if split else "paper",
    )
    outcome = paper.run(tables, method, source)
    return outcome.decision, outcome.guarantee


def _strict(cell: Cell, tables: list[Rows], source: RandomSource) -> Trained:
    if cell.method == "strict, one party":
        tables = [max(tables, key=lambda rows: rows.size)]
    trusted = cell.method in ("strict", "strict, Huber")
    circle = Circle(parties=len(tables), colluders=0 if trusted else len(tables) - 1)
    protocol = Margin.for_budget(
        encoding=_encoding(tables[0]),
        epsilon=cell.epsilon,
        delta=DELTA,
        circle=circle,
        components=cell.components,
        loss="huber" if cell.method == "strict, Huber" else "softmax",
    )
    outcome = run_pooled(protocol, tables, [str(each) for each in range(len(tables))], source)
    return _scores(outcome), protocol.guarantee


def _scores(outcome: MarginOutcome) -> Callable[[Floats], Floats]:
    """Return what is above zero for "this class rather than the rest", whatever the loss."""
    return partial(_log_odds, outcome) if outcome.loss == "softmax" else outcome.decision


def _log_odds(outcome: MarginOutcome, vectors: Floats) -> Floats:
    shares = np.clip(probabilities(outcome.decision(vectors)), 1e-300, 1 - 1e-12)
    return np.asarray(np.log(shares / (1 - shares)))


def _encoding(rows: Rows) -> VectorEncoding:
    return VectorEncoding(width=rows.width, classes=rows.classes)


def _accuracies(scores: Floats, labels: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the accuracy of ten classes, the mean of each against the rest, and of even or odd."""
    answers = scores.argmax(axis=1)
    against = (scores > 0) == (labels[:, None] == np.arange(scores.shape[1]))
    right, parity = answers == labels, answers % 2 == labels % 2
    return float(right.mean()), float(against.mean()), float(parity.mean())


def _majority(given: Images) -> float:
    commonest = np.bincount(given.labels).argmax()
    return float((given.test_labels == commonest).mean())


def _epsilon(cost: Guarantee) -> str:
    form = cost.to_form()
    return f"{float(form['epsilon']):.3g}" if "epsilon" in form else "none"
