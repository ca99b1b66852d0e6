"""Where a classifier sees a symbol: each attribute on [-1, 1], whatever form told it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.collection import plan
from supm.collection.features import class_features, class_numbers, label_numbers, number_features
from supm.messages import Trust
from supm.owner import interview
from supm.owner.columns import Classes, Labels, Numbers, Signs, Unchanged
from supm.owner.separate import SeparateInterview
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Schema, discretize

KINDS: list[Attribute] = [
    Continuous("number", low=10, high=30),
    Continuous("gap", low=10, high=30, missing="class"),
    Ordinal("order", values=("low", "middle", "high")),
    Ordinal("order with gap", values=("low", "middle", "high"), missing="class"),
    Categorical("two", values=("a", "b")),
    Categorical("two with gap", values=("a", "b"), missing="class"),
]


def test_ordered_classes_are_one_number_and_others_are_one_hot() -> None:
    ward = discretize(Categorical("ward", values=("e", "w", "n")), 5)
    number = discretize(Continuous("number", low=10, high=30), 2)
    found = class_features(np.array([[0, 2], [1, 0]]), (number, ward))
    assert found.tolist() == [[-0.5, -1.0, -1.0, 1.0], [0.5, 1.0, -1.0, -1.0]]
    assert class_numbers(ward) is None


@pytest.mark.parametrize("attribute", KINDS, ids=lambda each: each.name)
def test_a_class_lies_within_half_a_class_of_the_number_it_stands_for(attribute: Any) -> None:
    schema = Schema(attributes=(attribute,), target=Categorical("t", values=("p", "q")))
    held = list(getattr(attribute, "values", np.linspace(10, 30, 101)))
    held += [None] if attribute.missing == "class" else []
    records = schema.read({attribute.name: held}, labelled=False)
    column = Numbers(attribute=attribute, randomizer=Unchanged((1 << 20) + 1))
    exact = number_features(column.read(records)[:, np.newaxis], (column,))
    discretizer = discretize(attribute, 4)
    placed = class_features(records.encode((discretizer,)), (discretizer,))
    # Forms may be mixed: the classifier that saw one form must be able to see the other.
    assert placed.shape == exact.shape == (len(held), 1)
    assert abs(placed - exact).max() <= 0.25 + 1e-6
    assert abs(exact).max() <= 1.0


@pytest.mark.parametrize(("low", "high"), [(-1e308, 1e308 / 2), (0.0, 5e-300), (1e15, 1e15 + 8)])
def test_extreme_bounds_are_scaled_without_overflow(low: float, high: float) -> None:
    scale = class_numbers(discretize(Continuous("a", low=low, high=high), 4))
    assert scale is not None
    np.testing.assert_allclose(scale, [-0.75, -0.25, 0.25, 0.75], atol=1e-9)


def test_readings_of_pw_reports_are_unbiased(make_people: Any) -> None:
    people = make_people(20_000)
    study = plan(people.schema, epsilon=8.0, attributes=["strong"], train="pw", test="pw")
    asked = interview(study, "train")
    assert isinstance(asked, SeparateInterview)
    symbols = asked.randomize(asked.encode(people.records), simulation(1)).symbols
    readings = number_features(symbols[:, :-1], asked.columns)[:, 0]
    error = readings - people.table["strong"]
    assert abs(error.mean()) < 6 * error.std() / np.sqrt(20_000)


def test_labels_are_read_by_sign_or_as_they_are(make_people: Any) -> None:
    people = make_people(200)
    for form, kind in (("pw", Signs), ("odp", Labels), ("raw", Labels)):
        study = plan(
            people.schema,
            epsilon=60.0,
            trust=Trust.parse("u,t,t"),
            attributes=["strong"],
            train=form,
        )
        asked = interview(study, "train")
        assert isinstance(asked, SeparateInterview)
        assert isinstance(asked.label, kind)
        symbols = asked.randomize(asked.encode(people.records), simulation(1)).symbols
        assert (label_numbers(symbols[:, -1], asked.label) == people.records.target).all()


def test_what_tells_no_number_or_no_label_is_refused() -> None:
    discretizer = discretize(Continuous("a", low=0, high=1), 2)
    column = Classes(discretizer=discretizer, randomizer=Unchanged(2))
    with pytest.raises(ParameterError, match="a number"):
        number_features(np.array([[0]]), (column,))
    with pytest.raises(ParameterError, match="told in the train phase"):
        label_numbers(np.array([0]), None)
