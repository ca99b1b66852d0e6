from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError, RecordError
from supm.collection import make_statement, plan
from supm.messages import CellAnswers, Model, Rule, Scorecard, Study
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III"), missing="class"),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "perhaps", "yes")),
)
STUDY = plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("stage", "age"), classes=3)


def model_of(study: Study, answers: Any) -> Model:
    statement = make_statement(study, simulation=True)
    return Model(study=study, rule=CellAnswers(answers=answers), statement=statement)


def table_of(model: Model) -> Any:
    assert isinstance(model.rule, CellAnswers)
    return model.rule.answers


MODEL = model_of(STUDY, np.arange(12) % 3)


def test_a_model_is_read_as_it_was_written() -> None:
    again = Model.from_json(MODEL.to_json())
    assert again.to_json() == MODEL.to_json()
    assert again.study == STUDY
    assert again.statement == MODEL.statement
    assert again.rule == MODEL.rule


def test_the_last_attribute_of_a_cell_runs_fastest() -> None:
    assert MODEL.sizes == (4, 3)
    table = [
        {"stage": stage, "age": age} for stage in ("I", "II", "III", None) for age in (5, 50, 95)
    ]
    records = Schema(attributes=STUDY.asked("test"), target=SCHEMA.target).read(
        table, labelled=False
    )
    assert MODEL.predict(records).tolist() == (np.arange(12) % 3).tolist()
    assert [MODEL.labels[number] for number in MODEL.predict(records)[:3]] == [
        "no",
        "perhaps",
        "yes",
    ]


def test_a_record_that_does_not_fit_shows_no_value() -> None:
    with pytest.raises(RecordError, match="age") as caught:
        SCHEMA.read([{"age": "eighty", "stage": "I", "ward": "north"}], labelled=False)
    assert "eighty" not in str(caught.value)


