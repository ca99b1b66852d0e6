"""Two questions that differ in anything that an answer depends on are answered independently."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from supm.collection import plan
from supm.messages import Study
from supm.owner import Owner
from supm.schema import Categorical, Continuous, Schema

SCHEMA = Schema(
    attributes=(Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=200)),
    target=Categorical("ill", values=("no", "yes")),
)
RECORD = {"age": 61, "pulse": 80, "ill": "yes"}
OLDER = replace(SCHEMA, attributes=(Continuous("age", low=0, high=120), SCHEMA.attributes[1]))
TURNED = replace(SCHEMA, target=Categorical("ill", values=("yes", "no")))


def asked(schema: Schema = SCHEMA, **wishes: Any) -> Study:
    return plan(schema, epsilon=3.0, mode="faithful", **wishes)


def on_grid(steps: int) -> Study:
    """Return a study that asks for numbers on a grid of so many steps."""
    study = asked(attributes=["age"], train="pw")
    finer = (replace(each, steps=each.steps and steps) for each in study.questions)
    return replace(study, questions=tuple(finer))


@pytest.mark.parametrize(
    ("phase", "one", "other"),
    [
        ("train", asked(attributes=["age"]), asked(OLDER, attributes=["age"])),
        ("train", asked(attributes=["age"]), asked(TURNED, attributes=["age"])),
        ("train", on_grid(64), on_grid(128)),
        ("reduce", *(asked(reduce="waldp", keep=1, sampled=count) for count in (1, 2))),
    ],
    ids=["bounds", "order of labels", "steps", "sampled"],
)
def test_questions_that_differ_in_one_thing_get_two_answers(
    phase: str, one: Study, other: Study
) -> None:
    memory: dict[str, Any] = {}
    for study in (one, other):
        Owner(memory=memory).answer(study, phase, RECORD)
    assert sum(key.startswith("answer ") for key in memory) == 2
