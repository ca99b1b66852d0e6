from __future__ import annotations

import numpy as np
import pytest

from supm import MessageError, ParameterError, RecordError, SchemaError
from supm.federation.encoding import SchemaEncoding, VectorEncoding, read_encoding
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100, missing="class"),
        Ordinal("stage", values=(1, 2, 3)),
        Categorical("sex", values=("f", "m")),
        Categorical("blood", values=("0", "a", "b", "ab"), missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
PEOPLE = {
    "age": [0, 100, None, 200],
    "stage": [1, 2, 3, 3],
    "sex": ["f", "m", "f", "m"],
    "blood": ["0", "ab", None, "b"],
    "ill": ["no", "yes", "no", "yes"],
}


def test_numbers_positions_and_indicators() -> None:
    encoding = SchemaEncoding(schema=SCHEMA)
    told = encoding.vectors(SCHEMA.read(PEOPLE)) * 2.0
    wanted = [
        [-1, -1, -1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0, 0, 1],
        [0, 1, -1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 1, 0],
    ]
    assert told.tolist() == wanted
    assert encoding.width == 7


def test_positions_as_in_the_paper() -> None:
    encoding = SchemaEncoding(schema=SCHEMA, categories="positions", norm=1.0)
    told = encoding.vectors(SCHEMA.read(PEOPLE))
    assert told[:, 3].round(3).tolist() == [-1.0, 1.0, 0.0, 0.333]


def test_no_record_is_longer_than_the_default_norm() -> None:
    rows = SchemaEncoding(schema=SCHEMA).rows(SCHEMA.read(PEOPLE))
    assert rows.clipped == 0
    assert rows.labels.tolist() == [0, 1, 0, 1]


def test_records_of_another_schema_are_refused() -> None:
    other = Schema(attributes=SCHEMA.attributes[:2], target=SCHEMA.target)
    with pytest.raises(SchemaError, match="another schema"):
        SchemaEncoding(schema=SCHEMA).rows(other.read(PEOPLE))


def test_records_without_labels_are_refused() -> None:
    with pytest.raises(RecordError, match="no labels"):
        SchemaEncoding(schema=SCHEMA).rows(SCHEMA.read(PEOPLE, labelled=False))


def test_a_number_is_no_class() -> None:
    numeric = Schema(attributes=SCHEMA.attributes[1:], target=Continuous("age", low=0, high=100))
    with pytest.raises(ParameterError, match="target must be a list of classes"):
        SchemaEncoding(schema=numeric)


def test_vectors_have_their_width() -> None:
    encoding = VectorEncoding(width=2, classes=2)
    with pytest.raises(RecordError, match="2 columns"):
        encoding.rows(np.zeros((3, 3)), np.zeros(3, dtype=np.int64))


@pytest.mark.parametrize(
    "encoding",
    [
        VectorEncoding(width=3, classes=2, norm=2.5),
        SchemaEncoding(schema=SCHEMA, categories="positions"),
    ],
)
def test_what_was_written_is_read(encoding: VectorEncoding | SchemaEncoding) -> None:
    assert read_encoding(encoding.to_form()) == encoding


@pytest.mark.parametrize(
    "form",
    [
        None,
        {},
        {"width": 0, "classes": 2, "norm": 1},
        {"schema": "{}", "categories": "x", "norm": 1},
        {"width": 1, "classes": 2, "norm": 1, "more": 1},
    ],
)
def test_other_forms_are_refused(form: object) -> None:
    with pytest.raises(MessageError):
        read_encoding(form)
