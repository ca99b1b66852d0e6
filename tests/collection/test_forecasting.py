"""A plan is tried on people who do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from supm import simulation
from supm._errors import ParameterError
from supm.collection import forecast, plan
from supm.collection.forecasting import made_up_people
from supm.schema import Categorical, Continuous, Ordinal, Schema

MIXED = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("pain", values=("none", "mild", "strong")),
        Categorical("ward", values=("north", "east", "south", "west"), missing="class"),
        Continuous("dose", low=-1, high=1),
    ),
    target=Categorical("state", values=("a", "b", "c")),
)
NUMBER = Schema(
    attributes=(Continuous("age", low=0, high=100),), target=Continuous("pulse", low=40, high=140)
)


def test_made_up_people_fit_the_schema() -> None:
    people = made_up_people(MIXED, 500, simulation(1))
    assert people.rows == 500
    for attribute, top in (("age", 100.0), ("pain", 2), ("ward", 3), ("dose", 1.0)):
        assert people.columns[attribute].max() <= top
    assert people.target is not None
    assert set(np.unique(people.target)) == {0, 1, 2}


def test_a_larger_budget_is_forecast_to_answer_better() -> None:
    found = [
        forecast(plan(MIXED, epsilon=epsilon), owners=2000, source=simulation(1), repeats=1)
        for epsilon in (0.5, 8.0)
    ]
    assert found[0].answered + 0.1 < found[1].answered
    assert found[1].on_device > found[1].majority + 0.1


def test_the_same_seed_forecasts_the_same() -> None:
    study = plan(MIXED, epsilon=4.0)
    one, two = (forecast(study, owners=300, source=simulation(7), repeats=1) for _ in range(2))
    assert one == two


def test_two_groups_can_be_forecast() -> None:
    study = plan(MIXED, epsilon=4.0, owners=20_000, reduce="regroup")
    assert study.reduction == "regroup"
    found = forecast(study, owners=20_000, source=simulation(1), repeats=1)
    assert found.on_device > found.majority + 0.1


def test_a_number_has_no_forecast() -> None:
    with pytest.raises(ParameterError, match="classes for a forecast"):
        forecast(plan(NUMBER, epsilon=4.0), owners=500, source=simulation(1))


def test_a_handful_of_owners_is_refused() -> None:
    with pytest.raises(ParameterError, match="owners"):
        forecast(plan(MIXED, epsilon=4.0), owners=3, source=simulation(1))
