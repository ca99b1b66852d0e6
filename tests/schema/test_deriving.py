from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

from supm._errors import ParameterError, RecordError
from supm.schema import Categorical, Continuous, Ordinal, Schema
from supm.schema.deriving import Derived, derive, round_bounds, spread_bounds
from supm.schema.text_table import TextTable, read_csv

PRIVATE = "QX7731"
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def table(folder: Path, **columns: list[object]) -> TextTable:
    path = folder / "public.csv"
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(rows))
    return read_csv(str(path))


def derived(folder: Path, **columns: list[object]) -> Derived:
    labels: list[object] = ["no", "yes"] * 20
    return derive(table(folder, **columns, ill=labels), "ill")


@given(FINITE, FINITE)
def test_round_bounds_hold_what_they_bound_and_little_more(one: float, other: float) -> None:
    assume(one != other)
    low, high = min(one, other), max(one, other)
    below, above = round_bounds(low, high)
    assert below <= low < high <= above
    tenth = (high - low) / 10 * (1 + 1e-9)
    slack = 1e-12 * max(abs(low), abs(high))
    assert low - below <= tenth + slack
    assert above - high <= tenth + slack


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (0.05263, 0.1634, (0.05, 0.17)),
        (143.5, 2501.0, (0.0, 2600.0)),
        (-1.0, 1.0, (-1.0, 1.0)),
        (1990, 2024, (1990, 2024)),
        (-0.31, 47.2, (-2.0, 48.0)),
        (1e-300, 3e-300, (1e-300, 3e-300)),
    ],
)
def test_round_bounds_are_round(low: float, high: float, bounds: tuple[float, float]) -> None:
    assert round_bounds(low, high) == bounds


@given(st.lists(FINITE, min_size=2, max_size=20))
def test_spread_bounds_are_bounds_whatever_the_numbers(held: list[float]) -> None:
    assume(min(held) < max(held))
    low, high = spread_bounds(np.array(held))
    assert low < high
    assert high - low <= (max(held) - min(held)) * 1.21
    assert np.isfinite([low, high]).all()


def test_bounds_clip_the_tail_and_end_where_values_end() -> None:
    counts = np.array([*([0.0] * 500), *(float(k % 10) for k in range(500)), 1000.0, 2000.0])
    low, high = spread_bounds(counts)
    assert low == 0.0
    assert high == round(counts.mean() + 2 * counts.std(), 0)
    years = np.arange(1990.0, 2025.0, dtype=np.float64)
    assert spread_bounds(years) == (1990.0, 2024.0)


def test_a_target_that_is_a_number_is_not_clipped(tmp_path: Path) -> None:
    costs: list[object] = [*(k * 1.5 for k in range(39)), 1000.0]
    held = table(tmp_path, age=costs, cost=costs)
    schema = derive(held, "cost").schema
    assert schema.target == Continuous("cost", low=0.0, high=1000.0)
    assert schema.attributes[0].high < 1000.0  # type: ignore[union-attr]  # a number
    wide = derive(held, "cost", bounds="range").schema
    assert wide.attributes[0] == Continuous("age", low=0.0, high=1000.0)


def test_each_kind_of_column_becomes_its_kind_of_attribute(tmp_path: Path) -> None:
    found = derived(
        tmp_path,
        pulse=[50.5 + k for k in range(40)],
        stage=[1, 2, 4, 2] * 10,
        code=[100, 200] * 20,
        ward=["north", "east"] * 20,
        weight=["NA", *(60 + k / 10 for k in range(39))],
        diet=["", *(["none", "vegan", "none"] * 13)],
    )
    assert found.notes == ()
    assert found.schema.attributes == (
        Continuous("pulse", low=50.5, high=89.5),
        Ordinal("stage", values=(1, 2, 3, 4)),
        Ordinal("code", values=(100, 200)),
        Categorical("ward", values=("east", "north")),
        Continuous("weight", low=60.0, high=63.8, missing="class"),
        Categorical("diet", values=("none", "vegan"), missing="class"),
    )
    assert found.schema.target == Categorical("ill", values=("no", "yes"))


