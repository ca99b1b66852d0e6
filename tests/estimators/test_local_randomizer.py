from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from supm import ParameterError, RecordError, SchemaError
from supm._validation import EPSILON
from supm.estimators import LocalRandomizer
from supm.mechanisms import IndependentReports
from supm.privacy import NoGuarantee, PureLDP
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "east", "south"), missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
COLUMNS: dict[str, list[Any]] = {
    "ward": ["east", None, "south"],
    "note": ["not read", "not read", "not read"],
    "stage": ["I", "III", "II"],
    "age": [10.0, 60.0, 90.0],
}
TABLE = np.linspace(-1.0, 1.0, 40).reshape(20, 2)


def test_what_comes_out_follows_the_exact_channel_of_the_whole_row() -> None:
    places = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
    randomizer = LocalRandomizer(epsilon=2.0, classes=2, random_state=11).fit(places)
    channel = np.array(randomizer.mechanism_.exact_channel(), dtype=float)
    told = randomizer.transform(np.repeat(places, 20_000, axis=0))
    cells = ((told > 0) @ [2, 1]).reshape(4, 20_000)
    for row, cell in zip(channel, cells, strict=True):
        seen = np.bincount(cell, minlength=4)
        assert chisquare(seen, row * 20_000).pvalue > 1e-6
    assert np.log(channel.max(axis=0) / channel.min(axis=0)).max() == pytest.approx(2.0)


def test_the_promise_is_that_of_the_mechanism_and_within_the_budget() -> None:
    randomizer = LocalRandomizer(epsilon=3.0, schema=SCHEMA, classes=2).fit(pd.DataFrame(COLUMNS))
    assert isinstance(randomizer.mechanism_, IndependentReports)
    assert randomizer.mechanism_.sizes == (2, 2, 3)
    assert isinstance(randomizer.guarantee_, PureLDP)
    assert randomizer.guarantee_ == randomizer.mechanism_.guarantee
    assert 2.999 < randomizer.guarantee_.epsilon <= 3.0


def test_a_seed_makes_a_simulation_that_says_it_is_not_private() -> None:
    randomizer = LocalRandomizer(random_state=1).fit(TABLE)
    assert isinstance(randomizer.guarantee_, NoGuarantee)
    assert "not private" in randomizer.guarantee_.sentence
    assert np.array_equal(randomizer.transform(TABLE), randomizer.transform(TABLE))
    other = clone(randomizer).set_params(random_state=2).fit(TABLE)
    assert not np.array_equal(randomizer.transform(TABLE), other.transform(TABLE))


def test_without_a_seed_every_call_draws_anew() -> None:
    table = np.zeros((200, 2))
    randomizer = LocalRandomizer().fit(table)
    assert not np.array_equal(randomizer.transform(table), randomizer.transform(table))


def test_the_promise_stays_true_when_the_seed_is_set_after_fit() -> None:
    table = np.zeros((200, 2))
    randomizer = LocalRandomizer().fit(table).set_params(random_state=1)
    assert isinstance(randomizer.guarantee_, PureLDP)
    assert not np.array_equal(randomizer.transform(table), randomizer.transform(table))


def test_scikit_learn_is_told_what_the_schema_allows() -> None:
    plain, described = (get_tags(LocalRandomizer(schema=s)).input_tags for s in (None, SCHEMA))
    assert not any((plain.string, plain.categorical, plain.allow_nan))
    assert described.string
    assert described.categorical
    assert described.allow_nan


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict])
def test_a_schema_finds_the_columns_of_any_table_by_name(frame: Any) -> None:
    table = frame(COLUMNS)
    randomizer = LocalRandomizer(schema=SCHEMA, epsilon=2.0, random_state=3).fit(table)
    told = randomizer.transform(table)
    assert told.shape == (3, 6)
    assert set(told[:, 0]) <= {12.5, 37.5, 62.5, 87.5}
    assert set(told[:, 1]) <= {-1.0, 0.0, 1.0}
    assert told[:, 2:].sum(axis=1).tolist() == [1.0, 1.0, 1.0]
    expected = LocalRandomizer(schema=SCHEMA, epsilon=2.0, random_state=3)
    assert np.array_equal(told, expected.fit_transform(pd.DataFrame(COLUMNS)))


def test_columns_out_have_names() -> None:
    randomizer = LocalRandomizer(schema=SCHEMA).fit(pd.DataFrame(COLUMNS))
    wards = ["ward_north", "ward_east", "ward_south", "ward_missing"]
    assert randomizer.get_feature_names_out().tolist() == ["age", "stage", *wards]
    assert randomizer.feature_names_in_.tolist() == ["age", "stage", "ward"]
    nameless = LocalRandomizer().fit(TABLE)
    assert nameless.get_feature_names_out().tolist() == ["x0", "x1"]
    assert nameless.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_numbers_needs_no_schema(frame: Any) -> None:
    table = frame({"a": [0.1, -0.2], "b": [5.0, -5.0]})
    randomizer = LocalRandomizer(epsilon=1e3, classes=2, random_state=1).fit(table)
    assert randomizer.feature_names_in_.tolist() == ["a", "b"]
    assert randomizer.transform(table).tolist() == [[0.5, 0.5], [-0.5, -0.5]]


def test_the_result_can_be_a_frame() -> None:
    randomizer = LocalRandomizer(schema=SCHEMA).set_output(transform="pandas")
    told = randomizer.fit_transform(pd.DataFrame(COLUMNS))
    assert list(told.columns[:2]) == ["age", "stage"]


@pytest.mark.filterwarnings("ignore:most values of")  # that is what it is about
def test_bounds_are_public_and_the_same_whatever_the_values() -> None:
    near = LocalRandomizer(bounds=(0.0, 10.0)).fit(TABLE)
    far = LocalRandomizer(bounds=(0.0, 10.0)).fit(TABLE * 1e6)
    assert near.discretizers_ == far.discretizers_
    assert near.discretizers_[0].labels[0] == "[0, 2.5]"


def test_it_works_in_a_pipeline() -> None:
    pipeline = make_pipeline(LocalRandomizer(random_state=1), StandardScaler())
    assert pipeline.fit_transform(TABLE).shape == TABLE.shape


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError):
        LocalRandomizer().transform(TABLE)


@pytest.mark.parametrize("epsilon", EPSILON.violations(), ids=repr)
def test_a_wrong_budget_is_refused_in_fit(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        LocalRandomizer(epsilon=epsilon).fit(TABLE)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"classes": 1}, "classes must be a whole number"),
        ({"bounds": (1.0,)}, "bounds must be two numbers"),
        ({"bounds": 3}, "bounds must be two numbers"),
        ({"schema": "adult"}, "schema must be a file that can be read"),
        ({"random_state": "7"}, "random_state must be None or a whole number"),
        ({"random_state": True}, "random_state must be None or a whole number"),
        ({"random_state": -1}, "seed must be a whole number"),
    ],
    ids=repr,
)
def test_a_wrong_parameter_is_refused_in_fit(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        LocalRandomizer(**wrong).fit(TABLE)


@pytest.mark.parametrize("bounds", [(1.0, -1.0), (0.0, math.inf), ("0", 1)], ids=repr)
def test_bounds_that_are_no_interval_are_refused(bounds: Any) -> None:
    with pytest.raises(SchemaError, match="bounds"):
        LocalRandomizer(bounds=bounds).fit(TABLE)


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(RecordError, match="two columns of one name"):
        LocalRandomizer().fit(pd.DataFrame(TABLE, columns=["a", "a"]))
