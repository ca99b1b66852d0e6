from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from supm import ParameterError, RecordError
from supm.estimators._targets import declared_labels, found_labels, listed_labels, target_for
from supm.schema import Categorical, Continuous, Ordinal, Schema

TEXT = "hunter2"
SERIES = [list, np.array, pd.Series, pl.Series, lambda values: pa.chunked_array([values])]
COLUMN = (Continuous("age", low=0, high=100),)


@pytest.mark.parametrize("series", SERIES)
def test_labels_that_occur_are_the_possible_ones(series: Any) -> None:
    labels = found_labels(series(["b", "a", "b", "c"]))
    assert labels.classes.tolist() == ["a", "b", "c"]
    assert labels.numbers.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize("series", SERIES)
def test_declared_labels_keep_their_order_and_need_not_occur(series: Any) -> None:
    schema = Schema(attributes=COLUMN, target=Ordinal("stage", values=("low", "mid", "high")))
    labels = declared_labels(series(["high", "low"]), schema)
    assert labels.classes.tolist() == ["low", "mid", "high"]
    assert labels.numbers.tolist() == [2, 0]


@pytest.mark.parametrize("listed", [["b", "a"], ("b", "a"), np.array(["b", "a"])])
def test_listed_labels_keep_their_order_and_need_not_occur(listed: Any) -> None:
    labels = listed_labels(["a", "a"], listed)
    assert labels.classes.tolist() == ["b", "a"]
    assert labels.numbers.tolist() == [1, 1]


def test_a_label_that_is_not_listed_is_refused_and_not_shown() -> None:
    with pytest.raises(RecordError) as caught:
        listed_labels(["a", TEXT], ["b", "a"])
    assert TEXT not in str(caught.value)
    with pytest.raises(ParameterError, match="labels must be a list of the possible labels"):
        listed_labels(["a"], "ab")


def test_declared_labels_of_several_kinds_stay_what_they_are() -> None:
    schema = Schema(attributes=COLUMN, target=Categorical("kind", values=("other", 1)))
    assert declared_labels([1, "other"], schema).classes.tolist() == ["other", 1]


def test_the_target_has_a_name_that_no_column_has() -> None:
    target = target_for(found_labels([0, 1, 1]), ("a", "target", "target_"))
    assert target == Categorical("target__", values=(0, 1))


@pytest.mark.parametrize(
    "wrong",
    [
        [TEXT, None, "b"],
        np.array([TEXT, 1, 2.5], dtype=object),
        np.array([[TEXT, "b"], ["c", "d"]]),
        [[TEXT], ["b", "c"]],
        TEXT,
        pd.DataFrame({"a": [TEXT, "b"], "b": [TEXT, "b"]}),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_labels_that_cannot_be_read_are_refused_without_a_value(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        found_labels(wrong)
    story = "".join(traceback.format_exception(caught.value, limit=0))
    assert TEXT not in story


def test_a_label_that_the_schema_does_not_declare_is_refused_without_the_value() -> None:
    schema = Schema(attributes=COLUMN, target=Categorical("ill", values=("no", "yes")))
    with pytest.raises(RecordError, match="ill: 1 of 2 records") as caught:
        declared_labels(["yes", TEXT], schema)
    assert TEXT not in str(caught.value)


def test_a_target_that_is_a_number_is_refused() -> None:
    schema = Schema(attributes=COLUMN, target=Continuous("price", low=0, high=1))
    with pytest.raises(ParameterError, match="target must be a list of classes"):
        declared_labels([0.5], schema)


def test_one_class_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least two classes, got '1 class'"):
        found_labels([1, 1, 1])


@pytest.mark.parametrize("y", [[0.5, 0.25, 0.75], [np.nan, 1.0], [np.inf, 1.0]], ids=repr)
def test_measurements_and_missing_labels_are_refused(y: Any) -> None:
    with pytest.raises(ValueError, match=r"continuous|NaN|infinity"):
        found_labels(y)