def test_what_tells_nothing_is_left_out_and_said(tmp_path: Path) -> None:
    found = derived(
        tmp_path,
        age=[20.5 + k for k in range(40)],
        site=["here"] * 40,
        unit=[7] * 40,
        name=[f"{PRIVATE}{k}" for k in range(40)],
        note=[""] * 40,
        rate=["inf", *range(39)],
    )
    assert [attribute.name for attribute in found.schema.attributes] == ["age"]
    assert found.notes == (
        "2 columns are constant and left out: 'site', 'unit'.",
        "1 column is of too many different texts and left out: 'name'.",
        "1 column is empty and left out: 'note'.",
        "1 column is infinite in places and left out: 'rate'.",
    )


def test_many_columns_left_out_are_counted(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {f"c{k}": [k] * 40 for k in range(9)}
    found = derived(tmp_path, age=[20.5 + k for k in range(40)], **columns)
    assert found.notes == ("9 columns are constant and left out: 'c0', 'c1', 'c2' and 6 more.",)


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (["b", "a"], ("a", "b")),
        ([1, 0], (0, 1)),
        ([1.0, -1.0], (-1, 1)),
        ([0.5, 1.5], (0.5, 1.5)),
        (["True", "False"], ("False", "True")),
        ([9007199254740993, 1], (1.0, 9007199254740992.0)),
    ],
)
def test_labels_keep_their_kind(
    labels: list[object], values: tuple[object, ...], tmp_path: Path
) -> None:
    ages: list[object] = [20.5 + k for k in range(40)]
    found = derive(table(tmp_path, age=ages, ill=labels * 20), "ill")
    assert found.schema.target == Categorical("ill", values=values)  # type: ignore[arg-type]


def test_a_target_of_many_numbers_is_continuous(tmp_path: Path) -> None:
    ages: list[object] = [20.5 + k for k in range(40)]
    found = derive(table(tmp_path, age=ages, cost=[k * 1.5 for k in range(40)]), "cost")
    assert found.schema.task == "continuous"


@pytest.mark.parametrize("start", [0, 100])
def test_many_whole_numbers_with_many_records_each_are_classes(start: int, tmp_path: Path) -> None:
    ages: list[object] = [20.5 + k for k in range(150)]
    digits: list[object] = [start + k % 15 for k in range(150)]
    found = derive(table(tmp_path, age=ages, digit=digits), "digit")
    assert found.schema.target == Categorical("digit", values=tuple(range(start, start + 15)))
    assert found.notes == ("the 15 different whole numbers of the target 'digit' are its classes.",)
    few = derive(table(tmp_path, age=ages[:140], digit=digits[:140]), "digit")
    assert few.schema.task == "continuous"
    assert "the target 'digit' holds many different numbers, and is predicted as" in few.notes[0]


def test_a_target_in_a_unit_or_of_dates_is_said_to_be_text(tmp_path: Path) -> None:
    ages: list[object] = [20.5 + k for k in range(80)]
    weights: list[object] = [f"{60 + k % 20} kg" for k in range(80)]
    classes, unit = derive(table(tmp_path, age=ages, weight=weights), "weight").notes
    assert classes == "the 20 different texts of the target 'weight' are its classes."
    assert unit.startswith("'weight' holds numbers with a unit, which count as text: remove")
    days: list[object] = [f"2020-{1 + k // 28}-{1 + k % 28}" for k in range(80)]
    with pytest.raises(
        RecordError, match=r"80 labels .* too many to predict\. The column 'visit' ho"
    ):
        derive(table(tmp_path, age=ages, visit=days), "visit")
    left_out, dates = derived(tmp_path, age=ages[:40], visit=days[:40]).notes
    assert "of too many different texts and left out: 'visit'" in left_out
    assert dates.startswith("'visit' holds dates, which count as text")


