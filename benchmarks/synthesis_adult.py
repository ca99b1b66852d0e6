"""A mixed table: what a classifier learns from synthetic rows of noised records, on Adult.

Usage: python benchmarks/synthesis_adult.py [--quick] [--json FILE]

Needs the data set that SUPM_DATA names. All 14 attributes and the income of the 32,561 training
records are noised, classes by randomized response and numbers by Laplace, with equal shares of a
budget for the whole record; "clean" and "synthetic" classifiers are judged on the clean test
records by balanced accuracy.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier
from tables import Goal, Row, Table, as_json, as_text

from supm import simulation
from supm.datasets import Dataset, load_adult
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
from supm.schema import Attribute, Continuous, Ordinal
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn, learn_model

__all__ = ["FULL", "LEARNERS", "QUICK", "Plan", "adult_table", "archive_schema", "benchmark"]

Columns = Mapping[str, NDArray[Any]]
_NONE = "(none)"
_BUDGET = 40.0


@dataclass(frozen=True)
class Plan:
    """Which learners, how many archives, and how many synthetic rows of each."""

    learners: tuple[str, ...]
    seeds: tuple[int, ...]
    rows: int


FULL = Plan(learners=("logistic", "boosting", "tree"), seeds=(1, 2, 3), rows=100_000)
QUICK = Plan(learners=("logistic",), seeds=(1,), rows=30_000)

LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(class_weight="balanced", max_iter=500),
    "boosting": lambda: HistGradientBoostingClassifier(
        class_weight="balanced", max_iter=60, random_state=0
    ),
    "tree": lambda: DecisionTreeClassifier(
        class_weight="balanced", min_samples_leaf=500, random_state=0
    ),
}


def archive_schema(adult: Dataset, budget: float) -> ArchiveSchema:
    """Describe how each cell is noised, with equal shares of a budget for the whole record."""
    attributes = (*adult.schema.attributes, adult.schema.target)
    share = budget / len(attributes)
    columns = tuple(_column(each, share) for each in attributes)
    return ArchiveSchema(columns=columns, target=adult.schema.target.name)


def _column(attribute: Attribute, epsilon: float) -> NumberColumn | ClassColumn:
    if isinstance(attribute, Continuous):
        law = ContinuousLaplace.for_epsilon(low=attribute.low, high=attribute.high, epsilon=epsilon)
        return NumberColumn(attribute.name, law)
    values = attribute.values + ((_NONE,) if attribute.missing == "class" else ())
    response = GeneralizedRandomizedResponse.for_epsilon(size=len(values), epsilon=epsilon)
    return ClassColumn(attribute.name, values, response, isinstance(attribute, Ordinal))


def adult_table(adult: Dataset, part: str) -> dict[str, NDArray[Any]]:
    """Return the training or the test records, a missing value being a class of its own."""
    chosen = adult.split == part
    return {name: _filled(column[chosen]) for name, column in adult.columns.items()}


def _filled(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind != "O":
        return column
    return np.array([_NONE if cell is None else cell for cell in column], dtype=object)


def features(
    table: Columns, schema: ArchiveSchema
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return numbers and places of ordered classes in [0, 1], indicators of others, and labels."""
    parts = [
        _encoded(each, table[each.name]) for each in schema.columns if each.name != schema.target
    ]
    return np.hstack(parts), np.asarray(table[str(schema.target)] == ">50K")


def _encoded(column: NumberColumn | ClassColumn, cells: NDArray[Any]) -> NDArray[np.float64]:
    if isinstance(column, NumberColumn):
        unit = (cells.astype(float) - column.mechanism.low) / column.mechanism.span
        return np.asarray(np.clip(unit, 0.0, 1.0)[:, np.newaxis])
    place = {value: index for index, value in enumerate(column.values)}
    codes = np.array([place[cell] for cell in cells.tolist()])
    if column.ordered:
        return np.asarray(codes[:, np.newaxis] / (len(column.values) - 1))
    return np.asarray(np.eye(len(column.values))[codes])


def benchmark(plan: Plan, budget: float = _BUDGET) -> tuple[list[Table], list[Goal]]:
    """Train on clean and on synthetic rows, and compare on the clean test records."""
    adult = load_adult()
    schema = archive_schema(adult, budget)
    train = adult_table(adult, "train")
    test = features(adult_table(adult, "test"), schema)
    clean = {name: _balanced(name, features(train, schema), test) for name in plan.learners}
    synthetic: dict[str, list[float]] = {name: [] for name in plan.learners}
    for seed in plan.seeds:
        model = learn_model(Archive.noised(train, schema, simulation(seed)))
        rows = features(model.sample(plan.rows, simulation(1000 + seed)), schema)
        for name in plan.learners:
            synthetic[name].append(_balanced(name, rows, test))
    title = (
        f"Adult, 14 attributes and income, epsilon {schema.epsilon:.4g} for each record in total"
    )
    table = Table(title, [_row(name, clean[name], synthetic[name]) for name in plan.learners])
    gaps = {name: 100 * (clean[name] - min(synthetic[name])) for name in plan.learners}
    goal = Goal(
        name="logistic regression: points of balanced accuracy lost, worst archive",
        measured=gaps["logistic"],
        limit=3.0,
    )
    return [table], [goal]


def _balanced(
    name: str,
    train: tuple[NDArray[np.float64], NDArray[np.bool_]],
    test: tuple[NDArray[np.float64], NDArray[np.bool_]],
) -> float:
    guessed = LEARNERS[name]().fit(*train).predict(test[0])
    return float(balanced_accuracy_score(test[1], guessed))


def _row(name: str, clean: float, synthetic: Sequence[float]) -> Row:
    return {
        "learner": name,
        "clean": clean,
        "synthetic_mean": float(np.mean(synthetic)),
        "synthetic_worst": min(synthetic),
        "points_lost_mean": 100 * (clean - float(np.mean(synthetic))),
        "points_lost_worst": 100 * (clean - min(synthetic)),
        "majority": 0.5,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="Train classifiers on synthetic rows of a noised Adult archive.",
        epilog="example: python benchmarks/synthesis_adult.py --quick",
    )
    parser.add_argument("--quick", action="store_true", help="one learner and one archive")
    parser.add_argument("--budget", type=float, default=_BUDGET, help="epsilon of a whole record")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    tables, goals = benchmark(QUICK if options.quick else FULL, options.budget)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
