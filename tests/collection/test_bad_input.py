"""Wrong records, tables and wishes: a clear error before anything is drawn, and no value in it."""

from __future__ import annotations

import math
import traceback
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from supm import ParameterError, RandomSource, RecordError, SupmError, simulation
from supm.collection import evaluate, plan, run_in_process
from supm.learning import AnyClassifier
from supm.messages import CellAnswers, Report, Study, Trust
from supm.owner import Owner
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema

PRIVATE_NUMBER = 314159.265
PRIVATE_TEXT = "zweiundvierzig"
SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
RECORD = {"age": 61.5, "stage": "II", "ward": "south", "ill": "yes"}
STUDY = plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("age", "stage"), classes=3)
JOINT = plan(SCHEMA, epsilon=3.0, attributes=("age", "stage"), classes=3, train="joint")
REDUCTIONS = ["rand", "wa", "pw", "waldp", "rank"]


def complaint(error: BaseException) -> str:
    """All that a log would show of an error, with what it came from."""
    return "".join(traceback.format_exception(error)) + repr(error)


def assert_tells_nothing(error: BaseException) -> None:
    shown = complaint(error)
    assert str(PRIVATE_NUMBER) not in shown
    assert PRIVATE_TEXT not in shown


def test_the_check_for_leaks_sees_a_value_in_the_error_and_in_what_it_came_from() -> None:
    inner = KeyError(PRIVATE_TEXT)
    outer = RecordError("age: a value is wrong.")
    outer.__context__ = inner
    for leak in (inner, outer, RecordError(f"got {PRIVATE_NUMBER}")):
        with pytest.raises(AssertionError):
            assert_tells_nothing(leak)
    outer.__suppress_context__ = True
    assert_tells_nothing(outer)


WRONG_RECORDS: dict[str, dict[str, object]] = {
    "a label that is not in the schema": {"ill": PRIVATE_TEXT},
    "a number for a label": {"ill": PRIVATE_NUMBER},
    "no label": {"ill": None},
    "text for a number": {"age": PRIVATE_TEXT},
    "a number in text": {"age": str(PRIVATE_NUMBER)},
    "no number": {"age": math.nan},
    "no finite number": {"age": math.inf},
    "several numbers": {"age": [PRIVATE_NUMBER, PRIVATE_NUMBER]},
    "a value that is not in the list": {"stage": PRIVATE_TEXT},
    "a value of another kind": {"stage": PRIVATE_NUMBER},
}


@pytest.mark.parametrize("wrong", WRONG_RECORDS.values(), ids=WRONG_RECORDS)
@pytest.mark.parametrize("study", [STUDY, JOINT], ids=["odp", "joint"])
def test_a_record_that_does_not_fit_is_refused_before_anything_is_drawn(
    study: Study, wrong: dict[str, object]
) -> None:
    source, memory = simulation(5), dict[str, Any]()
    owner = Owner(source=source, memory=memory)
    with pytest.raises(RecordError, match=next(iter(wrong))) as caught:
        owner.answer(study, "train", RECORD | wrong)
    assert_tells_nothing(caught.value)
    assert memory == {}
    # The corrected record gets the answer that it would have got at once.
    assert owner.answer(study, "train", RECORD) == told_by(simulation(5), study)


def told_by(source: RandomSource, study: Study) -> Report:
    return Owner(source=source).answer(study, "train", RECORD)


def test_a_record_without_an_asked_attribute_is_refused_and_others_are_not_looked_at() -> None:
    short = {name: value for name, value in RECORD.items() if name != "age"}
    with pytest.raises(RecordError, match="age"):
        Owner().answer(STUDY, "train", short)
    unread = RECORD | {"comment": PRIVATE_TEXT}
    assert Owner().answer(STUDY, "train", unread).study == STUDY.hash


def table(rows: int, **columns: object) -> dict[str, object]:
    turn = np.arange(rows)
    return {
        "age": (turn * 37 % 100).astype(float),
        "stage": np.array(["I", "II", "III"])[turn % 3],
        "ward": np.array(["north", "south"])[turn % 2],
        "ill": np.array(["no", "yes"])[turn * 7 % 5 % 2],
    } | columns


