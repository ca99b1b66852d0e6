from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from supm import (
    BudgetError,
    MessageError,
    ParameterError,
    PromiseError,
    RandomSource,
    RecordError,
    simulation,
)
from supm.collection import plan
from supm.messages import Study, Trust
from supm.owner import Owner
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
ALL_TRUSTED = Trust.parse("t,t,t")
ODP = plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("age", "stage"), classes=2)
JOINT = plan(SCHEMA, epsilon=2.0, attributes=("age",), classes=2, train="joint", test="joint")
RANK = plan(SCHEMA, epsilon=2.0, reduce="rank", keep=1, test="sample")
OPEN = plan(SCHEMA, epsilon=2.0, trust=ALL_TRUSTED, keep=1)


class Untouched(RandomSource):
    """A source that fails the test when anything is drawn."""

    def words(self, count: int) -> Any:
        pytest.fail(f"{count} words were drawn")


def untouched() -> RandomSource:
    return Untouched(b"0" * 32)


# --- consent -----------------------------------------------------------------


@pytest.mark.parametrize("phase", ["reduce", "train", "test"])
def test_a_question_that_promises_nothing_needs_trust_in_that_phase(phase: str) -> None:
    study = OPEN if phase == "reduce" else OPEN.reduced(("age",))
    others = {"reduce", "train", "test"} - {phase}
    for trusted in ((), others):
        owner = Owner(source=untouched(), trusted=trusted)
        with pytest.raises(BudgetError, match=f"the {phase} phase asks for values as they are"):
            owner.answer(study, phase, RECORD)
    assert Owner(source=simulation(1), trusted=[phase]).answer(study, phase, RECORD).phase == phase


def test_in_a_trusted_environment_classes_leave_as_they_are() -> None:
    owner = Owner(source=simulation(1), trusted=("reduce", "train", "test"))
    assert owner.answer(OPEN, "reduce", RECORD).symbols == (0, 1, 2, 1, 1, 1, 1)
    reduced = OPEN.reduced(("age",))
    assert owner.answer(reduced, "train", RECORD).symbols == (1, 1)
    assert owner.answer(reduced, "test", RECORD).symbols == (1,)


@dataclass
class Spendthrift:
    """An interview that spends another epsilon than it was made for; it cannot even answer."""

    epsilon: float
    width: int = 2


@pytest.mark.parametrize("epsilon", [3.0000000000000004, 4.0, math.inf, math.nan])
def test_a_mechanism_that_spends_more_than_is_stated_is_not_used(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supm.owner.owner.interview", lambda *_: Spendthrift(epsilon))
    memory: dict[str, Any] = {}
    owner = Owner(source=untouched(), memory=memory)
    with pytest.raises(PromiseError, match="the study states 3; nothing was sent"):
        owner.answer(ODP, "train", RECORD)
    assert memory == {}


def test_an_answer_that_no_report_could_hold_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Spendthrift(1.0, width=(1 << 20) + 1)
    monkeypatch.setattr("supm.owner.owner.interview", lambda *_: long)
    with pytest.raises(MessageError, match="too long for a report"):
        Owner(source=untouched()).answer(ODP, "train", RECORD)


def test_a_phase_that_asks_nothing_gets_no_answer() -> None:
    device = plan(SCHEMA, epsilon=2.0, trust=Trust(test="device"), attributes=["age"])
    reduced = RANK.reduced(("age",))
    for study, phase in [(device, "test"), (ODP, "reduce"), (reduced, "reduce"), (ODP, "learn")]:
        with pytest.raises(MessageError, match=f"asks nothing in the {phase} phase"):
            Owner(source=untouched()).answer(study, phase, RECORD)


def test_attributes_are_not_told_before_they_are_chosen() -> None:
    study = plan(SCHEMA, epsilon=2.0, mode="faithful", keep=2)
    with pytest.raises(MessageError, match="needs the chosen attributes"):
        Owner(source=untouched()).answer(study, "train", RECORD)


def test_a_second_choice_of_attributes_is_not_paid_for_again() -> None:
    study = plan(SCHEMA, epsilon=2.0, mode="faithful", keep=1)
    memory: dict[str, Any] = {}
    first, second = study.reduced(("age",)), study.reduced(("stage",))
    told = Owner(memory=memory).answer(first, "train", RECORD)
    with pytest.raises(BudgetError, match="a second answer would cost more than it states"):
        Owner(source=untouched(), memory=memory).answer(second, "train", RECORD)
    # What costs nothing more is answered: the same question in another document.
    renamed = replace(study, purpose="as announced").reduced(("age",))
    assert Owner(memory=memory).answer(renamed, "train", RECORD).symbols == told.symbols


@pytest.mark.parametrize("trusted", ["train", ["learn"], [["train"]], None, 7, ["train", None]])
def test_what_is_no_list_of_phases_is_not_trusted(trusted: Any) -> None:
    with pytest.raises(ParameterError, match="trusted must be phases out of reduce, train, test"):
        Owner(trusted=trusted)


def test_wrong_arguments_are_named_and_not_shown() -> None:
    with pytest.raises(ParameterError, match="source must be"):
        Owner(source=7)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="memory must be of kind MutableMapping"):
        Owner(memory=[])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="study must be of kind Study"):
        Owner().answer(ODP.to_json(), "train", RECORD)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="phase must be of kind str") as caught:
        Owner().answer(ODP, RECORD, "train")  # type: ignore[arg-type]
    assert "61" not in str(caught.value)


