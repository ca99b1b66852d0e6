from __future__ import annotations

from typing import Any

import pytest

from supm import simulation
from supm.cli._baseline import Baseline
from supm.cli._figures import between, curve
from supm.cli._outcome import Outcome, measure
from supm.collection import plan
from supm.datasets import load_wdbc
from supm.learning import RadialSVM


def outcome(**wishes: Any) -> Outcome:
    data = load_wdbc()
    study = plan(data.schema, epsilon=2.0, attributes=["mean radius"], **wishes)
    return measure([study], data.records(), simulation(1), folds=2, repeats=1, learner=RadialSVM())


@pytest.mark.parametrize(
    ("trust", "axis"),
    [
        ("u,u,u", "budget of each owner, epsilon (smaller is more private)"),
        ("u,u,d", "budget of each owner, epsilon (smaller is more private)"),
        ("u,t,u", "budget of each tested owner, epsilon; training owners are promised nothing"),
        ("u,u,t", "budget of each training owner, epsilon; tested owners are promised nothing"),
        ("u,t,d", "epsilon of the plan; training owners are promised nothing"),
        ("t,t,t", "epsilon of the plan; nothing is promised to anybody"),
    ],
)
def test_the_axis_says_whose_budget_it_is(trust: str, axis: str) -> None:
    drawn = curve(outcome(trust=trust), "WDBC")
    assert drawn.budget == axis
    assert drawn.tested_on_device == trust.endswith("d")
    assert drawn.title.endswith("1 repetition of 2-fold cross-validation; simulation, not private")


def test_the_two_lines_are_said_with_people_and_repetitions() -> None:
    found = outcome()
    assert found.baseline == Baseline(accuracy=found.baseline.accuracy, people=569, repeats=1)
    words = between(found)
    assert (
        f"without privacy, on the raw data of 569 people, for {found.baseline.accuracy:.1%}"
        in words
    )
    assert "(1 repetition)." in words
