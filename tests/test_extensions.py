"""What is one's own is found by name where it is installed, and refused elsewhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from supm import MessageError, ParameterError, PromiseError, _extensions, simulation
from supm._extensions import load, name_of, offered
from supm.collection import plan, run_in_process
from supm.datasets import load_wdbc
from supm.mechanisms import FrequencyRandomizer
from supm.messages import Study
from supm.owner import Owner, interview

NAMES = ["worst radius", "mean texture"]


@dataclass(frozen=True, kw_only=True)
class Plain(FrequencyRandomizer):
    """The own symbol with twice the weight of another, whatever the budget."""

    size: int

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Plain:
        del epsilon
        return cls(size=size)

    def exact_channel(self) -> list[list[Fraction]]:
        cells = range(self.size)
        return [[Fraction(1 + (row == each), self.size + 1) for each in cells] for row in cells]


@pytest.fixture
def study() -> Study:
    return plan(load_wdbc().schema, epsilon=1.0, attributes=NAMES, classes=2, train=Plain)


def offer(monkeypatch: pytest.MonkeyPatch, kind: str, name: str, value: str) -> None:
    entry = EntryPoint(name=name, group=f"supm.{kind}", value=value)
    monkeypatch.setattr(
        _extensions, "installed", lambda asked: {name: entry} if asked == kind else {}
    )


def test_a_study_names_the_randomizer_and_is_read_back(study: Study) -> None:
    question = study.question("train")
    assert question is not None
    assert question.mechanism == f"{__name__}:Plain"
    assert Study.from_json(study.to_json()) == study
    asked: Any = interview(study, "train")
    assert isinstance(asked.randomizer, Plain)
    assert asked.epsilon == pytest.approx(0.6931, abs=1e-4)


def test_owners_answer_and_a_model_is_trained(study: Study) -> None:
    wdbc = load_wdbc()
    record = {name: column.tolist()[0] for name, column in wdbc.columns.items()}
    report = Owner(source=simulation(1)).answer(study, "train", record)
    assert len(report.symbols) == 1
    trained = run_in_process(study, wdbc.records(), simulation(1))
    assert trained.cells is not None
    assert trained.cells.sum() == pytest.approx(1.0)


def test_where_it_is_not_installed_nothing_leaves(study: Study) -> None:
    form = json.loads(study.to_json())
    form["questions"][0]["mechanism"] = "somebody:Else"
    other, record = Study.from_json(json.dumps(form)), load_wdbc().columns
    first = {name: column.tolist()[0] for name, column in record.items()}
    with pytest.raises(ParameterError, match="randomizers must be installed on this device"):
        Owner(source=simulation(1)).answer(other, "train", first)


def test_what_spends_more_than_the_question_allows_is_refused() -> None:
    with pytest.raises(PromiseError, match=r"spends epsilon 0\.693147, not 0\.5"):
        plan(load_wdbc().schema, epsilon=0.5, attributes=NAMES, classes=2, train=Plain)


def test_a_mechanism_is_named_in_the_train_phase_only(study: Study) -> None:
    for change in ({"mechanism": ""}, {"mechanism": 1}, {"form": "odp"}):
        form = json.loads(study.to_json())
        form["questions"][0] |= change
        with pytest.raises(MessageError):
            Study.from_json(json.dumps(form))


def test_an_entry_point_gives_a_name_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "learners", "radial", "supm.learning:RadialSVM")
    found = load("learners", "radial")
    assert name_of("learners", found) == "radial"
    assert offered("learners", "radial") is found


@pytest.mark.parametrize("name", ["nobody", "no_module:Name", "supm.learning:Nobody", ":"])
def test_a_name_that_leads_nowhere_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(ParameterError, match="learners must be"):
        load("learners", name)


def test_what_is_not_a_randomizer_or_a_reduction_is_refused() -> None:
    schema, wrong = load_wdbc().schema, object()
    with pytest.raises(ParameterError, match="train must be one of"):
        plan(schema, epsilon=1.0, attributes=NAMES, train=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="or an object with asks and choose"):
        plan(schema, epsilon=1.0, keep=2, reduce=wrong)  # type: ignore[arg-type]
