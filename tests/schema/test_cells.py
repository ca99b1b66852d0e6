from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supm._errors import RecordError
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema
from supm.schema.text_table import MISSING, missing, numbers

PRIVATE = "QX7731"
SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100, missing="class"),
        Ordinal("stage", values=(1, 2, 3), missing="class"),
        Categorical("smoker", values=(True, False)),
        Categorical("ward", values=("north", "NA", "7")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)


def column(*cells: str) -> np.ndarray:
    return np.array(cells, dtype=np.dtypes.StringDType())


def read(folder: Path, *lines: str) -> Records:
    path = folder / "people.csv"
    path.write_text("age,stage,smoker,ward,ill\n" + "\n".join(lines))
    return SCHEMA.read(path)


def test_the_marks_of_a_missing_value_are_known() -> None:
    assert missing(column(*MISSING)).all()
    assert not missing(column("0", "none", "-", "x")).any()


@pytest.mark.parametrize("cell", ["1.5", "-3", "1e5", ".5", "+2"])
def test_numbers_are_numbers(cell: str) -> None:
    found = numbers(column(cell, "", "NA"))
    assert found is not None
    np.testing.assert_array_equal(found, [float(cell), np.nan, np.nan])


@pytest.mark.parametrize("cell", ["1_000", "1,5", "0x10", "abc", "1 2", "--"])
def test_what_is_no_number_makes_the_column_text(cell: str) -> None:
    assert numbers(column("1", cell)) is None


def test_a_schema_gives_the_text_its_meaning(tmp_path: Path) -> None:
    records = read(tmp_path, "34,2,true,north,no", "?,3.0,FALSE,NA,yes", "140,,0,7,yes")
    assert records.target is not None
    assert records.target.tolist() == [0, 1, 1]
    np.testing.assert_array_equal(records.columns["age"], [34, np.nan, 100])
    assert records.columns["stage"].tolist() == [1, 2, 3]
    assert records.columns["smoker"].tolist() == [0, 1, 1]
    assert records.columns["ward"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (f"{PRIVATE},1,true,north,no", "age: the column holds text where numbers are expected"),
        ("inf,1,true,north,no", "age: 1 of 3 records are infinite"),
        (f"1,{PRIVATE},true,north,no", "stage: 1 of 3 records holds a value that is not among"),
        (f"1,1,true,north,{PRIVATE}", "ill: 1 of 3 records holds a value that is not among the 2"),
        ("1,1,true,north,", "ill: 1 of 3 records have no label; leave them out"),
        ("1,1,,north,no", "smoker: 1 of 3 records has no value"),
    ],
)
def test_what_the_schema_does_not_allow_is_refused_without_the_value(
    line: str, complaint: str, tmp_path: Path
) -> None:
    good = "34,2,true,north,no"
    with pytest.raises(RecordError) as refusal:
        read(tmp_path, good, good, line)
    assert complaint in str(refusal.value)
    assert PRIVATE not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_text_among_numbers_is_named_by_its_line(tmp_path: Path) -> None:
    good = "34,2,true,north,no"
    with pytest.raises(RecordError, match=r"first in line 5 of .*people.csv; correct it"):
        read(tmp_path, good, good, good, "x,2,true,north,no", good, "y,2,true,north,no")