def test_the_answers_of_a_model_cannot_be_changed_and_the_maker_keeps_an_own_array() -> None:
    made = np.zeros(12, dtype=np.int64)
    model = model_of(STUDY, made)
    with pytest.raises(ValueError, match="read-only"):
        table_of(model)[0] = 1
    made[0] = 1
    assert table_of(model)[0] == 0


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (np.zeros(11, dtype=np.int64), "answers must be 12 whole numbers"),
        (np.zeros((3, 4), dtype=np.int64), "answers must be a list of whole numbers"),
        (np.zeros(12), "answers must be a list of whole numbers"),
        ([0.5] * 12, "answers must be a list of whole numbers"),
        ("labels", "answers must be a list of whole numbers"),
        (None, "answers must be a list of whole numbers"),
        (np.full(12, 3), "answers must be numbers below 3"),
        (np.full(12, -1), "answers must be numbers below 3"),
    ],
)
def test_answers_that_do_not_fit_the_study_are_refused(answers: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        model_of(STUDY, answers)


def test_a_statement_about_another_study_is_refused() -> None:
    other = plan(SCHEMA, epsilon=1.0, mode="faithful", attributes=("stage", "age"), classes=3)
    statement = make_statement(other, simulation=True)
    with pytest.raises(ParameterError, match="statement must be about the model's study"):
        Model(study=STUDY, rule=MODEL.rule, statement=statement)
    form = json.loads(MODEL.to_json()) | {"statement": statement.to_form()}
    with pytest.raises(MessageError, match="statement must be about the model's study"):
        Model.from_json(json.dumps(form))


def test_a_model_has_chosen_attributes_and_not_too_many_cells() -> None:
    open_study = plan(SCHEMA, epsilon=3.0, mode="faithful", keep=2)
    with pytest.raises(MessageError, match="needs the chosen attributes"):
        model_of(open_study, np.zeros(1, dtype=np.int64))
    columns = tuple(Continuous(f"x{n}", low=0, high=1) for n in range(11))
    wide = Schema(attributes=columns, target=SCHEMA.target)
    study = plan(wide, epsilon=3.0, mode="faithful", attributes=wide.names, classes=4)
    with pytest.raises(ParameterError, match="cells of a published model must be"):
        model_of(study, np.zeros(1, dtype=np.int64))


def test_classes_that_a_narrow_range_does_not_hold_are_refused_as_a_message() -> None:
    form = json.loads(MODEL.to_json())
    form["study"]["schema"]["attributes"][0] |= {"low": 1.0, "high": 1.0000000000000002}
    form["statement"]["study"] = Study.from_form(form["study"]).hash
    with pytest.raises(MessageError, match="too narrow for 3 classes"):
        Model.from_json(json.dumps(form))


@pytest.mark.parametrize("version", [0, 1, 3, "2", True, None])
def test_another_version_is_refused(version: object) -> None:
    form = json.loads(MODEL.to_json()) | {"version": version}
    with pytest.raises(MessageError, match="version of a model must be 2"):
        Model.from_json(json.dumps(form))


def test_damage_is_refused_or_read_as_another_model(
    survives_damage: Callable[[str, Callable[[str], Any]], int],
) -> None:
    # The study inside is bound by its hash, so no damage to it passes.
    assert survives_damage(MODEL.to_json(), Model.from_json) > 1500


CARD = Scorecard(
    points=(np.arange(12.0).reshape(4, 3) / 5, np.zeros((3, 3))), offsets=np.array([0.5, 0.0, -0.9])
)
NUMBERS = replace(SCHEMA, target=Continuous("cost", low=0, high=200))
NUMBER = plan(NUMBERS, epsilon=3.0, attributes=("stage", "age"), classes=3)
LINE = Scorecard(
    points=(np.array([[-0.5], [0.0], [0.5], [2.0]]), np.zeros((3, 1))), offsets=np.zeros(1)
)
TABLE = [{"stage": stage, "age": 5, "ward": "north"} for stage in ("I", "II", "III", None)]


def ruled(study: Study, rule: Rule) -> Model:
    return Model(study=study, rule=rule, statement=make_statement(study, simulation=True))


def test_a_scorecard_gives_the_label_of_most_points_and_its_probability() -> None:
    model = ruled(STUDY, CARD)
    records = STUDY.schema.read(TABLE, labelled=False)
    found = model.probabilities(records)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.argmax(axis=1).tolist() == model.predict(records).tolist()
    assert Model.from_json(model.to_json()).rule == CARD
    with pytest.raises(ParameterError, match="rule must be a scorecard with labels"):
        MODEL.probabilities(records)
    with pytest.raises(ParameterError, match="target must be a number; ask to predict"):
        model.values(records)


def test_a_model_of_a_number_gives_it_in_the_unit_of_the_target() -> None:
    model = ruled(NUMBER, LINE)
    records = NUMBER.schema.read(TABLE, labelled=False)
    assert model.values(records).tolist() == [50.0, 100.0, 150.0, 200.0]
    assert model.labels == ()
    with pytest.raises(ParameterError, match="target must be a list of classes; ask for values"):
        model.predict(records)
    with pytest.raises(ParameterError, match="rule must be a scorecard"):
        model.probabilities(records)
    with pytest.raises(ParameterError, match="a scorecard where the target is a number"):
        ruled(NUMBER, CellAnswers(answers=np.zeros(12, dtype=np.int64)))


@pytest.mark.parametrize(
    ("study", "rule"), [(STUDY, CARD), (NUMBER, LINE)], ids=["labels", "number"]
)
def test_damage_to_a_scorecard_is_refused_or_read_as_another_model(
    study: Study, rule: Rule, survives_damage: Callable[[str, Callable[[str], Any]], int]
) -> None:
    assert survives_damage(ruled(study, rule).to_json(), Model.from_json) > 1500


def test_a_model_is_about_the_study_before_a_rule_is_put_into_it() -> None:
    study = plan(SCHEMA, epsilon=3.0, attributes=("stage", "age"), classes=3)
    with pytest.raises(ParameterError, match="study must be the one before a rule is put into it"):
        ruled(study.with_rule(CARD), CARD)
    with pytest.raises(ParameterError, match="rule must be CellAnswers or a Scorecard"):
        ruled(study, {"kind": "cells"})  # type: ignore[arg-type]
