"""What each kind of column does. Every error is searched for the private value that caused it."""

from __future__ import annotations

import datetime as dt
import decimal
import traceback
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from supm._errors import RecordError
from supm.schema import Categorical, Continuous, Ordinal

NUMBER = Continuous("age", low=0, high=100)
NUMBER_OR_NONE = Continuous("age", low=0, high=100, missing="class")
STAGE = Ordinal("stage", values=("I", "II", "III"))
STAGE_OR_NONE = Ordinal("stage", values=("I", "II", "III"), missing="class")
CODE_OR_NONE = Categorical("code", values=(7, 8), missing="class")
FLAG_OR_NONE = Categorical("flag", values=(False, True), missing="class")
PRIVATE = "hunter2"


def refusal(attribute: Continuous | Ordinal | Categorical, column: object) -> str:
    with pytest.raises(RecordError) as caught:
        attribute.read(column)
    shown = "".join(traceback.format_exception(caught.value, chain=True))
    assert caught.value.__context__ is None
    assert PRIVATE not in shown
    return str(caught.value)


NUMBERS: list[Any] = [
    [10, 20.5, 130],
    (10, 20.5, 130),
    np.array([10, 20.5, 130]),
    np.array([10, 20.5, 130], dtype=np.float32),
    np.array([10, 20.5, 130], dtype=np.longdouble),
    np.array([10, 20.5, 130], dtype=object),
    [decimal.Decimal(10), decimal.Decimal("20.5"), decimal.Decimal(130)],
    [10, 20.5, 10**400],
    np.array([10, 20.5, 1e300]),
    pd.Series([10, 20.5, 130]),
    pd.Series([10, 20.5, 130], dtype="Float64"),
    pd.Series([10, 20.5, 130], dtype="category"),
    pd.Series([10, 20.5, 130], dtype=object),
    pl.Series([10.0, 20.5, 130.0]),
    pl.Series([decimal.Decimal(10), decimal.Decimal("20.5"), decimal.Decimal(130)]),
    pa.chunked_array([[10.0, 20.5], [130.0]]),
]


@pytest.mark.parametrize("column", NUMBERS, ids=lambda column: type(column).__name__)
def test_numbers_of_every_kind_are_read_and_clipped(column: Any) -> None:
    assert NUMBER.read(column).tolist() == [10.0, 20.5, 100.0]


@pytest.mark.parametrize(
    "column",
    [
        np.array([2**63, 5], dtype=np.uint64),
        np.array([2**62, 5], dtype=np.int64),
        pl.Series([2**100, 5], dtype=pl.Int128),
        [2**2000, 5],
    ],
    ids=["uint64", "int64", "int128", "python"],
)
def test_whole_numbers_of_any_size_are_clipped_and_do_not_overflow(column: Any) -> None:
    assert NUMBER.read(column).tolist() == [100.0, 5.0]


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="no type wider than a double")
def test_a_number_beyond_a_double_is_clipped_and_not_infinite() -> None:
    column = np.array([np.longdouble("1e400"), np.longdouble("-1e400"), 5])
    assert NUMBER.read(column).tolist() == [100.0, 0.0, 5.0]


MISSING_NUMBERS: list[Any] = [
    [1, None, float("nan")],
    np.array([1, np.nan, np.nan]),
    np.array([1, None, pd.NA], dtype=object),
    np.array([1, pd.NaT, np.datetime64("NaT")], dtype=object),
    [1, decimal.Decimal("nan"), decimal.Decimal("snan")],
    np.ma.masked_array([1.0, 2.0, np.inf], mask=[False, True, True]),
    pd.Series([1, None, None], dtype="Int64"),
    pd.Series([1, None, None], dtype="Float64"),
    pd.Series([1, None, np.nan], dtype="category"),
    pd.Series([1, None, None], dtype="int64[pyarrow]"),
    pl.Series([1, None, None]),
    pl.Series([1.0, None, float("nan")]),
    pa.chunked_array([[1, None, None]]),
    pa.chunked_array([pa.array([1, None, None]).dictionary_encode()]),
]


@pytest.mark.parametrize("column", MISSING_NUMBERS)
def test_every_mark_of_a_missing_number_is_refused_by_name_and_count(column: Any) -> None:
    assert refusal(NUMBER, column).startswith("age: 2 of 3 records have no value;")


@pytest.mark.parametrize("column", MISSING_NUMBERS)
def test_every_mark_of_a_missing_number_is_read_where_it_is_a_class(column: Any) -> None:
    assert np.isnan(NUMBER_OR_NONE.read(column)).tolist() == [False, True, True]


MISSING_TEXT: list[Any] = [
    ["II", None],
    np.array(["II", None], dtype=object),
    np.array(["II", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan)),
    pd.Series(["II", None]),
    pd.Series(["II", None], dtype="string"),
    pd.Series(["II", None], dtype="category"),
    pl.Series(["II", None]),
    pl.Series(["II", None], dtype=pl.Categorical),
    pl.Series(["II", None], dtype=pl.Enum(["III", "II"])),
    pa.chunked_array([["II", None]]),
    pa.chunked_array([pa.array(["II", None]).dictionary_encode()]),
    pa.chunked_array([pa.array(["II", None], type=pa.string_view())]),
]


@pytest.mark.parametrize("column", MISSING_TEXT)
def test_missing_text_is_refused_by_name_and_count(column: Any) -> None:
    assert refusal(STAGE, column).startswith("stage: 1 of 2 records has no value;")


