from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest

from supm._errors import MessageError
from supm.audit.examples import completed, large_studies, small_studies
from supm.collection import plan
from supm.messages import FORMS, Study
from supm.owner.interviews import interview
from supm.schema import Categorical, Continuous, Ordinal, Schema
from supm.service.status import question_document

AGE: Final = Continuous("age", low=-1.5, high=99.7, missing="class")
STAGE: Final = Ordinal("stage", values=(1, 2.5, "three", False, 4), missing="class")
WARD: Final = Categorical("ward", values=("north", "east", "south", "west", "heart"))
ILL: Final = Categorical("ill", values=("no", "perhaps", "yes"))
SCHEMA: Final = Schema(attributes=(AGE, STAGE, WARD), target=ILL)
RAW: Final = plan(
    Schema(attributes=(AGE, STAGE), target=ILL),
    epsilon=2.0,
    mode="faithful",
    trust="t,t,t",
    keep=2,
    reduce="rand",
    train="raw",
    test="raw",
)
STUDIES: Final = {
    **small_studies(),
    **{f"large, {name}": study for name, study in large_studies().items()},
    "raw": RAW,
    "mixed": plan(SCHEMA, epsilon=3.0, classes=3, told=2),
    "regroup": plan(SCHEMA, epsilon=3.0, classes=4, reduce="regroup", sampled=2, told=2),
}
CASES: Final = [
    pytest.param(completed(study), question.phase, id=f"{name}: {question.phase}")
    for name, study in STUDIES.items()
    for question in study.questions
]


def replayed(field: dict[str, Any], value: object) -> float:
    """Read a value by nothing but what is described."""
    read = field["read"]
    assert read["how"] == "class"
    if value is None:
        assert field["missing"]
        return float(read["table"][-1])
    if field["kind"] == "continuous":
        number = min(max(float(str(value)), field["low"]), field["high"])
        return float(read["table"][sum(cut < number for cut in read["cuts"])])
    return float(read["table"][field["values"].index(value)])


def edge_values(field: dict[str, Any]) -> list[object]:
    held: list[object] = [None] if field["missing"] else []
    if field["kind"] != "continuous":
        return [*held, *field["values"]]
    low, high = field["low"], field["high"]
    points = [low, high, *field["read"]["cuts"]]
    near = [math.nextafter(each, way) for each in points for way in (-math.inf, math.inf)]
    return [*held, *points, *near, low - 5.0, high + 5.0]


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_a_question_is_plain_json_and_names_its_document(study: Study, phase: str) -> None:
    asked = question_document(study, phase)
    assert json.loads(json.dumps(asked, allow_nan=False)) == asked
    question = study.question(phase)
    assert question is not None
    assert asked["study"] == study.hash
    assert asked["form"] == question.form
    assert asked["epsilon"] == question.epsilon
    assert asked["guarantee"] == interview(study, phase).guarantee.sentence


def test_every_form_is_among_the_cases() -> None:
    asked = [question_document(*case.values) for case in CASES]  # type: ignore[arg-type]  # study and phase
    assert {each["form"] for each in asked} == set(FORMS)


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_the_described_reading_is_that_of_the_discretizers(study: Study, phase: str) -> None:
    fields = [
        each for each in question_document(study, phase)["fields"] if each["read"]["how"] == "class"
    ]
    for field, discretizer in zip(fields, study.discretizers(phase), strict=False):
        values = edge_values(field)
        ours = [replayed(field, value) for value in values]
        assert ours == discretizer.encode(values).tolist()
        assert field["read"]["size"] == discretizer.size


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_the_described_thresholds_keep_the_stated_epsilon(study: Study, phase: str) -> None:
    for size, keep in question_document(study, phase)["mechanism"].get("responses", {}).items():
        odds = Fraction(int(keep) * (int(size) - 1), 2**64 - int(keep))
        question = study.question(phase)
        assert question is not None
        assert question.epsilon is not None
        assert math.log(odds) <= question.epsilon * (1 + 1e-12)


def test_a_test_on_the_device_says_how_to_read_a_record() -> None:
    study = plan(SCHEMA, epsilon=3.0, classes=3, trust="u,u,d")
    asked = question_document(study, "test")
    assert (asked["form"], asked["epsilon"], asked["labelled"]) == ("device", 0.0, False)
    assert [each["name"] for each in asked["fields"]] == list(SCHEMA.names)
    assert asked["mechanism"] == {"kind": "none"}


def test_the_fields_have_what_a_form_needs() -> None:
    fields = question_document(STUDIES["mixed"], "train")["fields"]
    assert [each["name"] for each in fields] == ["age", "stage", "ward", "ill"]
    assert (fields[0]["low"], fields[0]["high"], fields[0]["missing"]) == (-1.5, 99.7, True)
    assert fields[2]["values"] == list(WARD.values)
    assert not fields[3]["missing"]


def test_a_phase_that_asks_nothing_is_refused() -> None:
    with pytest.raises(MessageError, match="asks nothing in the reduce phase"):
        question_document(plan(SCHEMA, epsilon=3.0, attributes=["age"]), "reduce")


def test_a_question_before_its_attributes_are_chosen_is_refused() -> None:
    study = plan(SCHEMA, epsilon=3.0, classes=4, reduce="regroup", sampled=2, told=2)
    with pytest.raises(MessageError, match="reduce the study first"):
        question_document(study, "train")
    assert np.isclose(question_document(study, "reduce")["epsilon"], 3.0)
