"""The six corrections to the printed algorithms, each beside what the paper's own lines do.

``printed_oda`` is Algorithm 4 of the paper as it stands, so each test shows first that the printed
version goes wrong and then that ours does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from supm._errors import ParameterError
from supm.schema import (
    Categorical,
    Continuous,
    EqualWidth,
    MergeModulo,
    MergeNeighbours,
    Ordinal,
    Schema,
    discretize,
)
from supm.schema.discretizer import CLASSES


def printed_continuous(
    x: float, low: float, width: float, classes: int
) -> tuple[float, list[float]]:
    """Lines 2 to 7: the value that stands for x, and the list of all class values."""
    first = low + width / (2 * classes)
    listed = [first + place * width / classes for place in range(classes)]
    index = math.ceil((x - low) * classes / width)
    return low + (2 * index - 1) * width / (2 * classes), listed


def printed_discrete(place: int, width: int, classes: int) -> tuple[int, range]:
    """Lines 9 to 18: the index i' of the value at ``place`` (from 1), and the indices of OD."""
    labels = width + 1 if width <= classes else classes
    return place % classes, range(1, labels + 1)


def values_of(count: int) -> tuple[int, ...]:
    return tuple(range(1, count + 1))


def test_correction_1_the_minimum_is_in_the_first_class() -> None:
    value, listed = printed_continuous(0.0, 0.0, 100.0, 4)
    assert value == -12.5
    assert value not in listed
    ours = EqualWidth(Continuous("x", low=0, high=100), classes=4)
    assert ours.encode([0.0]).tolist() == [0]
    assert ours.representatives.tolist() == listed


@pytest.mark.parametrize(("x", "place"), [(-0.1, 0), (-1e300, 0), (100.1, 3), (1e300, 3)])
def test_correction_1_a_value_beyond_a_bound_is_in_the_class_of_that_bound(
    x: float, place: int
) -> None:
    value, listed = printed_continuous(x, 0.0, 100.0, 4)
    assert value not in listed
    ours = EqualWidth(Continuous("x", low=0, high=100), classes=4)
    assert ours.encode([x]).tolist() == [place]


def test_correction_2_a_binary_target_is_read_by_its_place_and_not_by_oda() -> None:
    value, listed = printed_continuous(-1.0, -1.0, 2.0, 2)
    assert value == -1.5
    assert value not in listed
    schema = Schema(
        attributes=(Continuous("x", low=0, high=1),), target=Categorical("y", values=(-1, 1))
    )
    target = schema.read({"x": [0, 1, 0], "y": [-1, 1, -1]}).target
    assert target is not None
    assert target.tolist() == [0, 1, 0]


@pytest.mark.parametrize("kind", [Ordinal, Categorical])
def test_correction_3_of_as_many_values_as_classes_each_has_its_own(
    kind: type[Ordinal | Categorical],
) -> None:
    index, indices = printed_discrete(4, 3, 4)
    assert index == 0
    assert index not in indices
    ours = discretize(kind("a", values=values_of(4)), 4)
    assert ours.encode([1, 2, 3, 4]).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [Ordinal, Categorical])
@pytest.mark.parametrize("classes", [2, 3, 4, 7])
def test_correction_4_one_value_more_than_classes_still_fills_every_class(
    kind: type[Ordinal | Categorical], classes: int
) -> None:
    printed = {printed_discrete(place, classes, classes)[0] for place in values_of(classes + 1)}
    labels = printed_discrete(1, classes, classes)[1]
    assert len(labels) == classes + 1
    assert set(labels) - printed
    ours = discretize(kind("a", values=values_of(classes + 1)), classes)
    assert ours.size == classes
    assert set(ours.encode(list(values_of(classes + 1))).tolist()) == set(range(classes))


def runs(classes: Sequence[int]) -> bool:
    """Whether classes never fall and never leave one out."""
    return set(np.diff(classes).tolist()) <= {0, 1}


@pytest.mark.parametrize(("count", "classes"), [(6, 3), (7, 3), (10, 4), (100, 7), (5, 4), (9, 2)])
def test_correction_5_classes_of_ordered_values_are_runs_of_neighbours(
    count: int, classes: int
) -> None:
    printed = [printed_discrete(place, count - 1, classes)[0] for place in values_of(count)]
    assert not runs(printed)
    assert printed[0] == printed[classes]
    ours = MergeNeighbours(Ordinal("a", values=values_of(count)), classes=classes)
    encoded = ours.encode(list(values_of(count)))
    assert runs(encoded.tolist())
    assert encoded.tolist() == [-(-place * classes // count) - 1 for place in values_of(count)]
    sizes = np.bincount(encoded)
    assert sizes.size == classes
    assert sizes.max() - sizes.min() <= 1


def test_correction_6_ordered_classes_have_numbers_and_unordered_ones_are_one_hot() -> None:
    ordered = MergeNeighbours(Ordinal("a", values=values_of(9)), classes=3)
    assert ordered.representatives.tolist() == [-1.0, 0.0, 1.0]
    unordered = MergeModulo(Categorical("a", values=("north", "east", "south")), classes=3)
    assert unordered.representatives is None
    assert unordered.one_hot(np.array([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("classes", CLASSES.violations())
def test_a_number_of_classes_outside_its_bounds_is_refused(classes: object) -> None:
    attributes = (
        Continuous("a", low=0, high=1),
        Ordinal("b", values=(1, 2)),
        Categorical("c", values=(1, 2)),
    )
    for attribute in attributes:
        with pytest.raises(ParameterError, match="classes must be a whole number"):
            discretize(attribute, classes)  # type: ignore[arg-type]


def test_the_kind_of_attribute_decides_the_discretizer() -> None:
    schema = Schema(
        attributes=(
            Continuous("a", low=0, high=1),
            Ordinal("b", values=(1, 2, 3)),
            Categorical("c", values=(1, 2)),
        ),
        target=Categorical("y", values=(0, 1)),
    )
    kinds = [type(each) for each in schema.discretize(3)]
    assert kinds == [EqualWidth, MergeNeighbours, MergeModulo]
    assert [each.size for each in schema.discretize(3)] == [3, 3, 2]
