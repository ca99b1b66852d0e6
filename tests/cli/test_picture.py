from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from supm import simulation
from supm.cli._outcome import Evaluation, Outcome, measure
from supm.cli._picture import curve
from supm.collection import plan
from supm.datasets import load_wdbc
from supm.learning import RadialSVM


def outcome(**wishes: Any) -> Outcome:
    data = load_wdbc()
    study = plan(data.schema, epsilon=2.0, attributes=["mean radius"], **wishes)
    return measure([study], data.records(), simulation(1), Evaluation(2, 1, RadialSVM()))


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
    kinds = {line.kind for line in drawn.lines}
    assert ("answered" in kinds) == (not trust.endswith("d"))
    assert ("limit" in kinds) == (trust in ("u,u,u", "u,t,u"))
    assert drawn.title.endswith("1 repetition of 2-fold cross-validation; simulation, not private")


def test_the_limit_of_an_answer_is_that_of_randomized_response_or_the_majority() -> None:
    found = outcome()
    (limit,) = (line for line in curve(found, "WDBC").lines if line.kind == "limit")
    assert limit.values[-1] == pytest.approx(math.exp(2) / (1 + math.exp(2)))
    weak = replace(found, majority=0.95)
    (limit,) = (line for line in curve(weak, "WDBC").lines if line.kind == "limit")
    assert set(limit.values) == {0.95}


@pytest.mark.parametrize("trust", ["u,u,u", "u,u,d"])
def test_where_classes_have_weights_balanced_accuracy_is_drawn(trust: str) -> None:
    found = replace(outcome(trust=trust), weights=(1.0, 3.0), majority=0.95)
    (result,) = found.results
    drawn = curve(found, "WDBC")
    assert drawn.measure.startswith("balanced accuracy")
    assert drawn.title.endswith("weights of the classes in training: benign=1, malignant=3")
    values = {line.kind: line.values for line in drawn.lines}
    assert values["device"] == (result.on_device_balanced_accuracy_mean,)
    assert ("answered" in values) == trust.endswith("u")
    assert values.get("answered", (result.balanced_accuracy_mean,))[0] == pytest.approx(
        result.balanced_accuracy_mean
    )
    assert [level.value for level in drawn.levels] == [found.baseline.balanced, 0.5]
    limit = values.get("limit", (math.exp(2) / (1 + math.exp(2)),))
    assert limit[-1] == pytest.approx(math.exp(2) / (1 + math.exp(2)))


@pytest.mark.parametrize(("weights", "said"), [("balanced", "balanced"), ((1.0,) * 5, "as given")])
def test_the_title_says_the_weights_shortly(weights: Any, said: str) -> None:
    drawn = curve(replace(outcome(), weights=weights), "WDBC")
    assert drawn.title.endswith(f"\nweights of the classes in training: {said}")
