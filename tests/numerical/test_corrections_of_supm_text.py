"""Corrections 10, 11, 13 and 14 of docs/errata.md: examples, formulas, data and figures.

As in tests/numerical/test_corrections_of_supm.py, what a paper prints stands as a function whose
name begins with ``printed``, and one assertion is put to both versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm.collection import cross_validate, plan
from supm.datasets import Dataset, load_musk2, load_wdbc
from supm.learning import RadialSVM, RbfSVM, WeightedCells, folds
from supm.messages import Trust
from supm.schema import Categorical

DIRECTIONS = ("north", "east", "south", "west")


def printed_dto_example() -> tuple[str, int]:
    """001, section 3.2: given west and the four directions, DTO returns 2."""
    return "west", 2


def assert_label_is_the_place(value: str, label: int) -> None:
    assert DIRECTIONS[label - 1] == value, "the label is that of another value"


def test_10_west_is_the_fourth_direction() -> None:
    value, label = printed_dto_example()
    assert DIRECTIONS[label - 1] == "east"
    with pytest.raises(AssertionError, match="another value"):
        assert_label_is_the_place(value, label)
    places = Categorical("direction", values=DIRECTIONS).read(list(DIRECTIONS)) + 1
    for direction, place in zip(DIRECTIONS, places.tolist(), strict=True):
        assert_label_is_the_place(direction, place)


def printed_gamma(cells: WeightedCells) -> float:
    """001, section 2.1, as the usual order of operations reads it: 1 / (m - 1 x Var)."""
    attributes_and_target = cells.features.shape[1] + 1
    return float(1 / (attributes_and_target - 1 * cells.variances.max()))


def our_gamma(cells: WeightedCells) -> float:
    return RbfSVM.fit(cells, classes=2, penalty=2.1).gamma


def squares(unit: float) -> WeightedCells:
    places = unit * np.array([[-1.0, 0.0], [1.0, 0.5], [-1.0, 1.0], [1.0, 0.0]])
    return WeightedCells.from_counts(places, [[3, 1], [1, 3], [4, 2], [0, 5]])


def assert_unit_does_not_matter(gamma: float, gamma_in_other_unit: float, unit: float) -> None:
    assert gamma > 0, "no kernel"
    assert gamma_in_other_unit * unit**2 == pytest.approx(gamma), "the unit changes the kernel"


def test_11_gamma_divides_by_the_number_of_attributes_times_the_variance() -> None:
    printed, in_other_unit = printed_gamma(squares(1.0)), printed_gamma(squares(10.0))
    assert in_other_unit < 0, "a variance above m makes the width negative"
    with pytest.raises(AssertionError, match="the unit changes"):
        assert_unit_does_not_matter(printed, in_other_unit, 10.0)
    assert_unit_does_not_matter(our_gamma(squares(1.0)), our_gamma(squares(10.0)), 10.0)
    assert our_gamma(squares(1.0)) == pytest.approx(1 / (2 * squares(1.0).variances.max()))


def printed_musk(data: Dataset) -> dict[str, NDArray[Any]]:
    """000, section 4.4: 168 attributes, which is every column of the file but the class."""
    molecules = np.asarray(data.groups)
    numbers = np.arange(data.rows).astype(str)
    names = {"molecule_name": molecules, "conformation_name": np.char.add(molecules, numbers)}
    return names | our_musk(data)


def our_musk(data: Dataset) -> dict[str, NDArray[Any]]:
    return {name: data.columns[name] for name in data.schema.names}


def assert_no_attribute_gives_the_class(
    attributes: Mapping[str, NDArray[Any]], target: NDArray[Any]
) -> None:
    for name, column in attributes.items():
        values = np.unique(column, return_inverse=True)[1]
        pairs = np.unique(2 * values + target).size
        assert pairs > values.max() + 1, f"each value of {name} has one class only"


@pytest.mark.data
def test_13_musk_has_166_attributes_and_no_names() -> None:
    data = load_musk2()
    assert len(printed_musk(data)) == 168
    with pytest.raises(AssertionError, match="molecule_name has one class only"):
        assert_no_attribute_gives_the_class(printed_musk(data), data.target)
    assert_no_attribute_gives_the_class(our_musk(data), data.target)
    assert len(our_musk(data)) == 166


PRINTED_DIFFERENCE = 0.0357
# Eight repetitions tell a mean to about one point.
REPEATS, SPREAD = 8, 0.015
Pair = tuple[str, str]


def accuracies(epsilon: float) -> dict[Pair, float]:
    """WDBC, DR.Rand, (K, L) = (5, 2): mean accuracy by what left in training and in testing."""
    data, found = load_wdbc(), dict[Pair, float]()
    for train, trust in (("ODA", Trust(train="trusted")), ("ODP", Trust())):
        study = plan(data.schema, epsilon=epsilon, mode="faithful", trust=trust, keep=5, classes=2)
        trials = [
            cross_validate(
                study,
                data.records(),
                folds(data.rows, 10, simulation(seed), equal=True),
                simulation(seed),
                learner=RadialSVM(penalty=2.1),
            )
            for seed in range(REPEATS)
        ]
        found[train, "ODP"] = float(np.mean([trial.answered.headline for trial in trials]))
        found[train, "ODA"] = float(np.mean([trial.on_device.headline for trial in trials]))
    return found


def printed_difference_of_000(found: Mapping[Pair, float]) -> float:
    """Section 4.2.4: (ODA, ODA) and (ODP, ODA), which is what noise in training costs."""
    return found["ODA", "ODA"] - found["ODP", "ODA"]


def printed_difference_of_001(found: Mapping[Pair, float]) -> float:
    """Section 4.2.4: (WA, WA) and (WA, WALDP), which is what noise in testing costs."""
    return found["ODA", "ODA"] - found["ODA", "ODP"]


def assert_at_most_as_printed(difference: float) -> None:
    assert difference <= PRINTED_DIFFERENCE + SPREAD, "more than the largest difference"


def test_14_the_largest_difference_is_that_of_noise_in_training() -> None:
    found = accuracies(epsilon=10.0)
    assert_at_most_as_printed(printed_difference_of_000(found))
    with pytest.raises(AssertionError, match="more than the largest"):
        assert_at_most_as_printed(printed_difference_of_001(found))
    assert printed_difference_of_001(found) > 3 * PRINTED_DIFFERENCE
