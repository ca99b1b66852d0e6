from __future__ import annotations

import pickle

import numpy as np
import pytest

from supm._errors import SchemaError
from supm.schema import Categorical, Continuous, CutPoints, Ordinal, Records, Schema, discretize

AGE = Continuous("age", low=0, high=100)
STAGE = Ordinal("stage", values=("I", "II", "III"), missing="class")
SCHEMA = Schema(attributes=(AGE, STAGE), target=Categorical("ill", values=("no", "yes")))


def _records() -> Records:
    data = {"age": [10, 60, 90], "stage": ["III", None, "I"], "ill": ["no", "yes", "yes"]}
    return SCHEMA.read(data)


def test_classes_have_one_column_for_each_discretizer_in_its_order() -> None:
    by_hand = CutPoints(AGE, cuts=(65,))
    classes = _records().encode([discretize(STAGE, 2), by_hand])
    assert classes.dtype == np.int64
    assert classes.tolist() == [[1, 0], [2, 0], [0, 1]]


def test_all_attributes_are_encoded_by_the_discretizers_of_the_schema() -> None:
    assert _records().encode(SCHEMA.discretize(4)).tolist() == [[0, 2], [2, 3], [3, 0]]


def test_a_discretizer_of_another_attribute_is_refused() -> None:
    with pytest.raises(SchemaError, match="a discretizer is for 'age'"):
        _records().encode([discretize(Continuous("age", low=0, high=99), 2)])
    with pytest.raises(SchemaError, match="a discretizer is for 'weight'"):
        _records().encode([discretize(Continuous("weight", low=0, high=100), 2)])


def test_what_is_printed_of_records_has_no_values() -> None:
    assert repr(_records()) == "Records(rows=3, attributes=2)"


def test_the_columns_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        _records().columns["age"][0] = 5


def test_records_travel_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(_records()))  # noqa: S301  made in this test
    assert copy.columns["age"].tolist() == [10.0, 60.0, 90.0]
