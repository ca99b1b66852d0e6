"""How a column is read from a record: at its bounds, beyond them, and where a value is missing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm._errors import MessageError, ParameterError, RecordError
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise
from supm.owner.columns import Classes, Labels, Numbers, Signs, Unchanged, labels_of, numbers_of
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema, discretize

ILL = Categorical("ill", values=("no", "yes"))
COIN = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
NUMBER = Piecewise.for_epsilon(low=-1, high=1, epsilon=1.0, steps=4)


def read(attribute: Attribute, values: list[Any], *, labelled: bool = True) -> Records:
    schema = Schema(attributes=(attribute,), target=ILL)
    labels = [("no", "yes")[place % 2] for place in range(len(values))]
    return schema.read({attribute.name: values, "ill": labels}, labelled=labelled)


@pytest.mark.parametrize("low", [0.0, -7.5, -1e300])
@pytest.mark.parametrize("high", [1.0, 1e-3, 1e300])
def test_the_bounds_are_read_as_minus_one_and_one(low: float, high: float) -> None:
    x = Continuous("x", low=low, high=high)
    column = Numbers(attribute=x, randomizer=NUMBER)
    middle = low / 2 + high / 2
    assert column.read(read(x, [low, middle, high])).tolist() == pytest.approx([-1, 0, 1])
    assert column.read(read(x, [low]))[0] == -1
    assert column.read(read(x, [high]))[0] == 1


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (-0.7, 1e-9), (1e-3, 1e9), (-1e300, 1e300)])
def test_no_number_is_read_beyond_the_bounds(low: float, high: float) -> None:
    """Rounding must not carry a value over an edge, where a randomizer would refuse it."""
    x = Continuous("x", low=low, high=high)
    inside = [low * (1 - share) + high * share for share in np.linspace(0, 1, 1001)]
    values = sorted([low, np.nextafter(low, high), *inside, np.nextafter(high, low), high])
    found = Numbers(attribute=x, randomizer=NUMBER).read(read(x, values))
    assert (np.abs(found) <= 1).all()
    assert (np.diff(found) >= 0).all()


def test_a_value_beyond_a_bound_is_read_as_the_bound() -> None:
    x = Continuous("x", low=0, high=10)
    column = Numbers(attribute=x, randomizer=NUMBER)
    assert column.read(read(x, [-5.0, 1e308])).tolist() == [-1, 1]


def test_a_missing_number_is_read_as_the_middle() -> None:
    x = Continuous("x", low=0, high=10, missing="class")
    column = Numbers(attribute=x, randomizer=NUMBER)
    assert column.read(read(x, [None, 5.0, math.nan])).tolist() == [0, 0, 0]


def test_ordered_values_are_read_as_equally_spaced_numbers() -> None:
    stage = Ordinal("stage", values=("I", "II", "III", "IV"), missing="class")
    found = Numbers(attribute=stage, randomizer=NUMBER).read(read(stage, ["I", "II", "IV", None]))
    assert found.tolist() == pytest.approx([-1, -1 / 3, 1, 0])


def test_two_values_without_order_are_read_as_minus_one_and_one() -> None:
    smokes = Categorical("smokes", values=("no", "yes"), missing="class")
    found = Numbers(attribute=smokes, randomizer=NUMBER).read(read(smokes, ["no", "yes", None]))
    assert found.tolist() == [-1, 1, 0]


def test_three_values_without_order_are_no_number() -> None:
    ward = Categorical("ward", values=("north", "east", "south"))
    with pytest.raises(MessageError, match="ward has no order"):
        Numbers(attribute=ward, randomizer=NUMBER)


def test_a_number_that_leaves_as_it_is_is_read_as_the_nearest_point_of_its_grid() -> None:
    x = Continuous("x", low=0, high=10, missing="class")
    column = Numbers(attribute=x, randomizer=Unchanged(5))
    values = [-1.0, 0.0, 1.2, 1.3, 5.0, None, 8.7, 8.8, 10.0, 11.0]
    assert column.read(read(x, values)).tolist() == [0, 0, 0, 1, 2, 2, 3, 4, 4, 4]


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_extremes_are_read_as_the_first_and_the_last_class(classes: int) -> None:
    x = Continuous("x", low=0, high=10, missing="class")
    cut = discretize(x, classes)
    response = GeneralizedRandomizedResponse.for_epsilon(size=cut.size, epsilon=1.0)
    column = Classes(discretizer=cut, randomizer=response)
    found = column.read(read(x, [-3.0, 0.0, 10.0, 99.0, None])).tolist()
    assert found == [0, 0, classes - 1, classes - 1, classes]
    assert cut.size == classes + 1


def test_labels_are_read_by_their_place_and_signs_as_two_numbers() -> None:
    records = read(Continuous("x", low=0, high=1), [0.0, 0.0])
    assert Labels(randomizer=COIN).read(records).tolist() == [0, 1]
    assert Signs(randomizer=NUMBER).read(records).tolist() == [-1, 1]


def test_records_without_labels_are_refused_where_a_label_is_asked() -> None:
    records = read(Continuous("x", low=0, high=1), [0.25], labelled=False)
    with pytest.raises(ParameterError, match="labelled for this phase") as refusal:
        labels_of(records)
    assert "0.25" not in str(refusal.value)


@pytest.mark.parametrize("read_target", [labels_of, numbers_of])
def test_a_target_that_was_not_read_is_refused_and_not_shown(read_target: Any) -> None:
    for held in ("271828", "secret", None, b"271828"):
        target = np.array([held, held], dtype=object if held is None else None)
        records = Records(attributes=(), columns={}, target=target, rows=2)
        with pytest.raises(RecordError, match="read by its schema first") as caught:
            read_target(records)
        error: BaseException = caught.value
        assert error.__context__ is error.__cause__ is None
        assert not any(word in f"{error!r} {error}" for word in ("271828", "secret", "None"))


def test_targets_that_were_read_are_numbers() -> None:
    for kind in (np.int64, np.int32, np.uint8, np.float64):
        records = Records(attributes=(), columns={}, target=np.arange(3).astype(kind), rows=3)
        labels, numbers = labels_of(records), numbers_of(records)
        assert (labels.dtype.name, numbers.dtype.name) == ("int64", "float64")
        assert labels.tolist() == numbers.tolist() == [0, 1, 2]


def test_what_is_unchanged_says_that_it_promises_nothing() -> None:
    same = Unchanged(3)
    assert same.epsilon == math.inf
    assert same.exact_channel() == [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    told = same.randomize(same.inputs(), simulation(1))
    assert told.symbols.tolist() == [0, 1, 2] == same.inputs().tolist()
    assert told.simulation


@pytest.mark.parametrize("size", [1, 0, -1, 2.5])
def test_an_alphabet_of_less_than_two_symbols_is_refused(size: Any) -> None:
    with pytest.raises(ParameterError, match="size"):
        Unchanged(size)