def study_of(reduction: str, mode: str = "faithful") -> Study:
    trust = Trust(reduce="trusted") if reduction == "wa" else None
    return plan(SCHEMA, epsilon=4.0, mode=mode, keep=2, reduce=reduction, trust=trust)


@pytest.mark.parametrize("wrong", WRONG_RECORDS.values(), ids=WRONG_RECORDS)
def test_a_table_that_does_not_fit_is_refused_with_a_count_and_no_value(
    wrong: dict[str, object],
) -> None:
    (name, value), *_ = wrong.items()
    column = [*list(table(20)[name])[:-1], value]  # type: ignore[call-overload]  # a column is a list
    with pytest.raises(RecordError, match=name) as caught:
        SCHEMA.read(table(20, **{name: column}))
    assert_tells_nothing(caught.value)


def test_a_table_without_the_target_is_refused_by_its_name() -> None:
    columns = {name: column for name, column in table(20).items() if name != "ill"}
    with pytest.raises(RecordError, match="ill"):
        SCHEMA.read(columns)
    unlabelled = SCHEMA.read(columns, labelled=False)
    for run in (lambda r: evaluate(STUDY, r, source=simulation(1)), fitted):
        with pytest.raises(SupmError, match="labelled"):
            run(unlabelled)


def fitted(records: Records) -> object:
    return run_in_process(STUDY, records, simulation(1))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_three_records_are_too_few_to_be_split(rows: int, reduction: str) -> None:
    with pytest.raises(RecordError, match=f"the table has {rows} records"):
        evaluate(study_of(reduction), SCHEMA.read(table(rows)), source=simulation(1), folds=2)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_target_of_one_class_only_is_nothing_to_learn(reduction: str) -> None:
    one = SCHEMA.read(table(40, ill=["yes"] * 40))
    with pytest.raises(RecordError, match="one class only") as caught:
        evaluate(study_of(reduction), one, source=simulation(1), folds=4)
    assert "yes" not in str(caught.value), "which class it is belongs to the records"


@pytest.mark.parametrize("mode", ["strict", "faithful"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_constant_columns_teach_nothing_and_break_nothing(reduction: str, mode: str) -> None:
    flat = table(60, age=[50.0] * 60, stage=["II"] * 60, ward=["north"] * 60)
    found = evaluate(
        study_of(reduction, mode), SCHEMA.read(flat), source=simulation(1), folds=5, repeats=2
    )
    assert found.on_device.headline <= found.answered.of_constant + 1e-9
    assert 0.0 <= found.answered.headline <= 1.0


def test_one_class_among_the_noisy_labels_is_predicted_by_any_learner() -> None:
    generous = plan(SCHEMA, epsilon=60.0, mode="faithful", attributes=("age", "stage"))
    one = SCHEMA.read(table(40, ill=["yes"] * 40))
    for learner in (None, AnyClassifier(estimator=LogisticRegression())):
        trained = run_in_process(generous, one, simulation(1), learner=learner)
        assert isinstance(trained.rule, CellAnswers)
        assert set(trained.rule.answers.tolist()) == {1}


@pytest.mark.parametrize("epsilon", [0, 0.0, -1.0, math.nan, math.inf, None, "3", True, [1.0]])
def test_a_budget_that_is_no_promise_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number"):
        plan(SCHEMA, epsilon=epsilon)


@pytest.mark.parametrize("mode", ["strict", "faithful"])
@pytest.mark.parametrize("keep", [0, 4, 100_000, -1, 1.5, "2", True])
def test_more_attributes_than_there_are_cannot_be_kept(keep: Any, mode: str) -> None:
    with pytest.raises(ParameterError, match=r"keep must be a whole number in \[1, 3\]"):
        plan(SCHEMA, epsilon=1.0, mode=mode, keep=keep)


@pytest.mark.parametrize("names", [(), ("age", "age"), ("height",), ("ill",), "height"])
def test_attributes_that_are_not_in_the_schema_are_refused(names: Any) -> None:
    with pytest.raises(ParameterError, match="attributes must be different names"):
        plan(SCHEMA, epsilon=1.0, attributes=names)


def test_more_folds_than_people_are_refused() -> None:
    with pytest.raises(RecordError, match="20 folds need at least 20"):
        evaluate(STUDY, SCHEMA.read(table(12)), source=simulation(1), folds=20)
