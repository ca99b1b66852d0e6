from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from supm._errors import RecordError
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100, missing="class"),
        Ordinal("stage", values=(1, 2, 3)),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
COLUMNS: dict[str, list[Any]] = {
    "note": ["hunter2", "hunter2", "hunter2"],
    "ill": ["yes", "no", "no"],
    "stage": [3, 1, 2],
    "age": [61.5, None, 130.0],
}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
IN_ORDER = np.array([[record[name] for name in ("age", "stage", "ill")] for record in RECORDS])
MAKERS: dict[str, Callable[[], object]] = {
    "mapping": lambda: COLUMNS,
    "records": lambda: RECORDS,
    "tuple of records": lambda: tuple(RECORDS),
    "array": lambda: IN_ORDER,
    "masked array": lambda: np.ma.masked_array(IN_ORDER, mask=np.array(None) == IN_ORDER),
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_table_of_any_kind_gives_the_same_records(kind: str) -> None:
    records = SCHEMA.read(MAKERS[kind]())
    assert records.rows == 3
    assert list(records.columns) == ["age", "stage"]
    np.testing.assert_array_equal(records.columns["age"], [61.5, np.nan, 100.0])
    assert records.columns["stage"].tolist() == [2, 0, 1]
    assert records.target is not None
    assert records.target.tolist() == [1, 0, 0]


def test_an_array_of_numbers_has_the_attributes_in_order_and_the_target_last() -> None:
    schema = Schema(
        attributes=(Continuous("a", low=0, high=9), Continuous("b", low=0, high=9)),
        target=Categorical("y", values=(0, 1)),
    )
    records = schema.read(np.array([[1.0, 2.0, 1.0], [3.0, 4.0, 0.0]]))
    assert records.columns["b"].tolist() == [2.0, 4.0]
    assert records.target is not None
    assert records.target.tolist() == [1, 0]


@pytest.mark.parametrize("kind", ["mapping", "records", "pandas", "polars lazy", "pyarrow"])
def test_records_without_labels_are_read_on_request(kind: str) -> None:
    assert SCHEMA.read(MAKERS[kind](), labelled=False).target is None


def test_an_array_without_labels_has_one_column_less() -> None:
    assert SCHEMA.read(IN_ORDER[:, :2], labelled=False).target is None
    with pytest.raises(RecordError, match="the array must have 2 columns"):
        SCHEMA.read(IN_ORDER, labelled=False)


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy", "pyarrow", "mapping"])
def test_an_absent_column_is_named(kind: str) -> None:
    table = MAKERS[kind]()
    if isinstance(table, dict):
        del (table := dict(table))["stage"]
    elif isinstance(table, pd.DataFrame):
        table = table.drop(columns="stage")
    elif isinstance(table, pa.Table):
        table = table.drop_columns(["stage"])
    elif isinstance(table, pl.DataFrame | pl.LazyFrame):
        table = table.drop("stage")
    with pytest.raises(RecordError, match="the table has no column 'stage';"):
        SCHEMA.read(table)


def test_several_absent_columns_are_counted() -> None:
    with pytest.raises(RecordError, match="no column 'age' and 2 more of the schema"):
        SCHEMA.read(pd.DataFrame({"AGE": [1]}))


def test_a_record_without_one_of_the_keys_is_refused_by_the_key() -> None:
    records = [*RECORDS, {"age": 1, "ill": "no"}]
    with pytest.raises(RecordError, match="1 of 4 records have no key 'stage'"):
        SCHEMA.read(records)


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 4), (3, 3, 1)])
def test_an_array_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(RecordError, match="the array must have 3 columns in the order"):
        SCHEMA.read(np.zeros(shape))


@pytest.mark.parametrize(
    "data", ["hunter2", 5, None, [1, 2], [["hunter2"]], pd.Series(["hunter2"]), {"hunter2"}]
)
def test_what_is_no_table_is_refused_and_not_shown(data: Any) -> None:
    with pytest.raises(RecordError, match="the data must be a dataframe") as caught:
        SCHEMA.read(data)
    assert "hunter2" not in str(caught.value)


def test_two_columns_of_one_name_are_refused() -> None:
    table = pd.DataFrame([[1, 1, 1, "no"]], columns=["age", "age", "stage", "ill"])
    with pytest.raises(RecordError, match="two columns of one name"):
        SCHEMA.read(table)


def test_a_lazy_table_that_fails_does_not_show_the_value_it_failed_on() -> None:
    table = pl.LazyFrame({"age": ["hunter2"], "stage": [1], "ill": ["no"]})
    table = table.with_columns(pl.col("age").cast(pl.Float64, strict=True))
    with pytest.raises(RecordError, match="could not be computed") as caught:
        SCHEMA.read(table)
    assert caught.value.__context__ is None
    assert "hunter2" not in "".join(traceback.format_exception(caught.value, chain=True))


def test_an_error_names_the_attribute_and_not_the_value() -> None:
    with pytest.raises(RecordError, match="ill: 1 of 3 records holds") as caught:
        SCHEMA.read(COLUMNS | {"ill": ["yes", "no", "hunter2"]})
    assert "hunter2" not in str(caught.value)