@pytest.mark.parametrize("column", MISSING_TEXT)
def test_missing_text_is_the_position_after_the_last_value(column: Any) -> None:
    assert STAGE_OR_NONE.read(column).tolist() == [1, 3]


@pytest.mark.parametrize(
    "column",
    [
        [8, None],
        [8.0, float("nan")],
        pd.Series([8, None]),
        pd.Series([8, None], dtype="Int64"),
        pd.Series([8, None], dtype="category"),
        pl.Series([8, None], dtype=pl.UInt8),
        pl.Series([8, None], dtype=pl.Int128),
        pa.chunked_array([[8, None]]),
        pa.chunked_array([pa.array([8, None]).dictionary_encode()]),
    ],
)
def test_codes_with_gaps_are_read_though_libraries_turn_them_into_floats(column: Any) -> None:
    assert CODE_OR_NONE.read(column).tolist() == [1, 2]


@pytest.mark.parametrize(
    "column",
    [
        [True, None],
        [1, None],
        pd.Series([True, None], dtype="boolean"),
        pd.Series([True, None], dtype="bool[pyarrow]"),
        pl.Series([True, None]),
        pa.chunked_array([[True, None]]),
    ],
)
def test_truth_values_match_themselves_and_their_numbers(column: Any) -> None:
    assert FLAG_OR_NONE.read(column).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("column", "noun"),
    [
        (np.array([PRIVATE]), "text"),
        (np.array(["12"]), "text"),
        (["12"], "text"),
        (pd.Series(["12"]), "text"),
        (pl.Series([PRIVATE]), "text"),
        (np.array([PRIVATE.encode()]), "bytes"),
        (np.array([True]), "true or false"),
        ([True], "something else"),
        (pd.Series([True]), "true or false"),
        (np.array([1j]), "complex numbers"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "dates"),
        (pd.Series([pd.Timestamp(0)]), "dates"),
        (pl.Series([dt.datetime(2020, 1, 1)]), "dates"),  # noqa: DTZ001  naive on purpose
        (pl.Series([dt.timedelta(1)]), "durations"),
        (pl.Series([dt.time(1)]), "something else"),
        (pl.Series([[1.0]]), "something else"),
        (np.array([(1, 2)], dtype="i4,i4"), "structures"),
        ([[1]], "something else"),
    ],
)
def test_a_column_of_other_things_than_numbers_is_refused(column: Any, noun: str) -> None:
    assert refusal(NUMBER, column).startswith(f"age: the column holds {noun} where numbers are")


@pytest.mark.parametrize(
    "column",
    [
        [1, float("inf")],
        np.array([1, -np.inf]),
        np.array([1, np.inf], dtype=np.float32),
        [1, decimal.Decimal("-Infinity")],
        pd.Series([1, np.inf]),
        pl.Series([1.0, float("inf")]),
    ],
)
def test_infinities_are_refused_even_where_missing_values_are_a_class(column: Any) -> None:
    assert refusal(NUMBER_OR_NONE, column).startswith("age: 1 of 2 records are infinite")


@pytest.mark.parametrize(
    "column",
    [
        ["I", PRIVATE, PRIVATE],
        np.array(["I", PRIVATE, PRIVATE]),
        pd.Series(["I", PRIVATE, PRIVATE], dtype="category"),
        pl.Series(["I", PRIVATE, PRIVATE], dtype=pl.Categorical),
        pa.chunked_array([["I", PRIVATE, PRIVATE]]),
        ["I", "i", " I"],
        ["I", 1, float("inf")],
    ],
)
def test_unknown_values_are_counted_and_not_shown(column: Any) -> None:
    assert refusal(STAGE, column).startswith("stage: 2 of 3 records hold a value that is not among")


def test_text_never_matches_a_number() -> None:
    assert "1 of 1 records holds" in refusal(CODE_OR_NONE, ["7"])
    assert "1 of 1 records holds" in refusal(Ordinal("a", values=("7", "8")), [7])


@pytest.mark.parametrize(
    "column",
    [
        [[PRIVATE]],
        [({PRIVATE},)],
        [{"a": PRIVATE}],
        [PRIVATE.encode()],
        [object()],
        pl.Series([[PRIVATE]]),
        pl.Series([dt.date(2020, 1, 1)]),
        np.array([7], dtype="datetime64[ns]"),
        np.array([7], dtype="timedelta64[ns]"),
        np.array([(7, 8)], dtype="i4,i4"),
    ],
)
def test_a_listed_attribute_refuses_what_is_neither_text_nor_number(column: Any) -> None:
    assert "something else than text, numbers" in refusal(CODE_OR_NONE, column)


@pytest.mark.parametrize("column", [np.zeros((2, 2)), np.array(5.0), pl.Series([{"a": 1}])])
def test_a_column_has_one_dimension(column: Any) -> None:
    assert "must have one dimension" in refusal(NUMBER, column)


@pytest.mark.parametrize("column", [PRIVATE, 5, None, {"a": 1}, pd.DataFrame({"a": [1]})])
def test_what_is_no_column_is_refused_by_its_kind(column: Any) -> None:
    assert "a column must be an array, a series or a list, got" in refusal(NUMBER, column)


def test_the_column_that_was_given_is_not_changed() -> None:
    column = np.array([-5.0, 500.0])
    NUMBER.read(column)[0] = 7.0
    assert column.tolist() == [-5.0, 500.0]
