"""Owners asked for sampled reports and for the answer of a model: once, or a refusal."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import BudgetError, MessageError, RecordError, simulation
from supm.collection import account, plan
from supm.messages import CellAnswers, Scorecard, Study
from supm.owner import Owner, interview
from supm.privacy import Budget, PureLDP
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
NUMBER = replace(SCHEMA, target=Continuous("cost", low=0, high=1000))
RECORD = {"age": 61.0625, "stage": "II", "ward": "south", "ill": "yes", "cost": 123.4375}
SAMPLED = plan(SCHEMA, epsilon=2.0, classes=2, told=2, test="sample")
OPEN = plan(SCHEMA, epsilon=2.0, classes=2)


def card(slope: float, outputs: int = 2) -> Scorecard:
    table = np.zeros((2, outputs))
    table[1, -1] = slope
    return Scorecard(points=(table,) * 3, offsets=np.zeros(outputs))


ANSWER = OPEN.with_rule(card(1.0))
ANSWER_OF_NUMBER = plan(NUMBER, epsilon=2.0, classes=2).with_rule(card(0.2, 1))
ASKED = [(SAMPLED, "train"), (SAMPLED, "test"), (ANSWER, "test"), (ANSWER_OF_NUMBER, "test")]
every_question = pytest.mark.parametrize(
    ("study", "phase"), ASKED, ids=["sample train", "sample test", "answer", "number"]
)


@every_question
def test_a_report_is_drawn_once_and_remembered(study: Study, phase: str) -> None:
    memory: dict[str, Any] = {}
    first = Owner(memory=memory).answer(study, phase, RECORD)
    kept = json.loads(json.dumps(memory))
    for _ in range(5):
        assert Owner(memory=kept).answer(study, phase, RECORD) == first
    assert len(first.symbols) == interview(study, phase).width
    # Different owners, and not the same symbols for all of them.
    told = {
        Owner(source=simulation(seed)).answer(study, phase, RECORD).symbols for seed in range(40)
    }
    assert len(told) > 1


@every_question
def test_the_budget_pays_what_the_statement_says(study: Study, phase: str) -> None:
    promise = account(study).phases[phase]
    assert isinstance(promise, PureLDP)
    assert promise == interview(study, phase).guarantee
    wallet = Budget(PureLDP(2.0))
    owner = Owner(source=simulation(1), budget=wallet)
    owner.answer(study, phase, RECORD)
    assert wallet.spent == promise
    with pytest.raises(BudgetError):
        owner.answer(other(study), phase, RECORD)
    assert wallet.spent == promise
    small = Owner(source=simulation(1), budget=Budget(PureLDP(1.99)))
    with pytest.raises(BudgetError):
        small.answer(study, phase, RECORD)


def other(study: Study) -> Study:
    """Return another study that asks something else: one symbol more, or another model's answer."""
    if study.rule is None:
        return plan(SCHEMA, epsilon=2.0, classes=3, told=2, test="sample")
    fresh = replace(study, rule=None, previous=None, purpose="again")
    return fresh.with_rule(card(-1.0, study.outputs))


def test_a_second_model_of_the_same_test_is_not_answered() -> None:
    """One answer for each model would tell as much as there are models."""
    memory: dict[str, Any] = {}
    first = Owner(source=simulation(1), memory=memory).answer(ANSWER, "test", RECORD)
    for rule in (card(-1.0), card(1.0000001), CellAnswers(answers=np.zeros(8, dtype=np.int64))):
        with pytest.raises(BudgetError, match="a second answer would cost more than it states"):
            Owner(source=simulation(2), memory=memory).answer(OPEN.with_rule(rule), "test", RECORD)
    again = OPEN.with_rule(card(1.0))
    assert Owner(source=simulation(3), memory=memory).answer(again, "test", RECORD) == first


def test_who_trained_is_not_tested() -> None:
    memory: dict[str, Any] = {}
    Owner(source=simulation(1), memory=memory).answer(OPEN, "train", RECORD)
    with pytest.raises(BudgetError, match="people who train or are tested, not both"):
        Owner(source=simulation(1), memory=memory).answer(ANSWER, "test", RECORD)
    memory = {}
    Owner(source=simulation(1), memory=memory).answer(ANSWER, "test", RECORD)
    for study in (OPEN, ANSWER):
        with pytest.raises(BudgetError, match="not both"):
            Owner(source=simulation(1), memory=memory).answer(study, "train", RECORD)


def test_groups_are_kept_where_classes_are_merged_on_the_way() -> None:
    study = plan(SCHEMA, epsilon=2.0, classes=3, reduce="regroup", test="sample")
    reduced = study.reduced(SCHEMA.names, ((0, 0, 1), (0, 1, 1), (0, 1)))
    elsewhere = study.reduced(SCHEMA.names, ((0, 1, 1), (0, 1, 1), (0, 1)))
    seen = set()
    for seed in range(12):
        owner = Owner(source=simulation(seed))
        group = owner.group(study)
        assert owner.group(reduced) == group
        seen.add(group)
        mine, yours = [(study, "reduce"), (reduced, "train")][:: 1 if group == 0 else -1]
        assert owner.answer(*mine, RECORD).group == group
        with pytest.raises(BudgetError, match="asks another group"):
            owner.answer(*yours, RECORD)
        if group == 1:
            with pytest.raises(BudgetError, match="a second answer would cost more"):
                owner.answer(elsewhere, "train", RECORD)
    assert seen == {0, 1}


def test_without_a_model_there_is_no_answer() -> None:
    memory: dict[str, Any] = {}
    with pytest.raises(MessageError, match="with_rule"):
        Owner(memory=memory).answer(OPEN, "test", RECORD)
    assert memory == {}


def test_the_label_of_a_record_to_be_answered_is_not_looked_at() -> None:
    for study, phase in ASKED[1:]:
        bare = {name: RECORD[name] for name in SCHEMA.names}
        one, two = (
            Owner(source=simulation(4)).answer(study, phase, each) for each in (bare, RECORD)
        )
        assert one == two


@every_question
@pytest.mark.parametrize("wrong", ["271828", None, [271828], {"271828": 1}])
def test_a_record_that_does_not_fit_is_refused_and_no_value_is_shown(
    study: Study, phase: str, wrong: Any
) -> None:
    memory: dict[str, Any] = {}
    with pytest.raises(RecordError) as caught:
        Owner(memory=memory).answer(study, phase, RECORD | {"stage": wrong})
    error: BaseException | None = caught.value
    while error is not None:
        assert "271828" not in f"{error!r} {error}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert memory == {}


@every_question
def test_nothing_of_the_record_is_remembered(study: Study, phase: str) -> None:
    memory: dict[str, Any] = {}
    Owner(memory=memory).answer(study, phase, RECORD)
    text = json.dumps(memory)
    for value in ("61.0625", "123.4375", "south", "yes"):
        assert value not in text


@every_question
def test_a_damaged_memory_is_not_sent(study: Study, phase: str) -> None:
    memory: dict[str, Any] = {}
    Owner(memory=memory).answer(study, phase, RECORD)
    answer = next(key for key in memory if key.startswith("answer "))
    report = next(key for key in memory if key.startswith("report "))
    for symbols in ([], [1 << 40] * len(memory[answer]), "0", [-1] * len(memory[answer])):
        damaged = {key: each for key, each in memory.items() if key != report} | {answer: symbols}
        with pytest.raises(MessageError, match="damaged"):
            Owner(memory=damaged).answer(study, phase, RECORD)