def test_what_looks_wrong_is_said_and_never_shown(tmp_path: Path) -> None:
    found = derived(
        tmp_path,
        age=[20.5 + k for k in range(40)],
        id=list(range(40)),
        pulse=[*(60 + k / 2 for k in range(30)), PRIVATE, *range(9)],
    )
    assert [attribute.name for attribute in found.schema.attributes] == ["age", "id"]
    left_out, identifier, typing_error = found.notes
    assert left_out == "1 column is of too many different texts and left out: 'pulse'."
    assert identifier.startswith("'id' holds another whole number in every line; if it is an id")
    assert "39 of 40 values are numbers, and that of line 32 is not" in typing_error
    assert PRIVATE not in " ".join(found.notes)


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ([PRIVATE] * 40, "ill: all 40 records have one label; there is nothing to predict"),
        ([""] * 40, "ill: 40 of 40 records have no label"),
        (["?", *([PRIVATE, "x", "y"] * 13)], "ill: 1 of 40 records have no label; leave them out"),
        ([f"{PRIVATE}{k}" for k in range(40)], "ill: 40 labels for 40 records are too many"),
        ([*range(39), PRIVATE], "39 of 40 values are numbers, and that of line 41 is not"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused(
    labels: list[object], complaint: str, tmp_path: Path
) -> None:
    ages: list[object] = [20.5 + k for k in range(40)]
    with pytest.raises(RecordError) as refusal:
        derive(table(tmp_path, age=ages, ill=labels), "ill")
    assert complaint in str(refusal.value)
    assert PRIVATE not in str(refusal.value)


def test_a_table_without_a_useful_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"no column beside 'ill' can be used\. 1 column is con"):
        derived(tmp_path, site=["here"] * 40)


def test_a_derived_schema_reads_the_table_that_it_came_from(tmp_path: Path) -> None:
    held = table(
        tmp_path,
        pulse=["NA", *(50.5 + k for k in range(39))],
        ward=["north", "east"] * 20,
        stage=[1, 5] * 20,
        ill=[0, 1] * 20,
    )
    records = derive(held, "ill").schema.read(held)
    assert records.rows == 40
    assert records.target is not None
    assert records.target.tolist() == [0, 1] * 20


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame, dict]
PEOPLE: dict[str, list[object]] = {
    "age": [20.5 + k for k in range(40)],
    "stage": [1, 5] * 20,
    "smoker": [True, False] * 20,
    "ward": ["north", "east"] * 20,
    "ill": ["no", "yes"] * 20,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_is_described_as_the_file_of_the_same_content(
    frame: Callable[[object], object],
) -> None:
    schema = Schema.from_frame(frame(PEOPLE), target="ill")
    assert schema == Schema(
        attributes=(
            Continuous("age", low=20.5, high=59.5),
            Ordinal("stage", values=(1, 2, 3, 4, 5)),
            Categorical("smoker", values=(False, True)),
            Categorical("ward", values=("east", "north")),
        ),
        target=Categorical("ill", values=("no", "yes")),
    )
    assert schema.read(frame(PEOPLE)).rows == 40


def test_what_looks_wrong_with_a_frame_is_warned_of_without_a_value() -> None:
    days = [dt.datetime(2020, 1, k % 28 + 1, tzinfo=dt.UTC) for k in range(40)]
    numbers_as_text = [*(str(60 + k) for k in range(39)), PRIVATE]
    table = pd.DataFrame(PEOPLE | {"born": days, "pulse": numbers_as_text})
    with pytest.warns(UserWarning, match=r"born|pulse") as warned:
        schema = Schema.from_frame(table, target="ill")
    notes = [str(each.message) for each in warned]
    assert schema.names == ("age", "stage", "smoker", "ward")
    assert "1 column is of neither text nor numbers and left out: 'born'." in notes
    assert any("'pulse' counts as text: 39 of 40" in note for note in notes)
    assert any("row 40 is not" in note for note in notes)
    assert PRIVATE not in " ".join(notes)


def test_a_target_that_is_not_there_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"target must be a column.* Did you mean 'ill'"):
        Schema.from_frame(PEOPLE, target="Ill")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_schema_is_derived_from_a_file_and_reads_it(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"public.{suffix}"
    table = pa.table({name: PEOPLE[name] for name in ("age", "ward", "ill")})
    write = {"csv": csv.write_csv, "parquet": parquet.write_table, "feather": feather.write_feather}
    write[suffix](table, str(path))
    schema = Schema.from_frame(path, target="ill")
    assert schema.names == ("age", "ward")
    assert schema.read(path).rows == schema.read(str(path), labelled=False).rows == 40


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_damaged_file_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"public.{suffix}"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises((ParameterError, RecordError), match=r"damaged|UTF-8"):
        Schema.from_frame(path, target="ill")
    with pytest.raises(ParameterError, match="data must be a file that can be read"):
        Schema.from_frame(tmp_path / f"nowhere.{suffix}", target="ill")
