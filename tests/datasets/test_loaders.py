"""Every table is what its publishers say it is, and its own schema reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.datasets import (
    Dataset,
    load_adult,
    load_boston,
    load_diabetes,
    load_howell1,
    load_ionosphere,
    load_musk2,
    load_nltcs,
    load_wdbc,
)
from supm.schema import Categorical, Continuous, Ordinal, Schema

SHIPPED = [load_wdbc, load_diabetes]
PUBLISHED = [load_ionosphere, load_musk2, load_adult, load_nltcs, load_boston, load_howell1]
LOADERS = [*SHIPPED, *(pytest.param(load, marks=pytest.mark.data) for load in PUBLISHED)]


@cache
def loaded(load: Callable[[], Dataset]) -> Dataset:
    return load()


def _gaps(column: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([value is None for value in column])


@pytest.mark.parametrize("load", LOADERS)
def test_a_set_is_read_by_its_own_schema(load: Callable[[], Dataset]) -> None:
    data = loaded(load)
    records = data.records()
    classes = records.encode(data.schema.discretize(4))
    assert records.rows == data.rows
    assert classes.shape == (data.rows, len(data.schema.attributes))
    assert classes.min() >= 0
    sizes = [discretizer.size for discretizer in data.schema.discretize(4)]
    assert (classes < sizes).all()


@pytest.mark.parametrize("load", LOADERS)
def test_a_set_has_the_columns_of_its_schema_and_says_where_it_comes_from(
    load: Callable[[], Dataset],
) -> None:
    data = loaded(load)
    assert set(data.columns) == {*data.schema.names, data.schema.target.name}
    assert Schema.from_json(data.schema.to_json()) == data.schema
    assert data.source
    assert data.licence
    assert f"rows={data.rows}" in repr(data)


def test_wdbc_has_569_tumours_and_30_measures() -> None:
    data = loaded(load_wdbc)
    assert Counter(data.target.tolist()) == {"benign": 357, "malignant": 212}
    assert len(data.schema.attributes) == 30


def test_diabetes_is_in_the_units_of_the_measurements() -> None:
    data = loaded(load_diabetes)
    assert data.rows == 442
    assert data.schema.task == "continuous"
    assert data.columns["age"].max() == 79
    assert set(data.columns["sex"].tolist()) == {1, 2}


@pytest.mark.data
def test_ionosphere_has_32_continuous_attributes_and_a_discrete_one() -> None:
    data = loaded(load_ionosphere)
    assert Counter(data.target.tolist()) == {"g": 225, "b": 126}
    kinds = Counter(type(attribute) for attribute in data.schema.attributes)
    assert kinds == {Continuous: 32, Categorical: 1}
    assert "a02" not in data.columns


@pytest.mark.data
def test_musk2_keeps_the_molecule_as_group_and_no_identifier_as_attribute() -> None:
    data = loaded(load_musk2)
    assert Counter(data.target.tolist()) == {0: 5581, 1: 1017}
    assert data.groups is not None
    musks = data.target == 1
    assert len(set(data.groups[musks])) == 39
    assert len(set(data.groups[~musks])) == 63
    assert len(data.schema.attributes) == 166
    assert all(isinstance(attribute, Continuous) for attribute in data.schema.attributes)


@pytest.mark.data
def test_adult_has_its_gaps_as_classes_and_its_split_beside() -> None:
    data = loaded(load_adult)
    assert data.rows == 48_842
    assert data.split is not None
    assert Counter(data.split.tolist()) == {"train": 32_561, "test": 16_281}
    gaps = {name: int(_gaps(column).sum()) for name, column in data.columns.items()}
    assert {name: count for name, count in gaps.items() if count} == {
        "workclass": 2799,
        "occupation": 2809,
        "native-country": 857,
    }
    complete = np.ones(data.rows, dtype=bool)
    for column in data.columns.values():
        complete &= ~_gaps(column)
    assert int(complete.sum()) == 45_222
    with_class = [each.name for each in data.schema.attributes if each.missing == "class"]
    assert with_class == ["workclass", "occupation", "native-country"]
    assert Counter(data.target.tolist())[">50K"] == 11_687


@pytest.mark.data
def test_the_order_of_education_is_that_of_its_number() -> None:
    data = loaded(load_adult)
    words, numbers = data.schema.attributes[3:5]
    assert isinstance(words, Ordinal)
    assert isinstance(numbers, Ordinal)
    places = words.read(data.columns["education"])
    assert (places == numbers.read(data.columns["education-num"])).all()


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "item", "share"),
    [
        ("money", "money", 0.2294),
        ("outside", "outside", 0.5546),
        ("traveling", "traveling", 0.4931),
        ("bathing", "toilet", 0.2478),
    ],
)
def test_nltcs_has_the_task_of_the_papers_as_target(task: str, item: str, share: float) -> None:
    data = load_nltcs(task)  # type: ignore[arg-type]
    assert data.rows == 21_574
    assert data.schema.target.name == item
    assert len(data.schema.attributes) == 15
    assert round(float(data.target.mean()), 4) == share
    assert round(float(data.columns["bathing"].mean()), 4) == 0.4388


@pytest.mark.parametrize("task", ["toilet", "", None, 3])
def test_a_task_that_the_papers_do_not_have_is_refused(task: object) -> None:
    with pytest.raises(ParameterError, match="task must be one of bathing, money, outside"):
        load_nltcs(task)  # type: ignore[arg-type]


@pytest.mark.data
def test_boston_is_the_corrected_table_of_scikit_learn() -> None:
    data = loaded(load_boston)
    assert data.rows == 506
    assert round(float(data.target.mean()), 2) == 22.53
    assert int(data.columns["CHAS"].sum()) == 35
    assert int((data.target == 50).sum()) == 16


@pytest.mark.data
def test_howell1_has_287_women_and_352_adults() -> None:
    data = loaded(load_howell1)
    assert data.rows == 544
    assert int((data.columns["male"] == 0).sum()) == 287
    assert int((data.columns["age"] >= 18).sum()) == 352


@pytest.mark.data
def test_values_at_the_minimum_are_frequent_in_ionosphere_as_the_errata_say() -> None:
    columns = list(load_ionosphere().records().columns.values())
    varying = [column for column in columns if column.min() < column.max()]
    assert len(varying) == 33
    share = np.mean([(column == column.min()).mean() for column in varying])
    assert round(100 * float(share), 1) == 5.9