# --- memory ------------------------------------------------------------------


def restarted(memory: dict[str, Any]) -> dict[str, Any]:
    """What a device would read back from its own disk."""
    kept: dict[str, Any] = json.loads(json.dumps(memory))
    return kept


def test_a_report_that_is_asked_for_again_is_the_same_report() -> None:
    memory: dict[str, Any] = {}
    first = Owner(memory=memory).answer(ODP, "train", RECORD)
    assert Owner(source=untouched(), memory=memory).answer(ODP, "train", RECORD) == first
    after = Owner(source=untouched(), memory=restarted(memory)).answer(ODP, "train", RECORD)
    assert after.to_json() == first.to_json()


def test_the_same_question_of_another_study_gets_the_same_answer_under_another_id() -> None:
    memory: dict[str, Any] = {}
    other = replace(ODP, purpose="once more, please")
    for _ in range(3):
        first = Owner(memory=memory).answer(ODP, "train", RECORD)
        second = Owner(memory=memory).answer(other, "train", RECORD)
        memory = restarted(memory)
        assert second.symbols == first.symbols
        assert second.study == other.hash != first.study
        assert second.id != first.id


def answers(study: Study, people: int) -> list[tuple[int, ...]]:
    source = simulation(3)
    return [Owner(source=source).answer(study, "train", RECORD).symbols for _ in range(people)]


def test_different_owners_draw_for_themselves() -> None:
    assert len(set(answers(ODP, 60))) > 4


@pytest.mark.parametrize(
    "other",
    [
        plan(SCHEMA, epsilon=3.1, mode="faithful", attributes=("age", "stage"), classes=2),
        plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("age", "stage"), classes=3),
        plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("stage", "age"), classes=2),
        plan(SCHEMA, epsilon=3.0, attributes=("age", "stage"), classes=2),
    ],
    ids=["epsilon", "classes", "order", "form"],
)
def test_a_different_question_is_drawn_anew(other: Study) -> None:
    memory: dict[str, Any] = {}
    for study in (ODP, other):
        Owner(memory=memory).answer(study, "train", RECORD)
    assert sum(key.startswith("answer ") for key in memory) == 2


def test_the_same_question_about_another_attribute_is_another_question() -> None:
    twins = tuple(Continuous(name, low=0, high=1) for name in ("a", "b"))
    schema = replace(SCHEMA, attributes=twins)
    studies = [plan(schema, epsilon=1.0, attributes=name) for name in ("a", "b")]
    memory: dict[str, Any] = {}
    for study in studies:
        Owner(memory=memory).answer(study, "train", {"a": 0.2, "b": 0.2, "ill": "no"})
    assert sum(key.startswith("answer ") for key in memory) == 2


def test_training_and_testing_are_different_questions() -> None:
    memory: dict[str, Any] = {}
    owner = Owner(memory=memory)
    owner.answer(ODP, "train", RECORD)
    with pytest.raises(BudgetError, match="people who train or are tested, not both"):
        owner.answer(ODP, "test", RECORD)
    owner.answer(replace(ODP, purpose="another study"), "test", RECORD)
    assert sum(key.startswith("answer ") for key in memory) == 2


def test_what_is_remembered_is_what_was_told_and_nothing_of_the_record() -> None:
    memory: dict[str, Any] = {}
    # The values are such as could not be in a hash, an id or a symbol by chance.
    schema = replace(SCHEMA, target=Categorical("ill", values=("gesund", "krank")))
    study = plan(schema, epsilon=1.0, attributes=("age",))
    Owner(memory=memory).answer(study, "train", {"age": 61.0625, "ill": "krank"})
    assert "krank" not in json.dumps(memory)
    assert "61.0625" not in json.dumps(memory)


