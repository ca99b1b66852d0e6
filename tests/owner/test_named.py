from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from supm import simulation
from supm.collection import plan, run_in_process
from supm.messages import Study, Trust
from supm.owner import Contribution, Owner
from supm.schema import Categorical, Continuous, Ordinal, Schema

if TYPE_CHECKING:
    from tests.owner.conftest import FarEnd

AGE = Continuous("age", low=0, high=90)
SCHEMA = Schema(
    attributes=(Ordinal("stage", values=("I", "II", "III")), AGE),
    target=Categorical("ill", values=("no", "yes")),
)
RECORD: Mapping[str, object] = {"stage": "II", "age": 40, "ill": "yes"}


def told(
    far_end: FarEnd, study: Study, phase: str = "train", record: Mapping[str, object] = RECORD
) -> dict[str, str]:
    far_end.study, far_end.phase = study, phase
    contribution = Contribution(far_end.url)
    trusted = () if contribution.open_phase.question.private else (phase,)
    report = Owner(source=simulation(3), trusted=trusted).answer(study, phase, record)
    return dict(contribution.named(report))


@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_classes_are_called_by_their_names(far_end: FarEnd, mode: str) -> None:
    # So large a budget that the answer is the truth.
    study = plan(SCHEMA, epsilon=60.0, mode=mode, attributes=["stage", "age"], classes=3)
    age = study.discretizers("train")[1].labels[1]
    assert told(far_end, study) == {"stage": "II", "age": age, "ill": "yes"}


def test_what_is_told_in_trust_is_called_by_its_name(far_end: FarEnd) -> None:
    trust = Trust(train="trusted")
    study = plan(SCHEMA, epsilon=1.0, attributes=["stage"], classes=3, trust=trust)
    assert told(far_end, study) == {"stage": "II", "ill": "yes"}


def test_a_drawn_column_is_called_by_its_name(far_end: FarEnd) -> None:
    study = plan(SCHEMA, epsilon=60.0, mode="faithful", reduce="waldp", keep=1, classes=3)
    found = told(far_end, study, "reduce")
    assert found.pop("ill") == "yes"
    assert set(found) <= {"stage", "age"}


def test_a_model_answer_is_a_label(far_end: FarEnd) -> None:
    study = plan(SCHEMA, epsilon=8.0, attributes=["stage", "age"])
    people = [
        {"stage": "I", "age": n % 90, "ill": "yes" if n % 90 > 45 else "no"} for n in range(200)
    ]
    trained = run_in_process(study, SCHEMA.read(people), simulation(1))
    assert set(told(far_end, trained.study.with_rule(trained.rule), "test")) == {"ill"}


def test_a_number_is_a_level(far_end: FarEnd) -> None:
    target = Continuous("price", low=0, high=10)
    study = plan(Schema(attributes=(AGE,), target=target), epsilon=60.0, attributes=["age"])
    found = told(far_end, study, record={"age": 40, "price": 10.0})
    assert found["price"] == f"level {study.labels} of {study.labels}"


def test_numbers_and_sets_have_no_single_class(far_end: FarEnd) -> None:
    schema = Schema(attributes=(AGE,), target=SCHEMA.target)
    numbers = plan(schema, epsilon=4.0, mode="faithful", reduce="pw", keep=1)
    assert told(far_end, numbers, "reduce") == {}
    sets = plan(SCHEMA, epsilon=1.0, attributes=["stage", "age"], train="joint", classes=3)
    assert told(far_end, sets) == {}
