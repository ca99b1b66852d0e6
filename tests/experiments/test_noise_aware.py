"""The quick version of experiments/noise_aware: two repetitions of five folds, wide margins."""

from __future__ import annotations

import pytest
from experiments.noise_aware.measuring import measure, measure_classes
from experiments.noise_aware.run import EPSILONS
from experiments.noise_aware.tables import TABLES, load_table

# Most that the model's error may be, as a share of the constant's (the mean of clean targets).
MOST = {
    "boston": {2.0: 1.0, 5.0: 0.68, 10.0: 0.48},
    "diabetes": {2.0: 1.06, 5.0: 0.76, 10.0: 0.64},
    "adult": {1.0: 0.94, 2.0: 0.81, 5.0: 0.77, 10.0: 0.74},
}
CELLS = [(name, epsilon, most) for name, cells in MOST.items() for epsilon, most in cells.items()]


@pytest.mark.data
@pytest.mark.parametrize(("name", "shape"), [("boston", (506, 14)), ("adult", (30162, 7))])
def test_tables_are_those_of_the_paper_within_public_bounds(
    name: str, shape: tuple[int, int]
) -> None:
    table = load_table(name)
    assert table.shape == shape
    assert table.min() >= 0
    assert table.max() <= 1


@pytest.mark.data
@pytest.mark.parametrize(("name", "epsilon", "most"), CELLS)
def test_the_model_is_well_below_the_constant(name: str, epsilon: float, most: float) -> None:
    found = measure(load_table(name), epsilon, repetitions=1 if name == "adult" else 3)
    assert found.model < most * found.constant
    assert found.held > 0.8


@pytest.mark.data
@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("epsilon", [each for each in EPSILONS if each <= 1])
def test_columns_never_cost_what_they_do_not_bring(name: str, epsilon: float) -> None:
    """What the mean costs is the same with and without columns; these may cost 2 % at most."""
    found = measure(load_table(name), epsilon, repetitions=1 if name == "adult" else 4)
    assert found.model < 1.02 * found.alone
    assert found.alone < 1.02 * max(found.noisy, found.constant)


@pytest.mark.data
@pytest.mark.parametrize(("epsilon", "least"), [(0.05, -0.005), (0.5, -0.005), (5.0, 0.04)])
def test_the_classifier_is_not_below_the_majority(epsilon: float, least: float) -> None:
    majority, model = measure_classes(load_table("adult"), epsilon, repetitions=1)
    assert model - majority >= least
