"""What a study may become: merged classes, a rule, and always the hash of its own beginning."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError
from supm.messages import CellAnswers, Question, Scorecard, Study, Trust
from supm.schema import Categorical, Continuous, Ordinal, Regrouped, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III"), missing="class"),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
REDUCE = Question(phase="reduce", form="sample", epsilon=2.0, sampled=1)
TRAIN = Question(phase="train", form="sample", epsilon=2.0, sampled=2, group=1)
TEST = Question(phase="test", form="answer", epsilon=2.0)
STUDY = Study(
    schema=SCHEMA,
    trust=Trust(),
    mode="strict",
    epsilon=2.0,
    reduction="regroup",
    keep=2,
    classes=3,
    groups=(2, 3),
    questions=(REDUCE, TRAIN, TEST),
)
MERGES = ((0, 1, 1, 0), (0, 0, 1))
REDUCED = STUDY.reduced(("stage", "age"), MERGES)
CARD = Scorecard(points=(np.eye(2), np.eye(2) / 4), offsets=np.array([0.5, -0.5]))
RULED = REDUCED.with_rule(CARD)
NUMBER = replace(
    STUDY,
    schema=replace(SCHEMA, target=Continuous("cost", low=0, high=9)),
    questions=(REDUCE, TRAIN, replace(TEST, steps=64)),
)
WIDE = Schema(
    attributes=tuple(Continuous(f"x{n}", low=0, high=1) for n in range(300)), target=SCHEMA.target
)


def test_the_format_of_a_continued_study_has_not_changed_by_accident() -> None:
    # Owners consented to documents with these hashes: a new format needs a new version.
    assert STUDY.hash == "24f21adabe3d1ca660125a286ed0220558aa43fe5dad0969e41de483197999a3"
    assert REDUCED.hash == "a1c8858f5972c5a6c33e82abc102ef45c88c3fd18ca5d9b4cb56423d3424b776"
    assert RULED.hash == "9ae1c5e3c0b70ce4ec7b3329fad2368692c3fa63c7f278f4b5f3557e125980e5"


@pytest.mark.parametrize("study", [STUDY, REDUCED, RULED, NUMBER], ids=lambda each: each.hash[:4])
def test_a_study_is_read_as_it_was_written(study: Study) -> None:
    again = Study.from_json(study.to_json())
    assert again == study
    assert hash(again) == hash(study)
    assert again.hash == study.hash


@pytest.mark.parametrize("study", [REDUCED, RULED], ids=["merges", "rule"])
def test_damage_is_refused_or_read_as_another_study(
    study: Study, survives_damage: Callable[[str, Callable[[str], Any]], int]
) -> None:
    assert survives_damage(study.to_json(), Study.from_json) > 900


def test_each_step_names_the_beginning() -> None:
    assert STUDY.previous is None
    assert STUDY.beginning == STUDY.hash
    assert REDUCED.previous == RULED.previous == STUDY.hash
    assert RULED.beginning == STUDY.hash
    assert len({STUDY.hash, REDUCED.hash, RULED.hash}) == 3
    other = Scorecard(points=CARD.points, offsets=np.zeros(2))
    assert RULED.with_rule(other).previous == STUDY.hash
    known = replace(
        STUDY, reduction="known", attributes=("age", "ward"), groups=(1,),
        questions=(replace(TRAIN, group=0), TEST),
    )  # fmt: skip
    card = Scorecard(points=(np.zeros((3, 2)), np.zeros((2, 2))), offsets=np.zeros(2))
    assert known.with_rule(card).previous == known.hash


FORGED = [
    (STUDY, {"previous": STUDY.hash}),
    (REDUCED, {"previous": None}),
    (REDUCED, {"previous": "0" * 64}),
    (REDUCED, {"previous": REDUCED.hash}),
    (RULED, {"previous": None}),
    (RULED, {"previous": REDUCED.hash}),
    (RULED, {"previous": RULED.hash}),
    # What owners consented to changes, and the hash of their consent does not.
    (RULED, {"purpose": "another"}),
    (REDUCED, {"epsilon": 4.0}),
    (REDUCED, {"groups": [1, 1]}),
]


@pytest.mark.parametrize(("study", "wrong"), FORGED)
def test_a_study_cannot_pretend_to_continue_another(study: Study, wrong: dict[str, Any]) -> None:
    with pytest.raises(MessageError, match="previous must be"):
        Study.from_json(json.dumps(study.to_form() | wrong))


@pytest.mark.parametrize(
    ("merges", "words"),
    [
        (None, "merges must be given exactly where classes were merged"),
        ((), "merges must be one list for each chosen attribute"),
        (MERGES[:1], "merges must be one list for each chosen attribute"),
        ((*MERGES, (0, 1)), "merges must be one list for each chosen attribute"),
        (((), ()), "merges must be a group for each class of stage"),
        (((0, 1, 1), (0, 0, 1)), "merges must be a group for each class of stage"),
        ((MERGES[0], (0, 0, 1, 1)), "merges must be a group for each class of age"),
        (((0, 0, 0, 0), (0, 0, 1)), "groups of stage numbered from 0, at least two"),
        (((1, 1, 2, 2), (0, 0, 1)), "groups of stage numbered from 0, at least two"),
        (((0, 0, 2, 2), (0, 0, 1)), "groups of stage numbered from 0, at least two"),
        (((0, 1, 1, -1), (0, 0, 1)), "each group of merges must be a whole number"),
        (((0, 1, 1, True), (0, 0, 1)), "each group of merges must be a whole number"),
        (((0, 1, 1, 10**400), (0, 0, 1)), "each group of merges must be a whole number"),
        (((0, 1, 1, 0.0), (0, 0, 1)), "each group of merges must be a whole number"),
        (("0110", "001"), "merges must be a list"),
        ("01", "merges must be a list"),
    ],
)
def test_merges_that_do_not_fit_the_classes_are_refused(merges: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        STUDY.reduced(("stage", "age"), merges)


def test_merges_belong_to_a_study_that_regroups() -> None:
    with pytest.raises(ParameterError, match="merges must be given exactly where"):
        replace(STUDY, merges=MERGES)
    rank = replace(STUDY, reduction="rank")
    assert rank.reduced(("stage", "age")).discretizers("train")[0].size == 4
    with pytest.raises(ParameterError, match="merges must be given exactly where"):
        rank.reduced(("stage", "age"), MERGES)


def test_merged_classes_are_told_after_the_reduce_phase() -> None:
    assert [each.size for each in REDUCED.discretizers("reduce")] == [3, 4, 2]
    train = REDUCED.discretizers("train")
    assert [each.size for each in train] == [2, 2]
    assert all(isinstance(each, Regrouped) for each in train)
    assert train[0].encode(["I", "II", "III", None]).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "rule",
    [
        Scorecard(points=(np.eye(2),), offsets=np.zeros(2)),
        Scorecard(points=(np.zeros((4, 2)), np.zeros((3, 2))), offsets=np.zeros(2)),
        Scorecard(points=(np.zeros((2, 3)), np.zeros((2, 3))), offsets=np.zeros(3)),
        CellAnswers(answers=np.zeros(12, dtype=np.int64)),
        CellAnswers(answers=np.full(4, 2)),
    ],
)
def test_a_rule_about_other_classes_or_labels_is_refused(rule: Any) -> None:
    with pytest.raises(ParameterError, match=r"^(points|answers) must be"):
        REDUCED.with_rule(rule)


def test_a_rule_is_there_only_where_owners_are_asked_for_its_answer() -> None:
    assert REDUCED.with_rule(CellAnswers(answers=np.array([0, 1, 1, 0]))).rule is not None
    with pytest.raises(MessageError, match="needs the chosen attributes"):
        STUDY.with_rule(CARD)
    with pytest.raises(ParameterError, match="rule must be CellAnswers or a Scorecard"):
        REDUCED.with_rule({"kind": "cells"})  # type: ignore[arg-type]
    device = replace(STUDY, trust=Trust(test="device"), questions=(REDUCE, TRAIN))
    record = replace(STUDY, questions=(REDUCE, TRAIN, replace(TEST, form="sample", sampled=2)))
    for study in (device, record):
        with pytest.raises(ParameterError, match="rule must be left out where owners"):
            study.reduced(("stage", "age"), MERGES).with_rule(CARD)


def _with(*questions: Question) -> dict[str, Any]:
    return {"questions": questions}


FORMS: list[tuple[Study, dict[str, Any], str]] = [
    (STUDY, _with(REDUCE, replace(TRAIN, sampled=None), TEST), "sampled must be a number of"),
    (STUDY, _with(REDUCE, replace(TRAIN, sampled=3), TEST), "at most 2, in the train phase"),
    (STUDY, _with(replace(REDUCE, sampled=4), TRAIN, TEST), "at most 3, in the reduce phase"),
    (STUDY, _with(REDUCE, TRAIN, replace(TEST, sampled=1)), "sampled must be left out"),
    (
        STUDY,
        _with(REDUCE, replace(TRAIN, form="joint"), TEST),
        "sampled must be left out after the reduce phase where all attributes are told",
    ),
    (STUDY, _with(REDUCE, TRAIN, replace(TEST, steps=8)), "steps must be left out where"),
    (STUDY, _with(REDUCE, TRAIN, replace(TEST, group=1)), "group must be 0 in the test phase"),
    (STUDY, _with(REDUCE, TRAIN, replace(TEST, form="joint")), "test phase must be answer, sample"),
    (
        STUDY,
        _with(REDUCE, replace(TRAIN, form="odp", sampled=None), replace(TEST, form="sample")),
        "test phase must be another where the question of the train phase is odp",
    ),
    (
        STUDY,
        _with(REDUCE, replace(TRAIN, form="pw", sampled=None, steps=8), TEST),
        "test phase must be another where the question of the train phase is pw",
    ),
    (NUMBER, _with(REDUCE, TRAIN, TEST), "steps must be given where the answer is a number"),
    (
        NUMBER,
        _with(REDUCE, replace(TRAIN, form="odp", sampled=None), NUMBER.questions[2]),
        "train phase must be sample or answer where the target is a number",
    ),
    (
        NUMBER,
        _with(REDUCE, TRAIN, Question(phase="test", form="odp", epsilon=2.0)),
        "test phase must be sample or answer where the target is a number",
    ),
    (NUMBER, {"reduction": "rand"}, "must be absent where the reduction is rand"),
]


@pytest.mark.parametrize(("study", "wrong", "words"), FORMS)
def test_questions_that_do_not_go_together_are_refused(
    study: Study, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        replace(study, **wrong)


def test_a_target_that_is_a_number_has_levels_and_one_output() -> None:
    assert (STUDY.numeric, STUDY.labels, STUDY.outputs) == (False, 2, 2)
    assert (NUMBER.numeric, NUMBER.labels, NUMBER.outputs) == (True, 3, 1)
    reduced = NUMBER.reduced(("stage", "age"), MERGES)
    card = Scorecard(points=(np.ones((2, 1)), np.ones((2, 1))), offsets=np.zeros(1))
    assert reduced.with_rule(card).rule == card
    with pytest.raises(ParameterError, match="a scorecard where the target is a number"):
        reduced.with_rule(CellAnswers(answers=np.zeros(4, dtype=np.int64)))


def test_a_joint_answer_has_at_most_2_to_the_20_cells() -> None:
    rank = replace(STUDY, schema=WIDE, reduction="rank", keep=10, classes=4)
    train = replace(TRAIN, sampled=9)
    assert replace(rank, questions=(REDUCE, train, TEST)).keep == 10
    with pytest.raises(
        ParameterError, match=r"cells of a joint answer in the train phase .* 2\^20"
    ):
        replace(rank, questions=(REDUCE, replace(train, sampled=10), TEST))
    # Merged classes are two, whichever are chosen.
    merged = replace(
        rank, reduction="regroup", questions=(REDUCE, replace(train, sampled=10), TEST)
    )
    assert merged.question("train") == replace(train, sampled=10)


def test_classes_that_are_counted_in_pairs_are_at_most_2_to_the_12() -> None:
    rank = replace(STUDY, schema=WIDE, reduction="rank", classes=13)
    assert len(rank.schema.attributes) * 13 + 2 == 3902
    with pytest.raises(ParameterError, match=r"classes must be at most 2\^12 with the labels"):
        replace(rank, classes=14)
