from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import RecordError, SchemaError
from supm.schema import Categorical, Continuous, MergeModulo, MergeNeighbours, Ordinal

sizes = st.integers(2, 60)


@settings(deadline=None)
@given(sizes, sizes)
def test_neighbours_share_a_class_in_runs_of_nearly_equal_length(count: int, classes: int) -> None:
    merged = MergeNeighbours(Ordinal("a", values=tuple(range(count))), classes=classes)
    encoded = merged.encode(np.arange(count))
    lengths = np.bincount(encoded)
    assert merged.size == lengths.size == min(count, classes)
    assert (np.diff(encoded) >= 0).all()
    assert lengths.max() - lengths.min() <= 1
    assert (np.diff(merged.representatives) > 0).all()
    assert (merged.representatives[0], merged.representatives[-1]) == (-1.0, 1.0)


@settings(deadline=None)
@given(sizes, sizes)
def test_modulo_fills_every_class_of_unordered_values(count: int, classes: int) -> None:
    merged = MergeModulo(Categorical("a", values=tuple(range(count))), classes=classes)
    encoded = merged.encode(np.arange(count))
    assert merged.size == min(count, classes)
    assert encoded.tolist() == [place % merged.size for place in range(count)]


def test_labels_list_the_values_of_a_class() -> None:
    values = ("a", 2, 3.5, True)
    assert MergeNeighbours(Ordinal("x", values=values), classes=2).labels == ("a, 2", "3.5, True")
    assert MergeModulo(Categorical("x", values=values), classes=2).labels == ("a, 3.5", "2, True")


@pytest.mark.parametrize("classes", [2, 3, 9])
def test_missing_values_are_the_last_class(classes: int) -> None:
    ordered = MergeNeighbours(Ordinal("x", values=(1, 2, 3), missing="class"), classes=classes)
    unordered = MergeModulo(Categorical("x", values=(1, 2, 3), missing="class"), classes=classes)
    last = min(3, classes)
    for merged in (ordered, unordered):
        assert merged.size == last + 1
        assert merged.labels[-1] == "missing"
        assert merged.encode([None, 3, float("nan")]).tolist()[::2] == [last, last]
    assert ordered.representatives[-1] == 0.0


@pytest.mark.parametrize(
    "attribute", [Continuous("x", low=0, high=1), Categorical("x", values=(0, 1)), None]
)
def test_neighbours_need_an_ordinal_attribute(attribute: Any) -> None:
    with pytest.raises(SchemaError, match="MergeNeighbours needs an attribute of kind Ordinal"):
        MergeNeighbours(attribute, classes=2)


@pytest.mark.parametrize(
    "attribute", [Continuous("x", low=0, high=1), Ordinal("x", values=(0, 1)), None]
)
def test_modulo_needs_a_categorical_attribute(attribute: Any) -> None:
    with pytest.raises(SchemaError, match="MergeModulo needs an attribute of kind Categorical"):
        MergeModulo(attribute, classes=2)


@pytest.mark.parametrize(
    "classes", [np.array([0, 2]), np.array([-1]), np.array([0.0]), np.array([[0]]), np.array(["a"])]
)
def test_one_hot_takes_class_numbers_only(classes: Any) -> None:
    merged = MergeModulo(Categorical("x", values=(1, 2)), classes=2)
    with pytest.raises(RecordError, match=r"x: classes must be whole numbers in \[0, 1\]"):
        merged.one_hot(classes)


def test_one_hot_rows_have_a_single_one_and_lead_back() -> None:
    merged = MergeModulo(Categorical("x", values=tuple(range(9)), missing="class"), classes=4)
    encoded = merged.encode([*range(9), None])
    rows = merged.one_hot(encoded)
    assert rows.shape == (10, 5)
    assert rows.sum(axis=1).tolist() == [1.0] * 10
    assert rows.argmax(axis=1).tolist() == encoded.tolist()
