from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from supm.collection import Simulation, simulate
from supm.datasets import load_wdbc


def outcome(**wishes: Any) -> Simulation:
    data = load_wdbc()
    return simulate(
        data.records(),
        schema=data.schema,
        epsilon=2,
        folds=2,
        repeats=1,
        seed=1,
        name="WDBC",
        attributes=["mean radius"],
        **wishes,
    )


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
    drawn = outcome(trust=trust).curve
    assert drawn.budget == axis
    kinds = {line.kind for line in drawn.lines}
    assert ("answered" in kinds) == (not trust.endswith("d"))
    assert ("limit" in kinds) == (trust in ("u,u,u", "u,t,u"))
    assert drawn.title.endswith("1 repetition of 2-fold cross-validation; simulation, not private")


def test_the_limit_of_an_answer_is_that_of_randomized_response_or_the_majority() -> None:
    found = outcome()
    (limit,) = (line for line in found.curve.lines if line.kind == "limit")
    assert limit.values[-1] == pytest.approx(math.exp(2) / (1 + math.exp(2)))
    weak = replace(found, constant=0.95)
    (limit,) = (line for line in weak.curve.lines if line.kind == "limit")
    assert set(limit.values) == {0.95}


@pytest.mark.parametrize("trust", ["u,u,u", "u,u,d"])
def test_where_classes_have_weights_balanced_accuracy_is_drawn(trust: str) -> None:
    found = replace(outcome(trust=trust), weights=(1.0, 3.0), constant=0.95)
    (result,) = found.results
    drawn = found.curve
    assert drawn.measure.startswith("balanced accuracy")
    assert drawn.title.endswith("weights of the classes in training: benign=1, malignant=3")
    values: dict[str, tuple[float, ...]] = {line.kind: line.values for line in drawn.lines}
    assert values["device"] == (result.on_device.beside,)
    assert ("answered" in values) == trust.endswith("u")
    assert values.get("answered", (result.answered.beside,))[0] == pytest.approx(
        result.answered.beside
    )
    assert [level.value for level in drawn.levels] == [found.baseline.reached.beside, 0.5]
    limit = values.get("limit", (math.exp(2) / (1 + math.exp(2)),))
    assert limit[-1] == pytest.approx(math.exp(2) / (1 + math.exp(2)))


@pytest.mark.parametrize(("weights", "said"), [("balanced", "balanced"), ((1.0,) * 5, "as given")])
def test_the_title_says_the_weights_shortly(weights: Any, said: str) -> None:
    drawn = replace(outcome(), weights=weights).curve
    assert drawn.title.endswith(f"\nweights of the classes in training: {said}")
