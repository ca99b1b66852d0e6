"""Merged classes: a published list of groups, of which missing values are in one too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import RecordError, SchemaError
from supm.schema import Categorical, Continuous, Ordinal, Regrouped, discretize

AGE = discretize(Continuous("age", low=0, high=100, missing="class"), 4)
WARD = discretize(Categorical("ward", values=("north", "east", "south")), 3)
STAGE = discretize(Ordinal("stage", values=("I", "II", "III")), 2)


def test_a_value_is_in_the_group_of_its_class() -> None:
    merged = Regrouped(AGE, groups=(0, 1, 2, 0, 1))
    assert merged.encode([10, 30, 60, 99, None]).tolist() == [0, 1, 2, 0, 1]
    assert merged.encode([10, 30]).dtype == np.int64
    assert Regrouped(WARD, groups=(1, 0, 1)).encode(["north", "east", "south"]).tolist() == [
        1,
        0,
        1,
    ]


def test_missing_values_have_no_group_of_their_own_unless_one_is_listed() -> None:
    assert Regrouped(AGE, groups=(0, 0, 1, 1, 1)).size == 2
    assert Regrouped(AGE, groups=(0, 0, 1, 1, 2)).size == 3
    assert Regrouped(AGE, groups=(0, 0, 1, 1, 1)).labels == ("[0, 50]", "(50, 100] or missing")


def test_only_neighbouring_ranges_are_joined() -> None:
    apart = Regrouped(AGE, groups=(0, 1, 0, 0, 1))
    assert apart.labels == ("[0, 25] or (50, 100]", "(25, 50] or missing")
    again = Regrouped(Regrouped(AGE, groups=(0, 1, 2, 2, 2)), groups=(1, 0, 0))
    assert again.labels == ("(25, 100] or missing", "[0, 25]")
    assert Regrouped(WARD, groups=(0, 0, 1)).labels == ("north or east", "south")


def test_groups_have_no_numbers_and_are_one_hot() -> None:
    merged = Regrouped(STAGE, groups=(1, 0))
    assert merged.representatives is None
    assert merged.attribute is STAGE.attribute
    assert merged.one_hot(merged.encode(["III", "I"])).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(RecordError, match="stage: classes must be whole numbers"):
        merged.one_hot(np.array([2]))


def test_equal_lists_make_equal_discretizers() -> None:
    assert Regrouped(AGE, groups=(0, 0, 1, 1, 1)) == Regrouped(AGE, groups=(0, 0, 1, 1, 1))
    assert hash(Regrouped(WARD, groups=(0, 1, 1))) == hash(Regrouped(WARD, groups=(0, 1, 1)))
    assert Regrouped(WARD, groups=(0, 1, 1)) != Regrouped(WARD, groups=(0, 0, 1))


def test_groups_can_be_merged_again() -> None:
    once = Regrouped(AGE, groups=(0, 1, 2, 0, 1))
    assert Regrouped(once, groups=(0, 1, 1)).encode([10, 30, 60, 99, None]).tolist() == [
        0, 1, 1, 0, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((), "a whole number for each of the 3 classes"),
        ((0, 1), "a whole number for each of the 3 classes"),
        ((0, 1, 0, 1), "a whole number for each of the 3 classes"),
        ((0, True, 0), "a whole number for each of the 3 classes"),
        ((0, 1.0, 0), "a whole number for each of the 3 classes"),
        ((0, "1", 0), "a whole number for each of the 3 classes"),
        ((0, 0, 0), "numbered from 0, at least two"),
        ((1, 1, 2), "numbered from 0, at least two"),
        ((0, 2, 0), "numbered from 0, at least two"),
        ((0, -1, 1), "numbered from 0, at least two"),
        ((0, 1, 10**400), "numbered from 0, at least two"),
        ((0, 1, 1 << 62), "numbered from 0, at least two"),
    ],
)
def test_a_list_that_is_no_grouping_is_refused(groups: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=f"ward: groups must be {words}"):
        Regrouped(WARD, groups=groups)


def test_a_value_that_does_not_fit_is_refused_without_being_shown() -> None:
    with pytest.raises(RecordError, match="ward") as caught:
        Regrouped(WARD, groups=(0, 1, 1)).encode(["attic"])
    assert "attic" not in str(caught.value)
