"""What leaves an owner: a report that follows the exact channel and says nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from supm import simulation
from supm.collection import plan
from supm.mechanisms import Reports
from supm.messages import Report, Scorecard, Study
from supm.owner import Owner, interview
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
RECORD = {"age": 61, "stage": "II", "ward": "south", "ill": "yes"}
ODP = plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("age", "stage"), classes=2)
JOINT = plan(SCHEMA, epsilon=2.0, attributes=("age",), classes=2, train="joint", test="joint")
RANK = plan(SCHEMA, epsilon=2.0, reduce="rank", keep=1, test="sample")
SAMPLED = plan(SCHEMA, epsilon=2.0, classes=2, told=2, test="sample")
CARD = Scorecard(
    points=tuple(np.array([[0.0, 0.0], [0.0, 1.0]]) for _ in range(3)), offsets=np.array([1.5, 0.0])
)
ANSWER = plan(SCHEMA, epsilon=2.0, classes=2).with_rule(CARD)


def test_a_report_says_which_question_it_answers_and_not_whose_it_is() -> None:
    reports = [Owner().answer(ODP, "train", RECORD) for _ in range(40)]
    assert len({report.id for report in reports}) == 40
    for report in reports:
        form = json.loads(report.to_json())
        assert set(form) == {"version", "study", "phase", "group", "symbols", "id"}
        assert {name: form[name] for name in ("version", "study", "phase", "group")} == {
            "version": 1,
            "study": ODP.hash,
            "phase": "train",
            "group": 0,
        }
        assert Report.from_json(report.to_json()) == report


def test_the_id_of_a_report_is_drawn_after_and_apart_from_the_answer() -> None:
    young, old = (RECORD | {"age": age} for age in (1, 99))
    told = [Owner(source=simulation(5)).answer(ODP, "train", each) for each in (young, old)]
    assert told[0].id == told[1].id


@pytest.mark.parametrize(
    ("study", "phase"),
    [
        (ODP, "train"),
        (ODP, "test"),
        (JOINT, "train"),
        (JOINT, "test"),
        (SAMPLED, "train"),
        (SAMPLED, "test"),
        (ANSWER, "test"),
        (replace(RANK, groups=(1, 1)), "reduce"),
        (plan(SCHEMA, epsilon=4.0, mode="faithful", reduce="waldp", keep=2), "reduce"),
    ],
    ids=[
        "odp train",
        "odp test",
        "joint train",
        "joint test",
        "sample train",
        "sample test",
        "answer",
        "rank",
        "waldp",
    ],
)
def test_what_owners_tell_follows_the_exact_channel(study: Study, phase: str) -> None:
    asked = interview(study, phase)
    schema = SCHEMA if phase == "reduce" else replace(SCHEMA, attributes=study.asked(phase))
    records = schema.read([RECORD], labelled=phase != "test")
    row = int(np.flatnonzero((asked.inputs() == asked.encode(records)[0]).all(axis=1))[0])
    expected = np.array([float(each) for each in asked.exact_channel()[row]])
    told: list[tuple[int, ...]] = []
    source = simulation(17)
    while len(told) < 500:
        owner = Owner(source=source)
        if phase == "test" or len(study.groups) == 1 or owner.group(study) == 0:
            told.append(owner.answer(study, phase, RECORD).symbols)
    reports = Reports(symbols=np.array(told), simulation=True)
    seen = np.bincount(asked.outcome(reports), minlength=len(expected))
    assert chisquare(*pooled(seen, expected * len(told))).pvalue > 1e-4


def pooled(seen: Any, expected: Any) -> tuple[Any, Any]:
    """Put outcomes that are expected fewer than eight times into one."""
    rare = expected < 8
    if not rare.any():
        return seen, expected
    both = [np.append(each[~rare], each[rare].sum()) for each in (seen, expected)]
    return both[0], both[1]
