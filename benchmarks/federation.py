"""Federated margin classifiers: seconds of the strict protocols, beside the paper's and sklearn's.

Usage: python benchmarks/federation.py [--quick] [--json FILE]

Needs the data sets that SUPM_DATA names. Five parties of 10,000 records in one process; all ten
classes; 20 components. The protocols are those that a study runs, without the masks of the wire.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from tables import Goal, Row, Table, as_json, as_text
from tqdm import tqdm

from supm import secure
from supm.datasets import load_cifar10, load_mnist
from supm.federation.encoding import VectorEncoding
from supm.federation.margin import Margin
from supm.federation.pooled import run_pooled
from supm.federation.rows import Rows
from supm.federation.trust import Circle
from supm.learning.hog import HOG_FEATURES, HOG_NORM, hog_features

__all__ = ["FULL", "QUICK", "Plan", "benchmark", "main"]

Floats = NDArray[np.float64]

_PARTIES, _COMPONENTS, _CLASSES, _EPSILON, _DELTA = 5, 20, 10, 0.1, 1e-4


@dataclass(frozen=True)
class Plan:
    """How many records a party has, and how often each is measured."""

    records: int
    repeats: int


FULL = Plan(records=10_000, repeats=3)
QUICK = Plan(records=300, repeats=1)


@dataclass(frozen=True)
class Case:
    """One line of the paper's Table 3."""

    name: str
    data: str
    parties: int
    components: int | None
    loss: str
    paper: float
    goal: float


CASES = (
    Case("Fed_DPDR-DPML, softmax", "MNIST", _PARTIES, _COMPONENTS, "softmax", 113.20, 5.0),
    Case("Fed_DPDR-DPML, Huber", "MNIST", _PARTIES, _COMPONENTS, "huber", 113.20, 5.0),
    Case("Fed_DPDR-DPML, softmax", "CIFAR-10", _PARTIES, _COMPONENTS, "softmax", 150.30, 30.0),
    Case("Fed_DPDR-DPML, Huber", "CIFAR-10", _PARTIES, _COMPONENTS, "huber", 150.30, 30.0),
    Case("DPML, softmax", "MNIST", 1, None, "softmax", 7873.23, 60.0),
    Case("DPML, Huber", "MNIST", 1, None, "huber", 7873.23, 60.0),
)


def benchmark(plan: Plan, step: Callable[[str], object]) -> tuple[list[Table], list[Goal]]:
    """Measure all cases."""
    images = {"MNIST": _mnist(plan), "CIFAR-10": _cifar(plan)}
    rows: list[Row] = []
    goals: list[Goal] = []
    for case in CASES:
        step(f"{case.name}, {case.data}")
        vectors, labels = images[case.data]
        row, seconds = _measured(case, plan, vectors, labels)
        rows.append(row)
        goals.append(
            Goal(name=f"{case.name}, {case.data}: seconds", measured=seconds, limit=case.goal)
        )
    title = f"{plan.records:,} records a party, epsilon {_EPSILON}, the least of {plan.repeats}"
    return [Table(title, rows)], goals


def _measured(
    case: Case, plan: Plan, vectors: Floats, labels: NDArray[np.int64]
) -> tuple[Row, float]:
    used = case.parties * plan.records
    ours = min(_ours(case, plan, vectors, labels) for _ in range(plan.repeats))
    theirs = _sklearn(vectors[:used], labels[:used], case.components)
    row: Row = {
        "what": case.name,
        "data": case.data,
        "parties": case.parties,
        "seconds": ours,
        "paper_seconds": case.paper,
        "times_faster_than_paper": case.paper / ours,
        "sklearn_seconds_without_privacy": theirs,
        "times_sklearn": ours / theirs,
    }
    return row, ours


def _ours(case: Case, plan: Plan, vectors: Floats, labels: NDArray[np.int64]) -> float:
    """Return the seconds from vectors to the classifier: rows, noise, sums, minima."""
    encoding = VectorEncoding(width=vectors.shape[1], classes=_CLASSES)
    protocol = Margin.for_budget(
        encoding=encoding,
        epsilon=_EPSILON,
        delta=_DELTA,
        circle=Circle(parties=case.parties, colluders=0),
        components=case.components,
        loss=case.loss,  # type: ignore[arg-type]  # one of the table above
        regularisation=0.01,
    )
    start = time.perf_counter()
    tables: list[Rows] = []
    for party in range(case.parties):
        part = slice(party * plan.records, (party + 1) * plan.records)
        tables.append(encoding.rows(vectors[part], labels[part]))
    run_pooled(protocol, tables, [str(party) for party in range(case.parties)], secure())
    return time.perf_counter() - start


def _sklearn(vectors: Floats, labels: NDArray[np.int64], components: int | None) -> float:
    """Return the seconds of PCA and a linear machine on all records in one place."""
    start = time.perf_counter()
    reduced = vectors if components is None else PCA(components).fit_transform(vectors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LinearSVC(C=1 / (0.01 * len(vectors))).fit(reduced, labels)
    return time.perf_counter() - start


def _mnist(plan: Plan) -> tuple[Floats, NDArray[np.int64]]:
    arrays, used = load_mnist().arrays, _PARTIES * plan.records
    vectors = arrays["x_train"][:used].reshape(used, -1).astype(np.float64)
    return _unit(vectors), arrays["y_train"][:used].astype(np.int64)


def _cifar(plan: Plan) -> tuple[Floats, NDArray[np.int64]]:
    arrays, used = load_cifar10().arrays, _PARTIES * plan.records
    vectors = hog_features(arrays["x_train"][:used]) / HOG_NORM
    assert vectors.shape[1] == HOG_FEATURES  # noqa: S101  the case is about these
    return vectors, arrays["y_train"][:used].astype(np.int64)


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="Measure the seconds of federated classifiers beside the paper's.",
        epilog="example: python benchmarks/federation.py --json figures.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer records: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    with tqdm(total=len(CASES), leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals = benchmark(QUICK if options.quick else FULL, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
