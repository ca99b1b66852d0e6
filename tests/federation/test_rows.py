from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from supm import MessageError, ParameterError, RecordError, SchemaError
from supm.federation.rows import (
    GRID,
    Rows,
    SchemaEncoding,
    VectorEncoding,
    class_counts,
    class_sums,
    grid_rows,
    scatter,
    triangle,
    untriangle,
)
from supm.schema import Categorical, Continuous, Ordinal, Schema

VECTORS = st.lists(st.lists(st.floats(-2, 2), min_size=3, max_size=3), min_size=1, max_size=20)


def labels_of(vectors: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.arange(len(vectors)) % 2


@settings(deadline=None)
@given(VECTORS)
def test_no_row_is_longer_than_one(vectors: list[list[float]]) -> None:
    told = np.array(vectors)
    rows = grid_rows(told, labels_of(told), classes=2)
    whole = rows.values.astype(object)
    assert all(sum(int(value) ** 2 for value in row) <= GRID**2 for row in whole)
    assert (rows.values == np.trunc(rows.values)).all()


@settings(deadline=None)
@given(VECTORS)
def test_rows_are_near_the_shortened_vectors(vectors: list[list[float]]) -> None:
    told = np.array(vectors)
    shortened = told / np.maximum(1.0, np.linalg.norm(told, axis=1))[:, None]
    rows = grid_rows(told, labels_of(told), classes=2)
    assert np.abs(rows.unit - shortened).max() <= 2.0 / GRID


def test_long_rows_are_counted_and_zeros_stay() -> None:
    told = np.array([[0.0, 0.0], [3.0, 4.0], [0.6, 0.8], [1.0, 0.0]])
    rows = grid_rows(told, labels_of(told), classes=2)
    assert rows.clipped == 1
    assert rows.values[0].tolist() == [0, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_without_saying_it(bad: float) -> None:
    with pytest.raises(RecordError, match="not a finite number") as caught:
        grid_rows(np.array([[bad, 0.123456]]), np.array([0]), classes=2)
    assert "123456" not in str(caught.value)


def test_rows_are_checked_when_made() -> None:
    with pytest.raises(ParameterError, match="norm at most one"):
        Rows(values=np.array([[GRID, 1.0]]), labels=np.array([0]), classes=2)
    with pytest.raises(ParameterError, match="one row for each label"):
        Rows(values=np.zeros((2, 1)), labels=np.array([0]), classes=2)
    with pytest.raises(RecordError, match="2 public classes"):
        Rows(values=np.zeros((1, 1)), labels=np.array([2]), classes=2)


@settings(deadline=None)
@given(VECTORS)
def test_sums_are_exact_in_any_order(vectors: list[list[float]]) -> None:
    told = np.array(vectors)
    rows = grid_rows(told, labels_of(told), classes=3)
    whole = rows.values.astype(np.int64)
    assert (scatter(rows.values) == whole.T @ whole).all()
    assert (scatter(rows.values[::-1].copy()) == scatter(rows.values)).all()
    for number in range(3):
        assert (class_sums(rows)[number] == whole[rows.labels == number].sum(axis=0)).all()
    assert (class_counts(rows) == GRID * np.bincount(rows.labels, minlength=3)).all()


def test_the_largest_sums_are_exact() -> None:
    # More rows than one block of floats can add, each as long as a row can be.
    values = np.zeros(((1 << 20) + 3, 2))
    values[:, 0] = GRID
    assert scatter(values)[0, 0] == len(values) * GRID**2


def test_a_triangle_comes_back() -> None:
    matrix = scatter(np.arange(12.0).reshape(4, 3))
    assert (untriangle(triangle(matrix), 3) == matrix).all()


def test_a_row_whose_length_no_float_holds_points_where_it_did() -> None:
    rows = grid_rows(np.array([[1e308, 1e308], [3e-300, 0.0]]), np.array([0, 1]), classes=2)
    np.testing.assert_allclose(rows.unit, [[np.sqrt(0.5)] * 2, [0.0, 0.0]], atol=2e-5)
    assert rows.clipped == 1


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
    assert type(encoding).from_form(encoding.to_form()) == encoding


@pytest.mark.parametrize(
    "form",
    [
        None,
        {},
        {"kind": "vectors", "width": 0, "classes": 2, "norm": 1},
        {"kind": "schema", "schema": SCHEMA.to_form(), "categories": "x", "norm": 1},
        {"kind": "vectors", "width": 1, "classes": 2, "norm": 1, "more": 1},
    ],
)
def test_other_forms_are_refused(form: object) -> None:
    with pytest.raises(MessageError):
        VectorEncoding.from_form(form)
    with pytest.raises(MessageError):
        SchemaEncoding.from_form(form)