# --- groups ------------------------------------------------------------------


def test_groups_are_drawn_with_the_public_weights() -> None:
    study = replace(RANK, groups=(2, 3, 5))
    source = simulation(11)
    drawn = Counter(Owner(source=source).group(study) for _ in range(3000))
    assert chisquare([drawn[0], drawn[1], drawn[2]], [600, 900, 1500]).pvalue > 1e-4


def test_a_group_is_drawn_once_for_a_study_and_what_continues_it() -> None:
    reduced = RANK.reduced(("age",))
    for seed in range(30):
        memory: dict[str, Any] = {}
        first = Owner(source=simulation(seed), memory=memory).group(RANK)
        again = Owner(source=untouched(), memory=restarted(memory))
        assert again.group(reduced) == again.group(RANK) == first


def test_each_owner_answers_the_questions_of_its_own_group_only() -> None:
    reduced = RANK.reduced(("age",))
    for seed in range(20):
        owner = Owner(source=simulation(seed))
        asked = [(RANK, "reduce"), (reduced, "train")]
        study, phase = asked[owner.group(RANK)]
        assert owner.answer(study, phase, RECORD).group == owner.group(RANK)
        study, phase = asked[1 - owner.group(RANK)]
        with pytest.raises(BudgetError, match=f"the {phase} phase asks another group"):
            owner.answer(study, phase, RECORD)
        # Whoever wants a record classified is in no group of training owners.
        with pytest.raises(BudgetError, match="not both"):
            owner.answer(reduced, "test", RECORD)
        assert Owner().answer(reduced, "test", RECORD).phase == "test"


# --- the record --------------------------------------------------------------


class OnlyAsked(Mapping[str, object]):
    """A record that fails the test when anything but the named fields is looked at."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __getitem__(self, name: str) -> object:
        assert name in self.names, name
        return RECORD[name]

    def __contains__(self, name: object) -> bool:
        return name in RECORD

    def __iter__(self) -> Iterator[str]:
        pytest.fail("all fields were listed")

    def __len__(self) -> int:
        return len(RECORD)


def test_what_is_not_asked_is_not_looked_at() -> None:
    train = Owner(source=simulation(1)).answer(JOINT, "train", OnlyAsked("age", "ill"))
    assert train == Owner(source=simulation(1)).answer(JOINT, "train", RECORD)
    Owner().answer(JOINT, "test", OnlyAsked("age"))
    Owner(trusted=["reduce"]).answer(OPEN, "reduce", OnlyAsked("age", "stage", "ward", "ill"))


def test_a_record_needs_no_field_that_is_not_asked() -> None:
    assert Owner().answer(JOINT, "train", {"age": 61, "ill": "no"}).phase == "train"
    assert Owner().answer(JOINT, "test", {"age": 61}).phase == "test"
    with pytest.raises(RecordError, match="'ill'"):
        Owner().answer(JOINT, "train", {"age": 61})


@pytest.mark.parametrize(
    "record",
    [
        {"age": "271828", "ill": "no"},
        {"age": math.inf, "ill": "no"},
        {"age": None, "ill": "no"},
        {"age": [271828], "ill": "no"},
        {"age": 61, "ill": "271828"},
        {"age": 61, "ill": None},
        {"age": 61, "ill": {"271828": 1}},
        [("age", 271828), ("ill", "271828")],
        "271828",
        271828,
        None,
        np.array([271828.0, 1.0]),
    ],
)
def test_a_record_that_does_not_fit_is_refused_and_no_value_is_shown(record: Any) -> None:
    memory: dict[str, Any] = {}
    with pytest.raises(RecordError) as caught:
        Owner(source=untouched(), memory=memory).answer(JOINT, "train", record)
    error: BaseException | None = caught.value
    while error is not None:
        assert "271828" not in f"{error!r} {error}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert memory == {}


def test_a_value_beyond_the_public_bounds_is_told_as_the_bound() -> None:
    owners = [Owner(trusted=["train"]) for _ in range(2)]
    study = OPEN.reduced(("age",))
    far, near = ({"age": age, "ill": "no"} for age in (1e300, 100))
    assert owners[0].answer(study, "train", far).symbols == (1, 0)
    assert owners[1].answer(study, "train", near).symbols == (1, 0)
