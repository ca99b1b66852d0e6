"""What the planner chooses in strict mode, and that a user may pin each choice."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from supm import ParameterError
from supm.collection import account, plan
from supm.messages import Study
from supm.owner import interview
from supm.privacy import PureLDP
from supm.schema import Categorical, Continuous, Ordinal, Schema

ILL = Categorical("ill", values=("no", "yes"))
MANY = Schema(
    attributes=(
        *(Continuous(f"x{place}", low=0, high=1) for place in range(10)),
        Ordinal("stage", values=("I", "II", "III"), missing="class"),
        Categorical("ward", values=("n", "e", "s", "w")),
    ),
    target=ILL,
)
SMALL = Schema(
    attributes=tuple(Categorical(name, values=("no", "yes")) for name in "abc"), target=ILL
)
NUMBER = Schema(attributes=MANY.attributes, target=Continuous("cost", low=0, high=9))
NUMBERS = Schema(attributes=MANY.attributes[:10], target=ILL)
THREE = Schema(attributes=MANY.attributes, target=Categorical("ill", values=("no", "yes", "?")))
OWNERS = (None, 100, 10**4, 10**6)
BUDGETS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def asked(study: Study, phase: str) -> Any:
    question = study.question(phase)
    assert question is not None
    return question


@pytest.mark.parametrize("schema", [MANY, SMALL, NUMBER], ids=["many", "small", "number"])
@pytest.mark.parametrize("owners", OWNERS)
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_every_question_spends_the_budget_and_no_more(
    schema: Schema, owners: int | None, epsilon: float
) -> None:
    study = plan(schema, epsilon=epsilon, owners=owners)
    assert {question.epsilon for question in study.questions} == {epsilon}
    spent = account(study)
    for promise in (spent.training, spent.testing, *spent.phases.values()):
        assert isinstance(promise, PureLDP)
        assert promise.epsilon <= epsilon
        assert promise.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert Study.from_json(study.to_json()) == study


def test_few_owners_or_much_budget_are_one_group_and_many_are_two() -> None:
    for epsilon, owners in ((2.0, None), (2.0, 50), (4.0, None), (4.0, 10**6)):
        study = plan(MANY, epsilon=epsilon, owners=owners)
        assert [each.phase for each in study.questions] == ["train", "test"]
        assert (study.reduction, study.groups, study.attributes) == ("known", (1,), MANY.names)
        assert study.classes == (2 if epsilon == 2.0 else 4)
    study = plan(MANY, epsilon=2.0, owners=10**6)
    assert [each.phase for each in study.questions] == ["reduce", "train", "test"]
    assert [each.form for each in study.questions] == ["sample", "sample", "answer"]
    assert [each.group for each in study.questions] == [0, 1, 0]
    assert (study.reduction, study.groups) == ("regroup", (2, 3))
    assert study.attributes is None
    assert (study.keep, study.classes) == (len(MANY.names), 4)
    assert asked(study, "train").sampled >= 2


@pytest.mark.parametrize("owners", [None, 10**6])
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_who_asks_for_merged_classes_gets_four_of_them(epsilon: float, owners: int | None) -> None:
    study = plan(MANY, epsilon=epsilon, owners=owners, reduce="regroup")
    assert (study.reduction, study.classes, study.groups) == ("regroup", 4, (2, 3))
    assert study.keep == len(MANY.names)
    assert plan(MANY, epsilon=epsilon, owners=owners, reduce="regroup", classes=7).classes == 7
    for train in ("joint", "odp"):
        other = plan(MANY, epsilon=epsilon, owners=owners, reduce="regroup", train=train)
        assert (other.reduction, other.classes) == ("regroup", 4)


@pytest.mark.parametrize("owners", [None, 10**6])
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_fewer_attributes_are_merged_for_two_labels_and_ranked_for_others(
    epsilon: float, owners: int | None
) -> None:
    for schema, reduction in ((MANY, "regroup"), (THREE, "rank"), (NUMBER, "rank")):
        study = plan(schema, epsilon=epsilon, owners=owners, keep=3)
        assert (study.reduction, study.keep, study.groups) == (reduction, 3, (2, 3))
        assert asked(study, "reduce").form == "sample"
        assert study.classes == 4 or reduction == "rank"


@pytest.mark.parametrize("told", [{}, {"train": "joint"}, {"train": "odp"}])
def test_where_nothing_can_be_merged_to_ask_for_it_is_refused(told: dict[str, Any]) -> None:
    for schema, classes in ((SMALL, None), (SMALL, 8), (NUMBERS, 2)):
        with pytest.raises(ParameterError, match=r"more than two classes.*nothing to merge"):
            plan(schema, epsilon=2.0, reduce="regroup", classes=classes, **told)


@pytest.mark.parametrize("owners", OWNERS)
def test_where_nothing_can_be_merged_fewer_attributes_are_ranked(owners: int | None) -> None:
    for schema, classes in ((SMALL, None), (SMALL, 8), (NUMBERS, 2)):
        study = plan(schema, epsilon=2.0, keep=2, classes=classes, owners=owners)
        assert (study.reduction, study.keep) == ("rank", 2)


def test_the_whole_table_is_told_where_budget_and_people_carry_it() -> None:
    # 2 labels and 2^3 classes: 16 cells, with 20 people for each.
    whole = plan(SMALL, epsilon=4.0, owners=320)
    assert (whole.reduction, whole.attributes) == ("known", SMALL.names)
    assert asked(whole, "train").form == "joint"
    assert asked(whole, "test").form == "answer"
    for epsilon, owners in ((4.0, 319), (4.0, None), (math.log(15.9), 320)):
        few = plan(SMALL, epsilon=epsilon, owners=owners)
        assert asked(few, "train").form == "sample"
    # Who asks for samples gets them.
    assert asked(plan(SMALL, epsilon=4.0, owners=320, train="sample"), "train").form == "sample"


@pytest.mark.parametrize("owners", OWNERS)
def test_every_wish_can_be_pinned(owners: int | None) -> None:
    usual: dict[str, Any] = {"epsilon": 4.0, "owners": owners}
    for keep in (1, 3, 11):
        assert plan(MANY, keep=keep, **usual).keep == keep
    for classes in (2, 3, 7):
        assert plan(MANY, classes=classes, **usual).classes == classes
    for told in (1, 2, 5):
        study = plan(MANY, told=told, **usual)
        assert asked(study, "train").sampled == told
    for reduce, sampled in product(("rank", "regroup"), (1, 2, 3)):
        study = plan(MANY, reduce=reduce, sampled=sampled, keep=4, **usual)
        assert (study.reduction, asked(study, "reduce").sampled) == (reduce, sampled)
        assert study.groups == (2, 3)
    for names in (("x3",), ("ward", "x1", "stage")):
        study = plan(MANY, attributes=names, **usual)
        assert (study.attributes, study.keep, study.groups) == (names, len(names), (1,))
    for train in ("odp", "joint", "sample"):
        assert asked(plan(MANY, train=train, keep=2, **usual), "train").form == train
    for test in ("answer", "sample", "odp"):
        assert asked(plan(MANY, test=test, **usual), "test").form == test
    device = plan(MANY, trust="u,u,d", **usual)
    assert device.question("test") is None


def test_several_wishes_are_kept_together() -> None:
    study = plan(
        MANY,
        epsilon=4.0,
        owners=10**6,
        reduce="rank",
        keep=5,
        classes=3,
        sampled=2,
        told=3,
        train="sample",
        test="sample",
    )
    assert (study.reduction, study.keep, study.classes) == ("rank", 5, 3)
    assert (asked(study, "reduce").sampled, asked(study, "train").sampled) == (2, 3)
    assert asked(study, "test").sampled is not None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"told": 0}, "told must be a whole number"),
    ({"told": 13}, "told must be a whole number"),
    ({"told": 2.0}, "told must be a whole number"),
    ({"told": 3, "keep": 2}, "told must be a whole number"),
    ({"told": 2, "attributes": ["x0"]}, "told must be a whole number"),
    ({"told": 2, "train": "odp"}, "told must be left out where all kept attributes are told"),
    ({"told": 2, "train": "joint"}, "told must be left out where all kept attributes are told"),
    ({"told": 2, "mode": "faithful"}, "told must be left out where all kept attributes are told"),
    ({"sampled": 2}, "sampled must be left out where nobody is asked"),
    ({"sampled": 13, "reduce": "regroup"}, "sampled must be a whole number"),
    ({"train": "answer"}, "train must be one of"),
    ({"test": "joint"}, "answer, sample, odp or oda where reports told a few"),
    ({"test": "sample", "train": "joint", "keep": 2}, "must be another .* train phase is joint"),
    ({"reduce": "wa"}, "where the reduce phase is untrusted"),
    ({"attributes": ["x0"], "reduce": "regroup"}, "reduce must be left out"),
    ({"keep": 13}, "keep must be a whole number"),
    ({"classes": 500}, "classes must be at most 2\\^12"),
    ({"classes": 300, "told": 3}, "cells of a joint answer"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_a_wish_that_contradicts_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        plan(MANY, epsilon=4.0, **wrong)


@pytest.mark.parametrize("wrong", ["odp", "joint", "pw", "oda", "raw"])
def test_a_number_is_told_by_samples_only(wrong: str) -> None:
    wishes: list[dict[str, Any]] = [{"train": wrong}, {"test": wrong}]
    for wish in wishes:
        with pytest.raises(ParameterError, match=r"must be"):
            plan(NUMBER, epsilon=4.0, attributes=["x0", "x1"], **wish)
    for reduce in ("waldp", "pw", "rand"):
        with pytest.raises(ParameterError, match="where the target is a number"):
            plan(NUMBER, epsilon=4.0, reduce=reduce, keep=2)


@pytest.mark.parametrize("reduce", ["rank", "regroup"])
def test_attributes_of_a_number_are_ranked_or_merged_by_who_asks_for_it(reduce: str) -> None:
    study = plan(NUMBER, epsilon=4.0, reduce=reduce, keep=2)
    assert (study.reduction, study.keep, study.groups) == (reduce, 2, (2, 3))


def of_labels(count: int) -> Schema:
    target = Categorical("t", values=tuple(f"t{label}" for label in range(count)))
    return Schema(attributes=MANY.attributes, target=target)


def of_cost(low: float, high: float) -> Schema:
    return Schema(attributes=MANY.attributes, target=Continuous("cost", low=low, high=high))


def test_samples_are_of_256_labels_at_most() -> None:
    assert asked(plan(of_labels(256), epsilon=4.0), "train").form == "sample"
    wishes: list[dict[str, Any]] = [{}, {"reduce": "rank", "train": "joint", "keep": 1}]
    for wish in wishes:
        with pytest.raises(ParameterError, match=r"labels must be at most 256.*, got 257"):
            plan(of_labels(257), epsilon=4.0, **wish)
    joint = plan(of_labels(257), epsilon=4.0, train="joint", reduce="rand", keep=1)
    assert asked(joint, "train").form == "joint"


def test_the_bounds_of_a_number_are_at_most_so_far_apart_that_squares_are_numbers() -> None:
    for low, high in ((0.0, 1e150), (-5e149, 5e149), (1e149, 1e150)):
        plan(of_cost(low, high), epsilon=4.0)
    for low, high in ((0.0, 1.0001e150), (-1e150, 1e150), (-1e300, 1.0)):
        with pytest.raises(ParameterError, match="bounds at most 1e150 apart"):
            plan(of_cost(low, high), epsilon=4.0)


def test_the_mechanism_of_every_plan_can_be_made() -> None:
    for schema, owners, epsilon in product((MANY, SMALL, NUMBER), OWNERS, BUDGETS):
        study = plan(schema, epsilon=epsilon, owners=owners, test="sample")
        if study.attributes is None:
            reduced = interview(study, "reduce")
            assert reduced.epsilon <= epsilon
            continue
        assert interview(study, "train").epsilon <= epsilon
        assert interview(study, "test").epsilon <= epsilon
