"""An owner sends what its interviews draw, and code that sends something else is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from supm import simulation
from supm._errors import MessageError
from supm._random import RandomSource
from supm.audit import (
    Branch,
    OwnerOutput,
    by_devices,
    by_interviews,
    check_owner,
    check_sampler,
    completed,
    example_records,
    small_studies,
)
from supm.audit.owners import Told, questions_of
from supm.collection import plan
from supm.mechanisms import Reports
from supm.messages import Question, Report, Study
from supm.owner import Owner, interview

PHASES = ("reduce", "train")


@pytest.mark.parametrize(
    "name",
    [
        "waldp, odp, odp",
        "rank, joint, joint",
        "wa, oda, odp",
        "known, sample, answer",
        "regroup, sample, answer",
    ],
)
def test_the_owner_of_this_package_sends_what_its_interviews_draw(name: str) -> None:
    study = completed(small_studies()[name])
    for phases in (PHASES, ("test",)):
        assert check_owner(study, phases, example_records(study), simulation(1)).passed


def test_a_study_of_known_attributes_is_checked_too() -> None:
    small = small_studies()["rand, pw, pw"]
    known = replace(small, reduction="known", attributes=("stage",))
    assert check_owner(known, PHASES, example_records(known), simulation(1)).passed


class ForgetfulOwner(Owner):
    """Plants a defect: nothing is remembered, so that asking again draws again."""

    def answer(self, study: Study, phase: str, record: Any) -> Any:
        self._memory = {key: self._memory[key] for key in self._memory if key.startswith("group")}
        return super().answer(study, phase, record)


class CopyingOwner(Owner):
    """Plants a defect: the id of a report is made of the record."""

    def answer(self, study: Study, phase: str, record: Any) -> Report:
        report = super().answer(study, phase, record)
        return replace(report, id=f"{int(record['pulse']):032x}")


class ChoosingOwner(Owner):
    """Plants a defect: the group follows from the study and not from a draw."""

    def group(self, study: Study) -> int:
        drawn = super().group(study)
        return len(study.groups) - 1 if drawn == 0 else drawn


class GenerousOwner(Owner):
    """Plants a defect: the questions of both groups are answered."""

    def _consent(self, study: Study, phase: str) -> Question:
        question = study.question(phase)
        assert question is not None
        return question


class SilentOwner(Owner):
    """Plants a defect: it refuses whatever is asked."""

    def answer(self, study: Study, phase: str, record: Any) -> Report:
        del study, phase, record
        message = "nothing is sent."
        raise MessageError(message)


@pytest.mark.parametrize(
    "kind", [ForgetfulOwner, CopyingOwner, ChoosingOwner, GenerousOwner, SilentOwner]
)
def test_an_owner_who_sends_something_else_is_caught(kind: type[Owner]) -> None:
    study = small_studies()["rank, joint, joint"].reduced(("pulse",))
    found = check_owner(study, PHASES, example_records(study), simulation(1), kind=kind)
    assert not found.passed
    assert "owners sent something else" in found.detail


@dataclass(frozen=True, kw_only=True, eq=False)
class ThroughDevices(OwnerOutput):
    """The output of owners whose devices answer, one after the other, from the raw record."""

    study: Study
    owner: str
    raw: list[dict[str, Any]]

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        numbers = np.array([self._number(each, source) for each in np.asarray(values).tolist()])
        return Reports(symbols=numbers, simulation=source.simulation)

    def _number(self, value: int, source: RandomSource) -> int:
        told = by_devices(self.study, self.owner, self.raw[value], 1, source)
        group = int(told.groups[0])
        first = sum(branch.outcomes for branch in self.branches[:group])
        (sent,) = (symbols for symbols in told.symbols.values() if len(symbols))
        (asked,) = self.branches[group].asked
        return first + int(asked.outcome(Reports(symbols=sent, simulation=True))[0])


@pytest.mark.parametrize("owner", ["training owner", "test owner"])
@pytest.mark.parametrize("name", ["known, sample, answer", "regroup, sample, answer"])
def test_reports_of_devices_follow_the_exact_channel_of_the_record(name: str, owner: str) -> None:
    """From a raw record through `Owner.answer` to the report, against fractions."""
    study = completed(small_studies()[name])
    raw = example_records(study)[:: 11 if owner == "training owner" else 13]
    asked = questions_of(study, owner)
    weights = study.groups if owner == "training owner" else (1,)
    branches = tuple(
        Branch(weight=weight, asked=(interview(study, question.phase),))
        for weight, question in zip(weights, asked, strict=True)
    )
    records = study.schema.read(raw)
    output = ThroughDevices(records=records, branches=branches, study=study, owner=owner, raw=raw)
    assert check_sampler(output, simulation(1), draws=150).passed


def shares(told: Told) -> list[float]:
    """Return how many are in the second group and what the symbols are on average."""
    means = [float(symbols.mean()) for symbols in told.symbols.values()]
    return [float(told.groups.mean()), *means]


def test_both_ways_tell_the_same_about_groups_and_symbols() -> None:
    study = completed(small_studies()["rank, joint, joint"])
    record = example_records(study)[-1]
    one = by_devices(study, "training owner", record, 500, simulation(1))
    many = by_interviews(study, "training owner", record, 50_000, simulation(1))
    assert set(one.symbols) == set(many.symbols) == {"reduce", "train"}
    assert shares(one) == pytest.approx(shares(many), abs=0.15)


@pytest.mark.parametrize("crowd", [by_devices, by_interviews])
def test_nothing_leaves_owners_who_look_the_answer_up(crowd: Callable[..., Told]) -> None:
    strict = small_studies()["known, sample, answer"]
    study = plan(strict.schema, epsilon=1.0, trust="u,u,d")
    told = crowd(study, "test owner", example_records(study)[0], 3, simulation(1))
    assert (told.groups.tolist(), told.symbols) == ([0, 0, 0], {})
