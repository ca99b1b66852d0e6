"""Federated margin classifiers: seconds of the strict protocols, beside the paper's and sklearn's.

Usage: python benchmarks/federation.py [--quick] [--json FILE]

Needs the data sets that SUPM_DATA names. Five parties of 10,000 records in one process; all ten
classes; 20 components; everything that a study runs, messages and masks among it, from pixels to
the classifier.
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
from statistics import median

import numpy as np
from numpy.typing import NDArray
from skimage.feature import hog
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from tables import Goal, Row, Table, as_json, as_text
from tqdm import tqdm

from supm.datasets import load_cifar10, load_mnist
from supm.estimators import federate
from supm.federation.margin import Margin
from supm.federation.protocol import Circle
from supm.federation.rows import VectorEncoding

__all__ = ["FULL", "QUICK", "Plan", "benchmark", "main"]

Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

_PARTIES, _COMPONENTS, _CLASSES, _EPSILON, _DELTA = 5, 20, 10, 1.0, 1e-4
_REGULARISATION = 3e-4


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


def benchmark(
    plan: Plan, step: Callable[[str], object], cases: Sequence[Case] = CASES
) -> tuple[list[Table], list[Goal]]:
    """Measure all cases."""
    images = {name: _images(name, plan) for name in {case.data for case in cases}}
    rows: list[Row] = []
    goals: list[Goal] = []
    for case in cases:
        step(f"{case.name}, {case.data}")
        row, seconds = _measured(case, plan, *images[case.data])
        rows.append(row)
        goals.append(
            Goal(name=f"{case.name}, {case.data}: seconds", measured=seconds, limit=case.goal)
        )
    title = f"{plan.records:,} records a party, epsilon {_EPSILON:g}, the median of {plan.repeats}"
    return [Table(title, rows)], goals


def _measured(
    case: Case, plan: Plan, pixels: NDArray[np.uint8], labels: Whole
) -> tuple[Row, float]:
    used = case.parties * plan.records
    ours = median(_ours(case, pixels[:used], labels[:used]) for _ in range(plan.repeats))
    theirs = _sklearn(case, pixels[:used], labels[:used])
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


def _ours(case: Case, pixels: NDArray[np.uint8], labels: Whole) -> float:
    """Return the seconds from pixels to the classifier: vectors, noise, masks, sums, minima."""
    start = time.perf_counter()
    vectors = _VECTORS[case.data](pixels)
    protocol = Margin.for_budget(
        encoding=VectorEncoding(width=vectors.shape[1], classes=_CLASSES),
        epsilon=_EPSILON,
        delta=_DELTA,
        circle=Circle(parties=case.parties, colluders=0),
        components=case.components,
        loss=case.loss,  # type: ignore[arg-type]  # one of the table above
        regularisation=_REGULARISATION,
    )
    parts = zip(*(np.array_split(each, case.parties) for each in (vectors, labels)), strict=True)
    federate(list(parts), protocol)
    return time.perf_counter() - start


def _sklearn(case: Case, pixels: NDArray[np.uint8], labels: Whole) -> float:
    """Return the seconds of PCA and a linear machine on all records in one place."""
    start = time.perf_counter()
    vectors, count = _VECTORS[case.data](pixels), case.components
    reduced = vectors if count is None else PCA(count).fit_transform(vectors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LinearSVC(C=1 / (_REGULARISATION * len(vectors))).fit(reduced, labels)
    return time.perf_counter() - start


def _images(name: str, plan: Plan) -> tuple[NDArray[np.uint8], Whole]:
    arrays, used = _LOADERS[name]().arrays, _PARTIES * plan.records
    return arrays["x_train"][:used], arrays["y_train"][:used].astype(np.int64)


def _unit(pixels: NDArray[np.uint8]) -> Floats:
    vectors = pixels.reshape(len(pixels), -1).astype(np.float64)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _oriented(pixels: NDArray[np.uint8]) -> Floats:
    """Describe images by histograms of oriented gradients, of norm 7 at most."""
    shape = {"orientations": 9, "pixels_per_cell": (4, 4), "cells_per_block": (2, 2)}
    return np.array([hog(image, channel_axis=2, **shape) for image in pixels]) / 7.0


_LOADERS = {"MNIST": load_mnist, "CIFAR-10": load_cifar10}
_VECTORS = {"MNIST": _unit, "CIFAR-10": _oriented}


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
