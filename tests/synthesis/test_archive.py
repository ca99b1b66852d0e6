"""Archives: what is read, what is refused, and that nothing private is shown."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from supm import simulation
from supm._errors import ParameterError, RecordError, SchemaError
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
)
from supm.privacy import ApproximateDP, PureLDP
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn

AGE = NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=1.0))
SEX = ClassColumn("sex", ("f", "m"), GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=2.0))
STAGE = ClassColumn(
    "stage", (1, 2, 3), GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=0.5), ordered=True
)
SCHEMA = ArchiveSchema(columns=(AGE, SEX, STAGE), target="sex")
TABLE = {"age": [34.5, -80.25], "sex": ["f", "m"], "stage": [3, 1]}


def test_the_cost_of_a_record_is_the_sum_over_its_cells() -> None:
    assert SCHEMA.epsilon == pytest.approx(3.5)
    assert isinstance(SCHEMA.guarantee, PureLDP)


def test_a_gaussian_column_makes_the_promise_approximate() -> None:
    noise = ContinuousGaussian.for_epsilon(low=0, high=1, epsilon=1.0, delta=1e-6)
    total = ArchiveSchema(columns=(AGE, NumberColumn("x", noise), NumberColumn("y", noise)))
    promise = total.guarantee
    assert isinstance(promise, ApproximateDP)
    assert promise.delta == pytest.approx(2e-6)
    assert promise.epsilon == pytest.approx(3.0)


def test_where_some_cells_are_asked_the_dearest_ones_count() -> None:
    assert ArchiveSchema(columns=SCHEMA.columns, asked=2).epsilon == pytest.approx(3.0)
    noise = ContinuousGaussian.for_epsilon(low=0, high=1, epsilon=4.0, delta=1e-6)
    some = ArchiveSchema(columns=(AGE, SEX, NumberColumn("x", noise)), asked=2)
    assert isinstance(some.guarantee, ApproximateDP)
    assert some.epsilon == pytest.approx(6.0)


@pytest.mark.parametrize(("asked", "epsilon", "delta"), [(1, 4.0, 4e-6), (2, 7.0, 6e-6)])
def test_the_deltas_of_all_that_may_be_told_add_up(
    asked: int, epsilon: float, delta: float
) -> None:
    """The dearest epsilons and the largest deltas count, also where they are of other columns."""
    promises = [(4.0, 1e-6), (3.0, 2e-6), (2.0, 4e-6)]
    laws = [ContinuousGaussian.for_epsilon(low=0, high=1, epsilon=e, delta=d) for e, d in promises]
    columns = tuple(NumberColumn(f"x{place}", law) for place, law in enumerate(laws))
    promise = ArchiveSchema(columns=(*columns, SEX), asked=asked).guarantee
    assert isinstance(promise, ApproximateDP)
    assert promise.delta == pytest.approx(delta, rel=1e-9)
    assert promise.epsilon == pytest.approx(epsilon, rel=1e-6)
    whole = ArchiveSchema(columns=columns, asked=3).guarantee
    assert isinstance(whole, ApproximateDP)
    assert whole.delta == pytest.approx(7e-6, rel=1e-9)


def test_a_schema_goes_through_json() -> None:
    text = SCHEMA.to_json()
    assert ArchiveSchema.from_json(text) == SCHEMA
    assert ArchiveSchema.from_json(text).to_json() == text
    asked = ArchiveSchema(columns=SCHEMA.columns, asked=2)
    assert ArchiveSchema.from_json(asked.to_json()) == asked


def broken(**changes: Any) -> str:
    """The form of a good schema with one thing changed in its first column."""
    column = {"name": "age", "kind": "number", "low": 0, "high": 1, "mechanism": "laplace"}
    column |= {"epsilon": 1.0, **changes}
    column = {name: value for name, value in column.items() if value is not ...}
    return json.dumps({"version": 1, "columns": [column]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (broken(mechanism=...), "columns.0. 'age': its mechanism is not given"),
        (broken(epsilon=...), "how much noise there is was not given"),
        (broken(kind="date"), """'age': kind must be "number" or "class", got 'date'"""),
        (broken(low=...), "low is missing"),
        (
            broken(colour="red"),
            "'age': colour is not a field of a column; its fields are name, kind",
        ),
        (broken(scale=1.0), "scale does not go with epsilon; keep one of them"),
        (
            broken(mechanism="Laplace"),
            "'Laplace' is not known for a number. Did you mean 'laplace'",
        ),
        (broken(mechanism="duchi"), "'duchi' is not known for a number. There are 'laplace', 'gau"),
        (broken(mechanism="randomized_response"), "not known for a number. There are 'laplace'"),
        (broken(epsilon="4"), "got '4'. Remove the quotes.$"),
        (broken(epsilon=0), r"epsilon must be a number in .*, got 0\.$"),
        (
            '{"version": 1, "attributes": [], "target": {}}',
            "a schema of records, as supm schema writes it; an archive schema also says",
        ),
        (broken(kind="class", low=..., high=...), "columns.0. 'age': .*values must be a list"),
        (broken(name=""), "columns.0.: an attribute: name must be text"),
        ('{"version": 2, "columns": []}', "version must be 1"),
        ('{"version": 1, "columns": {}}', "columns must be a list"),
        ('{"version": 1, "columns": []}', "at least one column"),
        ('{"version": 1, "columns": [7]}', "must be a JSON object"),
        ('{"version": 1, "extra": 1, "columns": []}', "extra is not a field"),
        ("[]", "must be a JSON object"),
    ],
)
def test_a_schema_that_leaves_something_open_is_refused(text: str, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        ArchiveSchema.from_json(text)


def test_names_are_distinct_and_the_target_is_one_of_them() -> None:
    with pytest.raises(SchemaError, match="occurs twice"):
        ArchiveSchema(columns=(AGE, AGE))
    with pytest.raises(SchemaError, match=r"target must be .*, got 'income'\."):
        ArchiveSchema(columns=(AGE,), target="income")
    with pytest.raises(ParameterError, match="asked"):
        ArchiveSchema(columns=(AGE,), asked=2)
    with pytest.raises(SchemaError, match="of 3 values, 2 given"):
        ClassColumn("sex", ("f", "m"), GeneralizedRandomizedResponse.with_keep(size=3, keep=0.5))


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_tables_of_any_kind_are_read(kind: Any) -> None:
    archive = Archive.read(kind(TABLE), SCHEMA)
    assert archive.rows == 2
    assert archive.reports["age"].tolist() == [34.5, -80.25]
    assert archive.reports["sex"].tolist() == [0, 1]
    assert archive.reports["stage"].tolist() == [2, 0]
    assert {name: column.tolist() for name, column in archive.table().items()} == TABLE


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("age", [34.5, None], "age: 1 of 2 cells are missing"),
        ("age", [34.5, float("nan")], "age: 1 of 2 cells are missing"),
        ("age", [34.5, float("inf")], "infinite"),
        ("age", ["34.5", "7"], "text where numbers are expected"),
        ("sex", ["f", "x-ray"], "not among the 2 declared"),
        ("sex", ["f", None], "sex: 1 of 2 cells are missing"),
        ("sex", ["f"], "same number of rows"),
    ],
)
def test_what_no_owner_can_have_sent_is_refused_and_not_shown(
    name: str, cells: list[Any], words: str
) -> None:
    with pytest.raises(RecordError, match=words) as caught:
        Archive.read({**TABLE, name: cells}, SCHEMA)
    assert "34.5" not in str(caught.value)
    assert "x-ray" not in str(caught.value)


def test_a_report_outside_of_what_the_mechanism_can_say_is_refused() -> None:
    wave = NumberColumn("x", ContinuousSquareWave.for_epsilon(low=0, high=1, epsilon=1.0))
    schema = ArchiveSchema(columns=(wave,))
    with pytest.raises(RecordError, match="1 of 2 cells cannot have been reported by square_wave"):
        Archive.read({"x": [0.5, 1.7654]}, schema)


def test_cells_that_were_not_asked_are_allowed_where_the_schema_says_so() -> None:
    schema = ArchiveSchema(columns=SCHEMA.columns, asked=2)
    archive = Archive.read({"age": [1.0, None], "sex": ["f", "m"], "stage": [None, 2]}, schema)
    assert np.isnan(archive.reports["age"]).tolist() == [False, True]
    assert archive.reports["stage"].tolist() == [-1, 1]
    assert archive.class_counts("stage").sum() == pytest.approx(1.0)
    with pytest.raises(RecordError, match="1 of 2 records do not have 2 non-empty cells"):
        Archive.read({"age": [1.0, None], "sex": ["f", None], "stage": [None, 2]}, schema)


def test_an_archive_made_from_clean_records_is_unbiased() -> None:
    count = 50_000
    clean = {
        "age": np.linspace(0, 150, count),  # clipped to 100
        "sex": np.array(["f", "m"])[(np.arange(count) % 4 == 0).astype(int)],
        "stage": np.arange(count) % 3 + 1,
    }
    archive = Archive.noised(clean, SCHEMA, simulation(4))
    assert archive.unbiased("age").mean() == pytest.approx(
        np.clip(clean["age"], 0, 100).mean(), abs=3
    )
    assert archive.noise_variance("age") == pytest.approx(20_000)
    assert archive.class_counts("sex") / count == pytest.approx([0.75, 0.25], abs=0.02)
    assert archive.class_counts("stage") / count == pytest.approx([1 / 3] * 3, abs=0.05)
    again = Archive.noised(clean, SCHEMA, simulation(4))
    assert (again.reports["age"] == archive.reports["age"]).all()
    assert repr(archive) == "Archive(rows=50000, columns=3)"


def test_numbers_and_classes_are_not_taken_for_each_other() -> None:
    archive = Archive.read(TABLE, SCHEMA)
    with pytest.raises(SchemaError, match="holds classes"):
        archive.unbiased("sex")
    with pytest.raises(SchemaError, match="holds numbers"):
        archive.class_counts("age")
    with pytest.raises(SchemaError, match="no column 'height'"):
        archive.unbiased("height")


@pytest.mark.parametrize("far", [1e300, -1e6])
def test_a_number_that_no_noise_reaches_is_refused_with_the_count(far: float) -> None:
    schema = ArchiveSchema(columns=(AGE,))
    held = Archive.noised({"age": [20.0] * 50}, schema, simulation(1)).reports["age"]
    assert Archive.read({"age": held}, schema).rows == 50
    held[7] = far
    with pytest.raises(RecordError, match="age: 1 of 50 cells cannot have been reported"):
        Archive.read({"age": held}, schema)
