from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supm._errors import ParameterError, RecordError, SchemaError
from supm.schema import Categorical, Continuous, Ordinal, Schema, as_schema

AGE = Continuous("age", low=0, high=100)
STAGE = Ordinal("stage", values=("I", "II", "III"))
ILL = Categorical("ill", values=("no", "yes"))
SCHEMA = Schema(attributes=(AGE, STAGE), target=ILL)


@pytest.mark.parametrize("attributes", [(), [], None, AGE, "age", ("age",), (None,), (AGE, 3)])
def test_attributes_that_are_not_a_list_of_attributes_are_refused(attributes: Any) -> None:
    with pytest.raises(SchemaError):
        Schema(attributes=attributes, target=ILL)


def test_a_target_is_an_attribute() -> None:
    with pytest.raises(SchemaError, match="an attribute must be"):
        Schema(attributes=(AGE,), target="ill")  # type: ignore[arg-type]


@pytest.mark.parametrize("others", [(AGE, Ordinal("age", values=(1, 2))), (AGE, ILL)])
def test_names_are_distinct_and_the_target_counts(others: tuple[Any, ...]) -> None:
    with pytest.raises(SchemaError, match="occurs twice"):
        Schema(attributes=others, target=ILL)


def test_a_target_has_no_class_for_missing_labels() -> None:
    with pytest.raises(SchemaError, match="target 'ill': missing must be 'refuse'"):
        Schema(attributes=(AGE,), target=Categorical("ill", values=("no", "yes"), missing="class"))


def test_the_task_follows_from_the_target() -> None:
    assert Schema(attributes=(AGE,), target=ILL).task == "binary"
    assert Schema(attributes=(AGE,), target=STAGE).task == "multiclass"
    assert Schema(attributes=(STAGE,), target=AGE).task == "continuous"


def test_a_list_of_attributes_is_kept_as_a_tuple_and_a_schema_is_frozen() -> None:
    schema = Schema(attributes=[AGE, STAGE], target=ILL)  # type: ignore[arg-type]
    assert schema.attributes == (AGE, STAGE)
    assert schema.names == ("age", "stage")
    assert hash(schema) == hash(Schema(attributes=(AGE, STAGE), target=ILL))
    with pytest.raises(AttributeError):
        schema.target = AGE  # type: ignore[misc]


def test_a_thousand_columns_of_every_kind_are_read_and_discretized() -> None:
    continuous = tuple(Continuous(f"c{place}", low=0, high=1) for place in range(600))
    ordinal = tuple(Ordinal(f"o{place}", values=tuple(range(9))) for place in range(200))
    unordered = tuple(Categorical(f"u{place}", values=tuple(range(7))) for place in range(200))
    schema = Schema(attributes=(*continuous, *ordinal, *unordered), target=ILL)
    rows = np.arange(2000)
    columns: dict[str, Any] = {each.name: rows / 1999 for each in continuous}
    columns |= {each.name: rows % 9 for each in ordinal}
    columns |= {each.name: rows % 7 for each in unordered}
    columns["ill"] = np.where(rows % 2 == 1, "yes", "no")
    records = schema.read(columns)
    classes = records.encode(schema.discretize(4))
    assert classes.shape == (2000, 1000)
    assert classes.min() == 0
    assert classes.max() == 3
    assert records.target is not None
    assert records.target.tolist() == (rows % 2).tolist()
    assert Schema.from_json(schema.to_json()) == schema


def test_a_schema_travels_between_processes() -> None:
    schema = Schema(attributes=(AGE, STAGE), target=ILL)
    assert pickle.loads(pickle.dumps(schema)) == schema  # noqa: S301  made in this test


def test_columns_of_different_lengths_are_refused_by_name() -> None:
    schema = Schema(attributes=(AGE, STAGE), target=ILL)
    with pytest.raises(RecordError, match="stage: the column has 1 rows, age has 2"):
        schema.read({"age": [1, 2], "stage": ["I"], "ill": ["no", "no"]})


@pytest.mark.parametrize(
    "data", [[], np.empty((0, 2)), {"age": [], "ill": []}, {"age": np.empty(0), "ill": []}]
)
def test_a_table_without_records_is_refused(data: Any) -> None:
    with pytest.raises(RecordError, match="no records"):
        Schema(attributes=(AGE,), target=ILL).read(data)


def test_a_schema_is_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    SCHEMA.save(path)
    assert Schema.load(path) == as_schema(str(path)) == as_schema(SCHEMA) == SCHEMA


def test_a_file_that_holds_no_schema_is_named(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    with pytest.raises(ParameterError, match="schema must be a file that can be read"):
        Schema.load(path)
    path.write_bytes(b"\xff")
    with pytest.raises(SchemaError, match=r"schema\.json: this is not UTF-8"):
        Schema.load(path)
    path.write_text("{}")
    with pytest.raises(SchemaError, match=r"schema\.json: version is missing"):
        Schema.load(path)
