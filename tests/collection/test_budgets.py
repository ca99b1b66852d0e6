"""A forecast compares budgets, not protocols: what was chosen for a study stays chosen."""

from __future__ import annotations

from typing import Any

import pytest

from supm import simulation
from supm.collection import forecast, plan
from supm.collection.budgets import _other, accuracy_by_budget
from supm.datasets import load_wdbc
from supm.messages import Study
from supm.schema import Categorical, Continuous, Ordinal, Schema

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
