"""A plan is tried on people who do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm._errors import ParameterError
from supm.collection import forecast, plan
from supm.collection.forecasting import _other, accuracy_by_budget, made_up_people
from supm.datasets import load_wdbc
from supm.messages import Study
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


SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
WISHES: list[dict[str, Any]] = [
    {},
    {"classes": 5},
    {"reduce": "rank", "keep": 8, "classes": 5},
    {"reduce": "rank", "sampled": 1, "told": 3},
    {"reduce": "regroup", "train": "joint", "keep": 2},
    {"reduce": "waldp", "keep": 3, "reduce_share": 0.3, "train": "odp", "test": "odp"},
    {"reduce": "pw", "train": "pw", "test": "pw"},
    {"attributes": ["mean radius", "mean area"], "told": 1},
    {"attributes": ["mean radius", "mean area"], "train": "joint", "trust": "u,u,d"},
    {"mode": "faithful"},
    {"mode": "faithful", "keep": 3, "classes": 4},
    {"mode": "faithful", "reduce": "wa", "train": "sample", "trust": "t,u,d"},
]


def forms(study: Study) -> list[tuple[str, str]]:
    return [(each.phase, each.form) for each in study.questions]


@pytest.mark.parametrize("wishes", WISHES, ids=str)
@pytest.mark.parametrize("owners", [None, 5000])
def test_another_budget_asks_in_the_same_way(wishes: dict[str, Any], owners: int | None) -> None:
    schema = load_wdbc().schema
    study = plan(schema, epsilon=4.0, owners=owners, **wishes)
    assert _other(study, 4.0, 500).hash == study.hash, "it does not depend on who is expected"
    for epsilon in (1.0, 16.0):
        other = _other(study, epsilon, 500)
        assert other.hash == plan(schema, epsilon=epsilon, owners=500, **wishes).hash
        assert (other.epsilon, other.reduction) == (epsilon, study.reduction)
        assert forms(other) == forms(study)


def test_what_a_rule_gives_follows_the_budget() -> None:
    study = plan(load_wdbc().schema, epsilon=4.0, reduce="rank", keep=8)
    told = [_other(study, epsilon, 500).question("train") for epsilon in (1.0, 16.0)]
    first, last = [each.sampled for each in told if each is not None]
    assert isinstance(first, int)
    assert isinstance(last, int)
    assert first < last


def test_the_points_are_those_of_the_studys_own_protocol() -> None:
    wishes: dict[str, Any] = {"reduce": "rank", "keep": 2, "classes": 3}
    found = accuracy_by_budget(plan(SCHEMA, epsilon=4.0, **wishes), 60)
    assert [each["epsilon"] for each in found["points"]] == [1.0, 2.0, 4.0, 8.0, 16.0]
    for each in found["points"]:
        tried = plan(SCHEMA, epsilon=each["epsilon"], **wishes)
        same = forecast(tried, owners=60, source=simulation(1), repeats=3)
        assert (each["answered"], each["on_device"]) == (same.answered, same.on_device)
