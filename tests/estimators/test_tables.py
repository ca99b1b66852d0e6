"""No error shows a record: what scikit-learn's own checks would print is not let through."""

from __future__ import annotations

import traceback
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from supm import RecordError
from supm.estimators import LocalRandomizer, SUPMClassifier, SUPMRegressor

TEXT = "hunter2"
NUMBER = 271828.25
GOOD = np.linspace(-1.0, 1.0, 8).reshape(4, 2)


class Stranger:
    def __float__(self) -> float:
        raise ValueError(TEXT)


TABLES: dict[str, Any] = {
    "text in a list": [[TEXT, 0.1], [0.2, 0.3]],
    "text in an object array": np.array([[TEXT, 0.1], [0.2, 0.3]], dtype=object),
    "text in an array": np.array([[TEXT, TEXT], [TEXT, TEXT]]),
    "bytes": np.array([[TEXT.encode()] * 2] * 2),
    "text in pandas": pd.DataFrame({"a": [TEXT, "b"], "b": [1.0, 2.0]}),
    "categories in pandas": pd.DataFrame({"a": [TEXT, "b"], "b": [1.0, 2.0]}).astype("category"),
    "text in polars": pl.DataFrame({"a": [TEXT, "b"], "b": [1.0, 2.0]}),
    "text in pyarrow": pa.table({"a": [TEXT, "b"], "b": [1.0, 2.0]}),
    "one dimension": np.full(4, NUMBER),
    "a scalar": NUMBER,
    "a text": TEXT,
    "three dimensions": np.full((2, 2, 2), NUMBER),
    "rows of two lengths": [[NUMBER, 0.1], [NUMBER]],
    "complex numbers": np.full((2, 2), NUMBER + 1j),
    "complex objects": np.array([[complex(NUMBER, 1)] * 2] * 2, dtype=object),
    "a stranger": np.array([[Stranger(), 0.1], [0.2, 0.3]], dtype=object),
    "an infinity": np.array([[np.inf, NUMBER], [NUMBER, NUMBER]]),
    "a missing value": np.array([[np.nan, NUMBER], [NUMBER, NUMBER]]),
    "a huge integer": np.array([[10**400, NUMBER], [NUMBER, NUMBER]], dtype=object),
    "a decimal that is none": np.array([[Decimal("sNaN"), NUMBER]] * 2, dtype=object),
    "dates": pd.DataFrame({"a": pd.to_datetime(["2001-02-03"] * 2), "b": [NUMBER] * 2}),
    "none": None,
    "mappings": [{"a": TEXT, "b": NUMBER}],
}


def whole_story(error: BaseException) -> str:
    """Return all that a log would hold, errors behind the error included."""
    seen = "".join(traceback.format_exception(error))
    return "".join(line for line in seen.splitlines(keepends=True) if not line.startswith("  "))


def check_silent(error: BaseException) -> None:
    story = whole_story(error)
    assert not any(held in story for held in (TEXT, "271828", "2001", "1000000000"))
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize(
    "estimator", [LocalRandomizer(), SUPMClassifier(), SUPMRegressor()], ids=str
)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_a_table_that_cannot_be_read_is_refused_without_a_value(table: Any, estimator: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        estimator.fit(table, [0, 1])
    check_silent(caught.value)


def test_another_number_of_columns_is_refused_without_a_value() -> None:
    fitted = LocalRandomizer().fit(GOOD)
    with pytest.raises(ValueError, match="X has 3 features") as caught:
        fitted.transform(np.full((2, 3), NUMBER))
    check_silent(caught.value)


def test_text_among_numbers_is_a_record_error_that_says_what_to_do() -> None:
    with pytest.raises(RecordError, match=r"the table must hold numbers.*schema"):
        LocalRandomizer().fit(TABLES["text in pandas"])


def test_bounds_that_clip_most_of_a_table_are_mentioned() -> None:
    with pytest.warns(UserWarning, match="most values of 2 of 2 columns lie outside"):
        LocalRandomizer(random_state=1).fit([[10.0, 20.0], [30.0, 0.5], [11.0, 12.0]])


def test_a_missing_number_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="schema in which missing is a class"):
        LocalRandomizer(random_state=1).fit([[0.1, float("nan")], [0.2, 0.5]])
